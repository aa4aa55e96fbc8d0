"""A conversation in pieces of its host's making: tickets, histories, interrupted and edited calls."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ledgeragent.adapters.common import Policy
from ledgeragent.gate import Gate
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.session.live import UNJUDGED
from ledgeragent.session.outcome import plain
from ledgeragent.types import Json, Reply, ToolReturn, UserMessage
from ledgeragent.verdict import Decision, Enforcement
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, LEND, LIBRARY, answer, call
from tests.lending.talk import decision_on, opened, read


def test_a_call_is_taken_once() -> None:
    conversation = opened()
    conversation.judge(Reply(calls=(GET_BOOK,)))
    assert conversation.take(GET_BOOK).allowed
    again = conversation.take(GET_BOOK)
    assert not again.allowed
    assert again.verdict.findings[0].predicate == UNJUDGED


def test_a_call_nobody_judged_does_not_run() -> None:
    assert not opened().take(GET_BOOK).allowed


def test_a_call_that_was_edited_is_judged_as_it_is_now() -> None:
    conversation = opened()
    read(conversation)
    conversation.judge(Reply(calls=(LEND,)))
    longer = call("lend_book", member_id="M1", book_id="B1", days=99)
    ticket = conversation.take(longer)
    assert ticket.verdict.decision is Decision.REVISE
    assert not conversation.take(LEND).allowed


def test_an_edited_call_that_is_allowed_is_absorbed() -> None:
    conversation = opened()
    read(conversation)
    conversation.judge(Reply(calls=(call("lend_book", member_id="M1", book_id="B1", days=99),)))
    ticket = conversation.take(LEND)
    assert ticket.allowed
    conversation.observe(ticket, "done")
    assert [write.name for write in conversation.ledger.writes] == ["lend_book"]


def test_a_write_that_was_interrupted_leaves_what_it_touches_unknown() -> None:
    conversation = opened()
    read(conversation)
    conversation.judge(Reply(calls=(LEND,)))
    assert conversation.take(LEND).allowed
    conversation.heard("Are you there?")
    assert decision_on(conversation, LEND) == [Decision.REVISE]


def test_a_read_that_was_interrupted_changes_nothing() -> None:
    conversation = opened()
    read(conversation)
    before = conversation.ledger
    conversation.judge(Reply(calls=(GET_BOOK,)))
    conversation.take(GET_BOOK)
    conversation.judge(Reply(text="Well."))
    assert list(conversation.ledger) == list(before)


def test_an_allowed_call_that_never_began_changes_nothing() -> None:
    conversation = opened()
    read(conversation)
    assert decision_on(conversation, LEND) == [Decision.ALLOW]
    assert decision_on(conversation, LEND) == [Decision.ALLOW]


def test_a_reopened_call_can_be_taken_again() -> None:
    conversation = opened()
    conversation.judge(Reply(calls=(GET_BOOK,)))
    conversation.reopen(conversation.take(GET_BOOK))
    assert conversation.take(GET_BOOK).allowed


def test_single_calls_do_not_interrupt_each_other() -> None:
    conversation = opened()
    conversation.judge_also(GET_MEMBER)
    first = conversation.take(GET_MEMBER)
    conversation.judge_also(GET_BOOK)
    second = conversation.take(GET_BOOK)
    conversation.observe(second, BOOK_IN)
    conversation.observe(first, ADA)
    assert decision_on(conversation, LEND) == [Decision.ALLOW]


def test_ids_are_kept_unless_taken_or_missing() -> None:
    conversation = opened()
    assert conversation.ids(["a", "a", "", None]) == ["a", "a-2", "call", "call-2"]
    assert conversation.ids(["a", "b"]) == ["a-3", "b"]


def test_a_history_gives_the_ledger_it_gave_when_it_was_lived() -> None:
    lived = opened()
    lived.heard("Lend me ferns.")
    read(lived)
    lived.judge(Reply(calls=(LEND,)))
    lived.observe(lived.take(LEND), "done")
    told = Policy(LIBRARY).open(
        None,
        [
            UserMessage(text="Lend me ferns."),
            Reply(calls=(GET_MEMBER, GET_BOOK)),
            answer(GET_MEMBER, ADA),
            answer(GET_BOOK, BOOK_IN),
            Reply(calls=(LEND,)),
            ToolReturn(call_id=LEND.id, content="done"),
        ],
    )
    assert told.context() == lived.context()
    assert told.ids([GET_BOOK.id]) == [f"{GET_BOOK.id}-2"]


def test_rejections_in_a_history_count_for_the_loop_guard() -> None:
    bad = call("lend_book", member_id="M1", book_id="B1", days=99)
    history = [Reply(calls=(bad,)), ToolReturn(call_id=bad.id, content="Error: no", error=True)]
    conversation = Policy(LIBRARY).open(None, history * 3)
    assert decision_on(conversation, bad) == [Decision.BLOCK]


def test_a_warning_on_an_allowed_call_is_told_with_the_ledger() -> None:
    @predicate("lending/slow", guards="lend_book", enforcement=Enforcement.WARN)
    def slow(call: Any, ledger: View) -> Broken | None:
        """A loan is better short."""
        return violation("shorter would be better")

    domain = dataclasses.replace(LIBRARY, predicates=(slow,))
    conversation = Policy(Gate(domain=domain)).open()
    conversation.judge(Reply(calls=(LEND,)))
    assert conversation.context().endswith("Note on lend_book: shorter would be better")
    conversation.judge(Reply(text="Done."))
    assert conversation.context().endswith("</ledger>")


def test_the_watcher_hears_each_reply() -> None:
    heard: list[Any] = []
    conversation = opened(lambda who, filtered: heard.append((who, filtered.decision)))
    conversation.judge(Reply(calls=(LEND,)))
    assert heard == [(conversation, Decision.REVISE)]


@dataclasses.dataclass
class Shelf:
    """Something a tool may return."""

    name: str
    books: list[str]


class Model:
    """Something like a pydantic model."""

    def model_dump(self, mode: str) -> Json:
        return {"a": 1}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", "text"),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        (Shelf("C4", ["B1"]), {"name": "C4", "books": ["B1"]}),
        ([Shelf("C4", [])], [{"name": "C4", "books": []}]),
        (Model(), {"a": 1}),
        (None, None),
    ],
)
def test_answers_as_json(value: object, expected: Json) -> None:
    assert plain(value) == expected


def test_an_answer_is_no_longer_the_tools_own() -> None:
    shared = {"books": ["B1"]}
    taken = plain(shared)
    shared["books"].append("B2")
    assert taken == {"books": ["B1"]}


def test_in_shadow_mode_every_call_runs_and_is_absorbed() -> None:
    conversation = Policy(LIBRARY, mode="shadow").open()
    filtered = conversation.judge(Reply(calls=(LEND,)))
    assert filtered.decision is Decision.REVISE
    ticket = conversation.take(LEND)
    assert ticket.allowed and not ticket.verdict.allowed
    conversation.observe(ticket, "done")
    assert [write.name for write in conversation.ledger.writes] == ["lend_book"]


def test_in_shadow_mode_ids_are_left_as_they_are() -> None:
    conversation = Policy(LIBRARY, mode="shadow").open()
    assert conversation.ids(["a", "a", None]) == ["a", "a", ""]
    twins = [dataclasses.replace(asked, id="a") for asked in (GET_MEMBER, GET_BOOK)]
    conversation.judge(Reply(calls=tuple(twins)))
    member, book = (conversation.take(asked) for asked in twins)
    conversation.observe(book, BOOK_IN)
    conversation.observe(member, ADA)
    assert sorted(str(entry.path) for entry in conversation.ledger) == ["books.B1", "members.M1"]


def test_in_shadow_mode_a_call_nobody_judged_is_judged_and_runs() -> None:
    seen: list[Any] = []
    guard = Policy(LIBRARY, lambda _, filtered: seen.append(filtered.decision), mode="shadow")
    assert guard.open().take(LEND).allowed
    assert seen == [Decision.REVISE]
