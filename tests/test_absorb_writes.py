"""Absorbing what a write answered: it was done, it was refused, or nobody knows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ledgeragent.absorb import Absorption, absorb, touched_by
from ledgeragent.domain import Domain
from ledgeragent.effects import ReturnRoute, Write
from ledgeragent.entry import Stale
from ledgeragent.ledger import Ledger, Touch, Unconfirmed
from ledgeragent.types import Arguments, Json, ToolCall, ToolReturn
from tests.lending.domain import (
    ADA,
    BOOK,
    BOOK_IN,
    BOTH_READ,
    GET_BOOK,
    GET_MEMBER,
    LEND,
    LIBRARY,
    MEMBER,
    Shelve,
    answer,
    call,
)

B1, M1 = BOOK("B1"), MEMBER("M1")
UNKNOWN = call("burn_book", book_id="B1")
BUY = call("buy_book", book_id="B1")


def buying(**options: object) -> Domain:
    """The library, with a write that answers with the book it bought."""
    returns = (ReturnRoute(to=BOOK, **options),)  # type: ignore[arg-type]
    write = Write(tool="buy_book", arguments=Shelve, returns=returns)
    return replace(LIBRARY, tools=(*LIBRARY.tools, write))


def answered(
    content: Json, error: bool = False, lost: bool = False, write: ToolCall = LEND
) -> Absorption:
    returned = ToolReturn(call_id=write.id, content=content, error=error, lost=lost)
    return absorb(BOTH_READ, write, returned, LIBRARY)


def marks(ledger: Ledger) -> dict[str, list[Stale]]:
    return {str(entry.path): [*entry.stale] for entry in ledger if entry.stale}


TOUCHED = {
    "books.B1": [Stale(("status",), LEND)],
    "members.M1": [Stale(("loans",), LEND)],
}


@pytest.mark.parametrize("content", ["done", "", {"ok": True}, None, "it rains" * 50 + " 502"])
def test_a_write_that_succeeded_is_done(content: Json) -> None:
    done = answered(content)
    assert done.ledger.writes == (LEND,) and done.ledger.unconfirmed == ()
    assert marks(done.ledger) == TOUCHED
    assert done.skipped == "a write is no observation of what it wrote" and done.stored == ()


@pytest.mark.parametrize(
    ("content", "error"),
    [
        ("Error: no such book", False),
        ("no such book", True),
        ({"reason": "no such book"}, True),
        ([{"type": "text", "text": "Error: no such book"}], False),
    ],
)
def test_a_write_that_was_refused_changed_nothing(content: Json, error: bool) -> None:
    refused = answered(content, error)
    assert refused.ledger == BOTH_READ
    assert refused.skipped == "the write failed and changed nothing"


@pytest.mark.parametrize(
    ("content", "error", "lost"),
    [
        (None, False, True),
        ("done", False, True),
        ("connection reset by peer", True, False),
        ({"message": "502 bad gateway"}, True, False),
        ("Error: the request timed out", False, False),
        ("HTTP/1.1 504 Gateway Timeout", False, False),
        ("", True, False),
        (None, True, False),
        ({}, True, False),
    ],
)
def test_a_write_whose_result_was_lost_may_have_been_done(
    content: Json, error: bool, lost: bool
) -> None:
    doubted = answered(content, error, lost)
    assert doubted.ledger.unconfirmed == (Unconfirmed(LEND, running=False),)
    assert doubted.ledger.writes == () and marks(doubted.ledger) == TOUCHED
    assert doubted.skipped == "it is not known whether the write executed"


@pytest.mark.parametrize(("length", "is_lost"), [(200, True), (201, False)])
def test_only_a_short_answer_that_is_not_flagged_is_taken_for_a_status_line(
    length: int, is_lost: bool
) -> None:
    ledger = answered("504 Gateway Timeout".ljust(length, ".")).ledger
    assert bool(ledger.unconfirmed) is is_lost and (ledger.writes == (LEND,)) is not is_lost


def test_what_a_write_touches_may_depend_on_what_was_observed() -> None:
    def every_book(arguments: Arguments, ledger: Ledger) -> list[Touch]:
        return [Touch(entry.path) for entry in ledger.glob(BOOK)]

    write = Write(tool="lend_book", arguments=Shelve, touches=(every_book,))
    domain = Domain(name="d", version="1", tools=(write,))
    assert touched_by(BOTH_READ, LEND, domain) == [Touch(B1)]


def test_a_write_in_doubt_is_settled_by_its_answer() -> None:
    doubted = BOTH_READ.doubted(LEND, [], running=True)
    refused = absorb(doubted, LEND, answer(LEND, "no such book", error=True), LIBRARY)
    done = absorb(doubted, LEND, answer(LEND, "done"), LIBRARY)
    assert refused.ledger.unconfirmed == done.ledger.unconfirmed == ()
    assert (refused.ledger.writes, done.ledger.writes) == ((), (LEND,))


def test_a_tool_that_is_not_listed_may_be_lost_on_the_way_too() -> None:
    assert answered("done", write=UNKNOWN).ledger.writes == (UNKNOWN,)
    lost = answered("connection reset by peer", error=True, write=UNKNOWN).ledger
    assert lost.unconfirmed == (Unconfirmed(UNKNOWN, running=False),)
    assert marks(lost) == {}


def test_a_tool_that_neither_reads_nor_writes_leaves_the_ledger_alone() -> None:
    note = call("call_librarian", note="Ferns")
    after = answered("noted", write=note)
    assert after.ledger is BOTH_READ and after.skipped == "call_librarian observes no record"


def test_a_write_that_knows_its_own_failures_is_refused_by_them() -> None:
    tools = [
        replace(tool, failed=lambda text: "sorry" in text, lost=lambda text: "maybe" in text)
        if isinstance(tool, Write)
        else tool
        for tool in LIBRARY.tools
    ]
    domain = replace(LIBRARY, tools=tools)
    refused = absorb(BOTH_READ, LEND, ToolReturn(call_id="1", content="sorry"), domain)
    doubted = absorb(BOTH_READ, LEND, ToolReturn(call_id="1", content="sorry, maybe"), domain)
    assert refused.ledger == BOTH_READ
    assert doubted.ledger.unconfirmed == (Unconfirmed(LEND, running=False),)


def test_what_a_write_touches_is_everything_where_its_own_account_fails() -> None:
    def broken(arguments: Arguments, ledger: Ledger) -> list[Touch]:
        raise KeyError("book")

    write = Write(tool="lend_book", arguments=Shelve, touches=(broken,))
    domain = Domain(name="d", version="1", tools=(write,))
    assert touched_by(BOTH_READ, LEND, domain) == [Touch(entry.path) for entry in BOTH_READ]
    assert touched_by(BOTH_READ, GET_BOOK, LIBRARY) == []
    assert touched_by(BOTH_READ, LEND, LIBRARY) == [Touch(B1, ("status",)), Touch(M1, ("loans",))]


def test_what_a_write_answers_is_stored_where_the_pack_says_so() -> None:
    domain = buying()
    after = absorb(Ledger(), BUY, answer(BUY, BOOK_IN), domain)
    assert after.stored == (B1,) and after.skipped is None and after.problems == ()
    entry = after.ledger.get(B1)
    assert entry is not None and entry.value == BOOK_IN and entry.source is BUY
    assert after.ledger.writes == (BUY,)


def test_a_field_that_a_write_answers_wrongly_stays_as_it_was() -> None:
    domain = buying(omit=frozenset({"status"}))
    after = absorb(BOTH_READ, BUY, answer(BUY, {**BOOK_IN, "status": "?", "title": "New"}), domain)
    entry = after.ledger.get(B1)
    assert entry is not None and entry.value == {**BOOK_IN, "title": "New"}
    assert entry.origin(("status",)).source is GET_BOOK and entry.origin(("title",)).source is BUY
    assert after.problems == ()


def test_what_the_answer_lacks_of_its_declared_type_is_told() -> None:
    after = absorb(Ledger(), BUY, answer(BUY, {"book_id": "B1"}), buying())
    assert after.stored == (B1,) and after.skipped is None
    assert after.problems == (
        "the answer of buy_book has no `status`",
        "the answer of buy_book has no `title`",
    )
    read = absorb(Ledger(), GET_MEMBER, answer(GET_MEMBER, {"member_id": "M1"}), LIBRARY)
    assert len(read.problems) == len(ADA) - 1


def test_an_answer_that_cannot_be_stored_says_why_and_the_write_is_done() -> None:
    after = absorb(Ledger(), BUY, ToolReturn(call_id="1", content="Ferns"), buying())
    assert after.ledger.writes == (BUY,) and after.stored == () and len(after.ledger) == 0
    assert after.skipped is not None and after.problems == (after.skipped,)


def test_an_answer_that_says_nothing_is_noted_with_the_turn_it_came_in() -> None:
    ledger = Ledger().heard().heard()
    after = absorb(ledger, GET_BOOK, ToolReturn(call_id="1", content="it is there"), LIBRARY)
    entry = after.ledger.get(B1)
    assert entry is not None and not entry.typed
    assert (entry.value, entry.turn, entry.source) == ("it is there", 2, GET_BOOK)
