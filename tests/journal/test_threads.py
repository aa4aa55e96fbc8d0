"""Telling: a conversation in pieces is one session; what the journal doesn't know begins a new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgeragent.adapters.common import Policy
from ledgeragent.errors import UsageError
from ledgeragent.gate import NOT_EXECUTED
from ledgeragent.journal import Journal
from ledgeragent.journal.threads import Position, Threads
from ledgeragent.session.conversation import Conversation
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from tests.journal.reading import records_of
from tests.journal.test_journal import BANK
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, LEND, LIBRARY, answer, call

HELLO = UserMessage(text="Lend me ferns.")
READS = Reply(calls=(GET_MEMBER, GET_BOOK))
READ = [HELLO, READS, answer(GET_MEMBER, ADA), answer(GET_BOOK, BOOK_IN)]
ANSWERS = {GET_MEMBER.id: ADA, GET_BOOK.id: BOOK_IN, LEND.id: "lent"}


class Told:
    """A guard with a journal."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.guard = Policy(LIBRARY, journal=Journal.open(file, LIBRARY))

    def records(self) -> list[Any]:
        return records_of(self.file)

    def events(self) -> list[tuple[str, str]]:
        """Every event with its session, numbered as the sessions began."""
        names: dict[str, int] = {}
        return [
            (f"{names.setdefault(record['session'], len(names))}", record["event"])
            for record in self.records()
        ]


@pytest.fixture
def told(tmp_path: Path) -> Told:
    return Told(tmp_path / "journal.jsonl")


def lives(conversation: Conversation, *calls: ToolCall) -> None:
    conversation.judge(Reply(calls=calls))
    for asked in calls:
        conversation.observe(conversation.take(asked), ANSWERS[asked.id])


def in_session(number: int, *events: str) -> list[tuple[str, str]]:
    return [(str(number), event) for event in events]


FIRST = in_session(0, "heard", "proposed", "judged", "observed", "observed")


def test_a_run_that_goes_on_from_a_history_tells_what_is_new(told: Told) -> None:
    first = told.guard.open(history=[HELLO])
    lives(first, GET_MEMBER, GET_BOOK)
    second = told.guard.open(history=[*READ, UserMessage(text="Please.")])
    lives(second, LEND)
    assert second.name == first.name
    assert told.events() == [*FIRST, *in_session(0, "heard", "proposed", "judged", "executed")]


def test_answers_may_come_in_any_order(told: Told) -> None:
    lives(told.guard.open(history=[HELLO]), GET_BOOK, GET_MEMBER)
    other = [HELLO, Reply(calls=(GET_BOOK, GET_MEMBER)), READ[2], READ[3]]
    told.guard.open(history=other)
    assert told.events() == FIRST


def test_what_the_journal_does_not_know_is_told_from_its_beginning(told: Told) -> None:
    told.guard.open(history=READ)
    assert told.events() == in_session(0, "heard", "proposed", "observed", "observed")


def test_a_branch_is_told_from_its_beginning(told: Told) -> None:
    lives(told.guard.open(history=[HELLO]), GET_MEMBER, GET_BOOK)
    for words in ("Please.", "Never mind."):
        told.guard.open(history=[*READ, UserMessage(text=words)])
    branch = in_session(1, "heard", "proposed", "observed", "observed", "heard")
    assert told.events() == [*FIRST, ("0", "heard"), *branch]


def test_a_run_that_failed_is_repeated_in_its_session(told: Told) -> None:
    for _ in range(2):
        told.guard.open(history=[HELLO])
    assert told.events() == in_session(0, "heard")


def test_calls_that_resume_are_judged_again_in_their_session(told: Told) -> None:
    conversation = told.guard.open(history=[HELLO])
    conversation.judge(READS)
    for asked in READS.calls:
        resumed = told.guard.resume(None, [HELLO, READS])
        resumed.observe(resumed.take(asked), ANSWERS[asked.id])
    told.guard.open(history=[*READ, UserMessage(text="Please.")])
    again = in_session(0, "judged", "observed", "judged", "observed", "heard")
    assert told.events() == [*in_session(0, "heard", "proposed", "judged"), *again]


def test_calls_that_resume_elsewhere_are_told_with_their_history(told: Told) -> None:
    told.guard.resume(None, [HELLO, READS])
    assert told.events() == in_session(0, "heard", "proposed", "judged")


def test_an_answer_of_ours_in_a_history_is_no_execution(told: Told) -> None:
    refused = ToolReturn(call_id=LEND.id, content=f"{NOT_EXECUTED}. Read first.")
    told.guard.open(history=[HELLO, Reply(calls=(LEND,)), refused])
    assert told.events() == in_session(0, "heard", "proposed")


def test_a_call_that_somebody_edited_is_told_with_its_verdict(told: Told) -> None:
    conversation = told.guard.open(history=READ)
    conversation.judge(Reply(calls=(LEND,)))
    conversation.take(call("lend_book", member_id="M1", book_id="B1", days=99))
    last = told.records()[-1]
    assert last["verdicts"][0]["call"]["arguments"]["days"] == 99
    assert last["verdicts"][0]["decision"] == "REVISE"


def test_a_call_nobody_judged_is_told(told: Told) -> None:
    told.guard.open().take(LEND)
    assert told.records()[-1]["verdicts"][0]["findings"][0]["predicate"] == "adapter/unjudged"


def test_an_interrupted_write_is_told_without_an_answer(told: Told) -> None:
    conversation = told.guard.open(history=READ)
    conversation.judge(Reply(calls=(LEND,)))
    conversation.take(LEND)
    conversation.heard("Are you there?")
    events = told.records()[-2:]
    assert [e["event"] for e in events] == ["executed", "heard"]
    assert events[0]["content"] is None


def test_a_journal_of_another_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="another policy than lending 1"):
        Policy(LIBRARY, journal=Journal.open(tmp_path / "j.jsonl", BANK))


def test_an_unknown_mode_is_refused() -> None:
    mode: Any = "Shadow"
    with pytest.raises(UsageError, match="enforce or shadow"):
        Policy(LIBRARY, mode=mode)


def place(*messages: Message) -> Position:
    found = Position()
    for message in messages:
        found = found.after(message, LIBRARY)
    return found


def test_tools_of_the_framework_do_not_count() -> None:
    with_transfer = Reply(calls=(GET_MEMBER, ToolCall(name="transfer_to_b", id="t")))
    gone = ToolReturn(call_id="t", content="transferred")
    assert place(HELLO, with_transfer, gone).key == place(HELLO, Reply(calls=(GET_MEMBER,))).key


def test_the_longest_untouched_conversation_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgeragent.journal.threads._REMEMBERED", 2)
    sessions = Threads()
    for word in ("a", "b", "c"):
        sessions.advance(word, UserMessage(text=word), LIBRARY)
    found = [sessions.find([place(UserMessage(text=word))]) for word in ("a", "b", "c")]
    assert found == [(0, ""), (1, "b"), (1, "c")]
