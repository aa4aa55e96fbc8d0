"""The reducer: which call a return answers, which snapshot a reply is judged on, whose turn it is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from ledgeragent.domain import Domain
from ledgeragent.effects import ReturnRoute, Write
from ledgeragent.gate import NOT_EXECUTED, Delivery, Gate
from ledgeragent.ledger import Ledger, Stale, Touch, Unconfirmed
from ledgeragent.predicates import Broken, View, predicate
from ledgeragent.state import State, ledger_of
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Decision
from tests.lending.domain import (
    ADA,
    BOOK,
    BOOK_IN,
    BOOK_OUT,
    GET_BOOK,
    LEND,
    LIBRARY,
    MEMBER,
    Shelve,
    answer,
    call,
)

GATE = Gate(domain=LIBRARY)
B1, B2, M1 = BOOK("B1"), BOOK("B2"), MEMBER("M1")
OTHER_BOOK = {**BOOK_IN, "book_id": "B2"}


def after(*messages: Message, domain: Domain = LIBRARY) -> State:
    """The state after these messages."""
    state = State()
    for message in messages:
        state = state.observe(message, domain)
    return state


def text(call_id: str, content: str) -> ToolReturn:
    return ToolReturn(call_id=call_id, content=content)


def value(state: State, path: object) -> object:
    entry = state.ledger.get(path)  # type: ignore[arg-type]
    return None if entry is None else entry.value


def test_a_repeated_id_is_paired_with_the_calls_in_their_order() -> None:
    one, two = call("get_book", "1", book_id="B1"), call("get_book", "1", book_id="B2")
    state = after(Reply(calls=(one, two)), answer(one, BOOK_IN), answer(two, OTHER_BOOK))
    assert (value(state, B1), value(state, B2)) == (BOOK_IN, OTHER_BOOK)
    assert state.pending == ()


def test_a_repeated_id_that_skips_a_turn_belongs_to_the_later_call() -> None:
    first, second = call("get_book", "1", book_id="B1"), call("get_member", "1", member_id="M1")
    state = after(
        Reply(calls=(first,)), answer(first, BOOK_IN), Reply(calls=(second,)), answer(second, ADA)
    )
    assert (value(state, B1), value(state, M1)) == (BOOK_IN, ADA)


def test_returns_in_another_order_than_their_calls_find_them_by_id() -> None:
    book, member = call("get_book", "a", book_id="B1"), call("get_member", "b", member_id="M1")
    state = after(Reply(calls=(book, member)), answer(member, ADA), answer(book, BOOK_IN))
    assert (value(state, B1), value(state, M1)) == (BOOK_IN, ADA)


@pytest.mark.parametrize(
    "messages",
    [
        (text("nobody", json.dumps(BOOK_IN)),),
        (Reply(calls=(GET_BOOK,)), text("other", json.dumps(BOOK_IN))),
        (Reply(calls=(GET_BOOK,)), Reply(text="Well?"), answer(GET_BOOK, BOOK_IN)),
    ],
)
def test_a_return_without_a_call_changes_nothing_and_says_so(messages: tuple[Message, ...]) -> None:
    state = after(*messages)
    assert len(state.ledger) == 0
    assert state.last is not None
    assert state.last.skipped is not None
    assert "no open call has the id" in state.last.skipped


def test_a_second_return_for_one_call_is_one_without_a_call() -> None:
    state = after(Reply(calls=(GET_BOOK,)), answer(GET_BOOK, BOOK_IN), answer(GET_BOOK, BOOK_OUT))
    assert value(state, B1) == BOOK_IN
    assert state.last is not None
    assert state.last.skipped is not None


def test_an_executed_write_makes_stale_and_a_failed_one_does_not() -> None:
    read = (Reply(calls=(GET_BOOK,)), answer(GET_BOOK, BOOK_IN), Reply(calls=(LEND,)))
    executed = after(*read, answer(LEND, "done"))
    failed = after(*read, text(LEND.id, "Error: the scanner is broken"))
    assert executed.ledger.writes == (LEND,)
    assert failed.ledger.writes == ()
    assert [bool(s.ledger.get(B1).stale) for s in (executed, failed)] == [True, False]  # type: ignore[union-attr]


def test_turns_of_the_user_are_counted_and_noted_in_what_is_read_after_them() -> None:
    hello, again = UserMessage(text="Hello"), UserMessage(text="And now?")
    state = after(hello, again, Reply(calls=(GET_BOOK,)), answer(GET_BOOK, BOOK_IN))
    entry = state.ledger.get(B1)
    assert entry is not None
    assert (state.ledger.turn, entry.turn) == (2, 2)


def test_a_turn_of_the_user_makes_unknown_what_they_can_change_themselves() -> None:
    def may_return(ledger: Ledger) -> list[Touch]:
        return [Touch(B1, ("status",))]

    shared = Domain(name="lending", version="1", tools=LIBRARY.tools, shared=may_return)
    read = (Reply(calls=(GET_BOOK,)), answer(GET_BOOK, BOOK_OUT))
    state = after(*read, UserMessage(), UserMessage(), domain=shared)
    entry = state.ledger.get(B1)
    assert entry is not None
    assert [(mark.fields, mark.by) for mark in entry.stale] == [(("status",), None)]


def test_what_the_user_can_change_may_depend_on_what_was_observed() -> None:
    def every_record(ledger: Ledger) -> list[Touch]:
        return [Touch(entry.path) for entry in ledger]

    shared = replace(LIBRARY, shared=every_record)
    book, member = call("get_book", "1", book_id="B1"), call("get_member", "2", member_id="M1")
    read = (Reply(calls=(book, member)), answer(book, BOOK_IN), answer(member, ADA))
    state = after(*read, UserMessage(), domain=shared)
    assert [entry.stale for entry in state.ledger] == [(Stale((), None),)] * 2
    assert state.pending == ()


def test_a_message_of_the_user_leaves_open_calls_open() -> None:
    state = after(Reply(calls=(GET_BOOK,)), UserMessage(text="Well?"), answer(GET_BOOK, BOOK_IN))
    assert value(state, B1) == BOOK_IN


def test_words_leave_the_ledger_as_it_is() -> None:
    read = after(Reply(calls=(GET_BOOK,)), answer(GET_BOOK, BOOK_IN))
    assert read.observe(Reply(text="It is in."), LIBRARY).ledger == read.ledger


@pytest.mark.parametrize("calls", [(GET_BOOK, LEND), (LEND, GET_BOOK)])
def test_all_calls_of_a_reply_are_judged_on_the_snapshot_before_it(
    calls: tuple[ToolCall, ...],
) -> None:
    state, filtered = State().filter(Reply(calls=calls), GATE, "drop")
    decisions = {v.call.name: v.decision for v in filtered.verdicts}
    assert decisions == {"get_book": Decision.ALLOW, "lend_book": Decision.REVISE}
    assert state.pending == (GET_BOOK,)


def test_a_rejected_call_awaits_no_return() -> None:
    state, filtered = State().filter(Reply(calls=(LEND,)), GATE, "tool_result")
    assert [r.call_id for r in filtered.returns] == [LEND.id]
    answered = state.observe(answer(LEND, "done"), LIBRARY)
    assert answered.ledger.writes == ()


def test_a_predicate_that_raises_leaves_the_other_verdicts_of_the_reply_alone() -> None:
    @predicate("lending/broken", guards="move_member")
    def broken(call: object, ledger: View) -> Broken | None:
        """It fails."""
        raise RuntimeError("no reason")

    domain = Domain(
        name="lending",
        version="1",
        tools=LIBRARY.tools,
        predicates=(*LIBRARY.predicates, broken),
        parameters=LIBRARY.parameters,
    )
    reads = (call("get_member", member_id="M1"), GET_BOOK)
    state = after(Reply(calls=reads), answer(reads[0], ADA), answer(reads[1], BOOK_IN))
    move = call("move_member", member_id="M1", city="Leiden")
    state, filtered = state.filter(Reply(calls=(move, LEND)), Gate(domain=domain), "drop")
    assert [v.decision for v in filtered.verdicts] == [Decision.BLOCK, Decision.ALLOW]
    assert filtered.verdicts[0].errors[0].error == "RuntimeError: no reason"
    assert state.pending == (LEND,)


def test_states_are_values() -> None:
    start = State()
    later = start.observe(UserMessage(text="Hello"), LIBRARY)
    assert (start, start.ledger.turn, later.ledger.turn) == (State(), 0, 1)


def test_the_state_says_what_the_latest_return_did_to_the_ledger() -> None:
    state = after(Reply(calls=(GET_BOOK,)), answer(GET_BOOK, BOOK_IN))
    assert state.last is not None
    assert (state.last.ledger, state.last.stored, state.last.call) == (
        state.ledger,
        (B1,),
        GET_BOOK,
    )
    assert state.observe(UserMessage(), LIBRARY).last is None
    unknown = state.observe(text("nobody", "{}"), LIBRARY)
    assert unknown.last is not None and unknown.last.ledger == unknown.ledger == state.ledger


def test_a_write_that_nobody_has_answered_may_have_been_done() -> None:
    read = (Reply(calls=(GET_BOOK,)), answer(GET_BOOK, BOOK_IN))
    state = after(*read, Reply(calls=(LEND, GET_BOOK)), Reply(text="Well?"))
    assert state.ledger.unconfirmed == (Unconfirmed(LEND, running=False),)
    entry = state.ledger.get(B1)
    assert entry is not None and entry.stale_at(("status",)) == Stale(("status",), LEND)


def test_a_result_that_comes_late_counts_but_its_record_has_to_be_read_again() -> None:
    buy = call("buy_book", book_id="B1")
    write = Write(tool="buy_book", arguments=Shelve, returns=(ReturnRoute(to=BOOK),))
    domain = replace(LIBRARY, tools=(*LIBRARY.tools, write))
    lost = after(Reply(calls=(buy,)), Reply(text="Well?"), domain=domain)
    state = lost.observe(answer(buy, BOOK_IN), domain)
    entry = state.ledger.get(B1)
    assert entry is not None and entry.value == BOOK_IN
    assert entry.stale == (Stale((), buy),)
    assert state.ledger.writes == (buy,) and state.ledger.unconfirmed == ()
    assert state.last is not None and state.last.call is buy


def test_our_own_answer_to_a_call_is_no_late_result_of_another() -> None:
    lost = after(Reply(calls=(LEND,)), Reply(text="Well?"))
    state = lost.observe(text(LEND.id, f"{NOT_EXECUTED}. days"), LIBRARY)
    assert state.ledger.unconfirmed == lost.ledger.unconfirmed != ()
    assert state.last is not None and state.last.skipped is not None


def test_rejections_are_remembered_whatever_is_said_between() -> None:
    state, _ = State().filter(Reply(calls=(LEND,)), GATE, "drop")
    later = state.observe(UserMessage(text="Again!"), LIBRARY)
    assert later.rejections == state.rejections != State().rejections
    _, again = later.filter(Reply(calls=(LEND,)), GATE, "drop")
    assert again.verdicts[0].note != ""


@pytest.mark.parametrize("delivery", ["drop", "tool_result"])
def test_a_rejected_call_is_dropped_or_answered_as_the_host_wants(delivery: Delivery) -> None:
    _, filtered = State().filter(Reply(text="Lending.", calls=(LEND,)), GATE, delivery)
    is_dropped = delivery == "drop"
    assert filtered.reply == Reply(text="Lending.", calls=() if is_dropped else (LEND,))
    assert len(filtered.returns) == (0 if is_dropped else 1)


def test_a_ledger_can_be_made_of_records() -> None:
    ledger = ledger_of({"books.B1": BOOK_IN, 'books."a.b"': BOOK_OUT})
    entries = {entry.path: entry.value for entry in ledger}
    assert entries == {B1: BOOK_IN, BOOK("a.b"): BOOK_OUT}
    assert all(entry.source == ToolCall(name="given") and entry.turn == 0 for entry in ledger)


def test_a_ledger_made_for_a_domain_names_the_reads_that_would_supply_it() -> None:
    ledger = ledger_of({"books.B1": BOOK_IN, "rooms.1": {}}, LIBRARY)
    assert [entry.source for entry in ledger] == [
        ToolCall(name="get_book", arguments={"book_id": "B1"}),
        ToolCall(name="given"),
    ]
