"""Algorithm 1: absorb, render, generate, gate; whose turn it is; a transcript that stays valid."""

from __future__ import annotations

from collections.abc import Sequence

from ledgeragent.agent import LedgerAgent
from ledgeragent.gate import Filtered, Gate
from ledgeragent.testing import ScriptedModel
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Decision
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, LEND, LIBRARY, answer, call

HELLO = UserMessage(text="I'm Ada, lend me Ferns")
LONG = call("lend_book", member_id="M1", book_id="B1", days=99)
OWES = {**ADA, "fines": 2.5}
SORRY = "I can't do that: "


def said(text: str) -> Reply:
    return Reply(text=text)


def calls(*wanted: ToolCall, text: str = "") -> Reply:
    return Reply(text=text, calls=wanted)


def agent(*replies: Reply, budget: int = 3, max_revisions: int = 2) -> LedgerAgent:
    gate = Gate(domain=LIBRARY, budget=budget)
    return LedgerAgent(gate=gate, model=ScriptedModel(replies), max_revisions=max_revisions)


def prompts(of: LedgerAgent) -> list[tuple[tuple[Message, ...], str, str]]:
    assert isinstance(of.model, ScriptedModel)
    return of.model.prompts


def after_reads(*replies: Reply, member: Json = ADA, **options: int) -> LedgerAgent:
    """An agent that has read member and book; `replies` come after."""
    made = agent(calls(GET_MEMBER), calls(GET_BOOK), *replies, **options)
    made.step(HELLO)
    made.step(answer(GET_MEMBER, member))
    return made


def valid(history: Sequence[Message]) -> bool:
    """True if no message is empty, and every call is answered once, right after its message."""
    open_calls: list[str] = []
    for message in history:
        match message:
            case ToolReturn():
                if message.call_id not in open_calls:
                    return False
                open_calls.remove(message.call_id)
            case Reply():
                if open_calls or not (message.text or message.calls):
                    return False
                open_calls = [each.id for each in message.calls]
            case UserMessage():
                if open_calls:
                    return False
    return not open_calls


def test_words_are_sent_on() -> None:
    made = agent(said("Which one?"))
    assert made.step(HELLO) == said("Which one?")
    assert made.history == [HELLO, said("Which one?")]
    assert made.generations == 1 and made.feedback == ""


def test_the_prompt_ends_with_the_ledger_as_it_is_by_then() -> None:
    made = after_reads(said("It is in."))
    made.step(answer(GET_BOOK, BOOK_IN))
    contexts = [context for _, context, _ in prompts(made)]
    assert "No record" in contexts[0]
    assert "members.M1 = " in contexts[1] and "books.B1" not in contexts[1]
    assert "books.B1 = " in contexts[2]
    histories = [history for history, _, _ in prompts(made)]
    assert histories[0] == (HELLO,) and len(histories[2]) == 5


def test_one_generation_a_step_when_nothing_is_rejected() -> None:
    made = after_reads(calls(LEND), said("Done."))
    made.step(answer(GET_BOOK, BOOK_IN))
    assert made.step(answer(LEND, {"ok": True})) == said("Done.")
    assert made.generations == 4
    assert made.state.ledger.writes == (LEND,)
    assert valid(made.history)


def test_a_revised_call_leaves_the_model_its_turn() -> None:
    made = after_reads(calls(LONG), calls(LEND))
    assert made.step(answer(GET_BOOK, BOOK_IN)) == calls(LEND)
    assert made.generations == 4
    assert (
        prompts(made)[-1][2]
        == "lend_book was not executed: a loan of 99 days is too long: 28 at most"
    )
    assert prompts(made)[-1][0] == prompts(made)[-2][0]
    assert [f.decision for f in made.verdicts[-2:]] == [Decision.REVISE, Decision.ALLOW]
    assert made.feedback == ""
    made.history.append(answer(LEND, {}))
    assert valid(made.history)


def test_a_rejected_call_is_nowhere_in_the_transcript() -> None:
    made = after_reads(calls(LONG), said("28 days at most, I'm afraid."))
    made.step(answer(GET_BOOK, BOOK_IN))
    assert all(LONG not in m.calls for m in made.history if isinstance(m, Reply))
    assert valid(made.history)


def test_missing_evidence_is_asked_for_before_the_write() -> None:
    made = agent(calls(LEND), calls(GET_BOOK))
    assert made.step(HELLO) == calls(GET_BOOK)
    assert 'call get_book(book_id="B1") first' in prompts(made)[1][2]


def test_a_model_that_does_not_mend_its_call_is_stopped() -> None:
    made = after_reads(*[calls(LONG)] * 3)
    reply = made.step(answer(GET_BOOK, BOOK_IN))
    assert reply.calls == () and reply.text.startswith(f"{SORRY}a loan of 99 days")
    assert made.generations == 5
    assert valid(made.history)


def test_how_often_it_may_try_is_the_hosts_choice() -> None:
    made = after_reads(calls(LONG), max_revisions=0)
    assert made.step(answer(GET_BOOK, BOOK_IN)).text.startswith(SORRY)
    assert made.generations == 3


