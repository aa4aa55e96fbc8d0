"""Session: one conversation of a host that runs its own loop."""

from __future__ import annotations

import pytest

from ledgeragent.gate import Delivery, Gate
from ledgeragent.session import Session
from ledgeragent.types import Reply, ToolReturn
from ledgeragent.verdict import Decision
from tests.lending.domain import (
    ADA,
    BOOK,
    BOOK_IN,
    GET_BOOK,
    GET_MEMBER,
    LEND,
    LIBRARY,
    answer,
    call,
)

LONG = call("lend_book", member_id="M1", book_id="B1", days=99)


def session(delivery: Delivery = "tool_result") -> Session:
    """A session in which member and book were read."""
    made = Session(LIBRARY, delivery=delivery)
    made.heard("lend me Ferns")
    filtered = made.filter(Reply(calls=(GET_MEMBER, GET_BOOK)))
    assert filtered.execute == (GET_MEMBER, GET_BOOK)
    made.observe(answer(GET_BOOK, BOOK_IN))
    made.observe(answer(GET_MEMBER, ADA))
    return made


def test_a_domain_is_judged_with_the_defaults_and_a_gate_as_it_is() -> None:
    assert Session(LIBRARY).gate == Gate(domain=LIBRARY)
    strict = Gate(domain=LIBRARY, budget=1)
    assert Session(strict).gate is strict


def test_an_observation_says_what_it_did_and_why() -> None:
    made = Session(LIBRARY)
    made.filter(Reply(calls=(GET_BOOK, LEND)))
    stored = made.observe(answer(GET_BOOK, BOOK_IN))
    assert stored.stored == (BOOK("B1"),) and stored.skipped is None
    lost = made.observe(ToolReturn(call_id="nobody", content="{}"))
    assert lost.stored == () and lost.skipped == "no open call has the id 'nobody'"


def test_returns_may_come_in_any_order_and_turns_are_counted() -> None:
    made = session()
    assert len(made.ledger) == 2
    assert made.ledger.turn == 1
    entry = made.ledger.get(BOOK("B1"))
    assert entry is not None and entry.turn == 1
    made.heard("thanks")
    assert made.ledger.turn == 2


def test_the_context_is_the_ledger_within_a_budget() -> None:
    made = session()
    assert 'books.B1 = {"book_id":"B1"' in made.context()
    assert "left out for length" in made.context(budget=0)


def test_a_rejected_call_is_answered_and_its_return_not_awaited() -> None:
    made = session()
    filtered = made.filter(Reply(calls=(LONG,)))
    assert filtered.execute == () and filtered.reply.calls == (LONG,)
    assert [r.call_id for r in filtered.returns] == [LONG.id]
    late = made.observe(answer(LONG, {"ok": True}))
    assert late.skipped is not None and made.ledger.writes == ()


def test_dropped_calls_leave_nothing_to_answer() -> None:
    made = session("drop")
    filtered = made.filter(Reply(text="Let me see.", calls=(LONG,)))
    assert filtered.reply == Reply(text="Let me see.") and filtered.returns == ()


def test_an_executed_write_makes_stale_what_it_touched() -> None:
    made = session()
    made.filter(Reply(calls=(LEND,)))
    made.observe(answer(LEND, {"ok": True}))
    assert made.ledger.writes == (LEND,)
    again = made.filter(Reply(calls=(LEND,)))
    assert [str(r) for f in again.verdicts[0].missing for r in f.reads] == [
        'get_book(book_id="B1")'
    ]


def test_a_write_proposed_and_rejected_is_no_write() -> None:
    made = session()
    made.filter(Reply(calls=(LONG,)))
    assert made.ledger.writes == ()
    assert made.filter(Reply(calls=(LEND,))).execute == (LEND,)


def test_the_loop_guard_remembers_across_replies() -> None:
    made = session()
    decisions = [made.filter(Reply(calls=(LONG,))).decision for _ in range(4)]
    assert decisions == [Decision.REVISE, Decision.REVISE, Decision.REVISE, Decision.BLOCK]


def test_sessions_share_nothing() -> None:
    one, other = session(), session()
    one.filter(Reply(calls=(LONG,)))
    one.heard("more")
    assert other.ledger.turn == 1
    assert other.filter(Reply(calls=(LONG,))).verdicts[0].note == ""


@pytest.mark.parametrize("delivery", ["drop", "tool_result"])
def test_two_calls_with_one_id_are_answered_in_order(delivery: Delivery) -> None:
    made = Session(LIBRARY, delivery=delivery)
    one, two = call("get_member", "x", member_id="M1"), call("get_book", "x", book_id="B1")
    made.filter(Reply(calls=(one, two)))
    assert str(made.observe(answer(one, ADA)).stored[0]) == "members.M1"
    assert str(made.observe(answer(two, BOOK_IN)).stored[0]) == "books.B1"