def test_a_blocked_call_is_refused_at_once() -> None:
    made = after_reads(calls(LEND), said("You owe 2.50."), member=OWES)
    reply = made.step(answer(GET_BOOK, BOOK_IN))
    assert reply == said("I can't do that: 2.50 are owed.")
    assert made.generations == 3
    assert valid(made.history)


def test_the_model_hears_why_its_call_was_blocked() -> None:
    made = after_reads(calls(LEND), said("You owe 2.50."), member=OWES)
    made.step(answer(GET_BOOK, BOOK_IN))
    made.step(UserMessage(text="why?"))
    assert prompts(made)[-1][2] == "lend_book was not executed, and stays refused: 2.50 are owed"
    assert made.feedback == ""


def test_a_loop_ends_in_a_block() -> None:
    made = after_reads(*[calls(LONG)] * 4)
    made.step(answer(GET_BOOK, BOOK_IN))
    reply = made.step(UserMessage(text="try again"))
    assert reply.text == "I can't do that: a loan of 99 days is too long: 28 at most."
    assert made.feedback.endswith("it stays refused as long as nothing changes")
    assert made.verdicts[-1].decision is Decision.BLOCK
    assert made.generations == 6


def test_good_calls_of_a_mixed_reply_go_out_and_the_feedback_follows() -> None:
    move = call("move_member", member_id="M1", city="Breda")
    made = after_reads(calls(move, LONG, text="On it."), said("Moved. 28 days at most."))
    reply = made.step(answer(GET_BOOK, BOOK_IN))
    assert reply == calls(move, text="On it.")
    made.step(answer(move, {}))
    assert (
        prompts(made)[-1][2]
        == "lend_book was not executed: a loan of 99 days is too long: 28 at most"
    )
    assert valid(made.history)


def test_a_block_beside_a_good_call_does_not_stop_the_good_one() -> None:
    move = call("move_member", member_id="M1", city="Breda")
    made = after_reads(calls(LEND, move), said("Moved, but you owe 2.50."), member=OWES)
    assert made.step(answer(GET_BOOK, BOOK_IN)) == calls(move)
    made.step(answer(move, {}))
    assert prompts(made)[-1][2] == "lend_book was not executed, and stays refused: 2.50 are owed"
    assert valid(made.history)


def test_words_beside_a_rejected_call_are_sent_without_it() -> None:
    made = after_reads(calls(LONG, text="Let me see."))
    assert made.step(answer(GET_BOOK, BOOK_IN)) == said("Let me see.")
    assert made.feedback != ""


def test_an_empty_reply_is_asked_for_again_and_never_sent() -> None:
    made = agent(Reply(), said("Hello!"))
    assert made.step(HELLO) == said("Hello!")
    assert made.generations == 2
    silent = agent(*[Reply()] * 3)
    assert silent.step(HELLO).text == "I can't do that right now."
    assert valid(silent.history)


def test_a_write_that_failed_changes_nothing_that_is_known() -> None:
    made = after_reads(calls(LEND), said("It didn't work."))
    made.step(answer(GET_BOOK, BOOK_IN))
    before = made.state.ledger
    made.step(answer(LEND, "Error: the press is jammed", error=True))
    assert made.state.ledger == before


def test_the_same_call_id_in_every_reply_is_no_confusion() -> None:
    one, two = call("get_member", "id", member_id="M1"), call("get_book", "id", book_id="B1")
    made = agent(calls(one), calls(two), said("Both read."))
    made.step(HELLO)
    made.step(answer(one, ADA))
    made.step(answer(two, BOOK_IN))
    assert [str(entry.path) for entry in made.state.ledger] == ["members.M1", "books.B1"]
    assert valid(made.history)


def test_the_returns_of_one_reply_are_answered_together() -> None:
    made = agent(calls(GET_MEMBER, GET_BOOK), calls(LEND))
    made.step(HELLO)
    assert made.step(answer(GET_MEMBER, ADA), answer(GET_BOOK, BOOK_IN)) == calls(LEND)
    assert made.generations == 2


def test_what_shows_the_ledger_can_be_another() -> None:
    shown = LedgerAgent(
        gate=Gate(domain=LIBRARY),
        model=ScriptedModel([calls(GET_MEMBER), said("Hello Ada")]),
        show=lambda state: ", ".join(str(entry.path) for entry in state.ledger),
    )
    shown.step(HELLO)
    shown.observe(answer(GET_MEMBER, ADA))
    assert shown.step().text == "Hello Ada"
    assert [context for _, context, _ in prompts(shown)] == ["", "members.M1"]


def test_a_watcher_gets_each_reply_as_it_was_made_with_what_is_left_of_it() -> None:
    watched: list[tuple[Reply, Filtered]] = []
    made = after_reads(calls(LONG, text="Lending."), said("28 days at most."))
    made.watch = lambda reply, filtered: watched.append((reply, filtered))
    made.step(answer(GET_BOOK, BOOK_IN))
    assert [reply for reply, _ in watched] == [calls(LONG, text="Lending.")]
    assert [filtered for _, filtered in watched] == made.verdicts[-1:]
