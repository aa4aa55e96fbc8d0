"""Calls that wait for another: without a turn of the model, in threads, in tasks, and one by one."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from ledgeragent.adapters.common import Policy
from ledgeragent.adapters.execution import CallResult, execute
from ledgeragent.session.conversation import Conversation
from ledgeragent.session.outcome import broke_on_the_way
from ledgeragent.session.ticket import Ticket, refusal
from ledgeragent.types import Reply, ToolCall
from ledgeragent.verdict import Decision
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, LEND, LIBRARY, call
from tests.lending.talk import opened, read

SHELVE = call("shelve_book", book_id="B1")
MOVE = call("move_member", member_id="M1", city="Ghent")
SOON = 5.0


def prepared(*calls: ToolCall) -> Conversation:
    """A conversation with member and book read, and a reply of these calls."""
    conversation = opened()
    read(conversation)
    conversation.judge(Reply(calls=calls))
    return conversation


def taken_apart(
    pool: ThreadPoolExecutor, conversation: Conversation, asked: ToolCall
) -> Future[Ticket]:
    """A ticket taken in a thread, which has had the time to wait."""
    future = pool.submit(conversation.take, asked)
    time.sleep(0.05)
    return future


def test_a_call_waits_in_its_thread_and_is_judged_on_the_ledger_as_it_is() -> None:
    conversation = prepared(LEND, SHELVE)
    lend = conversation.take(LEND)
    with ThreadPoolExecutor(1) as pool:
        shelve = taken_apart(pool, conversation, SHELVE)
        assert not shelve.done(), "it changes what the first one rests on"
        conversation.observe(lend, "done")
        assert shelve.result(SOON).allowed


def test_a_call_waits_in_its_task_and_the_loop_goes_on() -> None:
    async def played() -> bool:
        conversation = prepared(LEND, SHELVE)
        lend = await conversation.atake(LEND)
        shelve = asyncio.create_task(conversation.atake(SHELVE))
        await asyncio.sleep(0.02)
        assert not shelve.done()
        conversation.observe(lend, "done")
        return (await asyncio.wait_for(shelve, SOON)).allowed

    assert asyncio.run(played())


def test_a_read_beside_a_write_is_waited_for() -> None:
    conversation = opened()
    conversation.judge(Reply(calls=(GET_MEMBER, GET_BOOK, LEND)))
    member, book = conversation.take(GET_MEMBER), conversation.take(GET_BOOK)
    with ThreadPoolExecutor(1) as pool:
        lend = taken_apart(pool, conversation, LEND)
        conversation.observe(book, BOOK_IN)
        assert not lend.done()
        conversation.observe(member, ADA)
        assert lend.result(SOON).allowed


def test_calls_without_conflict_run_at_once() -> None:
    conversation = prepared(MOVE, SHELVE)
    assert conversation.take(MOVE).allowed and conversation.take(SHELVE).allowed


def test_a_write_asked_for_twice_at_once_runs_once_and_then_asks_what_became_of_it() -> None:
    twice = call("lend_book", member_id="M1", book_id="B1", days=7)
    again = ToolCall(name=twice.name, arguments=twice.arguments, id="again")
    conversation = prepared(twice, again)
    first = conversation.take(twice)
    with ThreadPoolExecutor(1) as pool:
        second = taken_apart(pool, conversation, again)
        conversation.observe(first, "done")
        ticket = second.result(SOON)
    assert not ticket.allowed and "changed by lend_book" in refusal(ticket.verdict)


def test_a_plain_loop_judges_each_call_when_its_turn_comes() -> None:
    conversation = opened()
    calls = (GET_MEMBER, GET_BOOK, LEND, GET_BOOK_AGAIN, SHELVE)
    answers: list[CallResult] = []
    given = {"get_member": ADA, "get_book": BOOK_IN}
    conversation.judge(Reply(calls=calls))
    execute(conversation, calls, lambda asked: given.get(asked.name, "done"), answers)
    assert [answer.error for answer in answers] == [False] * 5
    assert [write.name for write in conversation.ledger.writes] == ["lend_book", "shelve_book"]


GET_BOOK_AGAIN = ToolCall(name="get_book", arguments=GET_BOOK.arguments, id="once more")


def test_a_host_that_runs_calls_in_another_order_gets_the_refusal() -> None:
    conversation = prepared(LEND, SHELVE)
    conversation.patience = 0.05
    ticket = conversation.take(SHELVE)
    assert not ticket.allowed and "wait for the result of lend_book" in refusal(ticket.verdict)
    assert conversation.take(LEND).allowed


def test_a_later_write_that_has_not_begun_yields_to_one_that_waited() -> None:
    later = call("lend_book", member_id="M1", book_id="B1", days=3)
    conversation = prepared(GET_BOOK, LEND, later)
    book = conversation.take(GET_BOOK)
    lend = conversation.take(LEND)
    conversation.observe(book, BOOK_IN)
    conversation.observe(lend, "done")
    assert not conversation.take(later).allowed


@pytest.mark.parametrize("ends", ["interrupted", "heard", "judge"])
def test_who_waits_is_woken_however_the_other_ends(ends: str) -> None:
    conversation = prepared(LEND, SHELVE)
    lend = conversation.take(LEND)
    with ThreadPoolExecutor(1) as pool:
        shelve = taken_apart(pool, conversation, SHELVE)
        match ends:
            case "interrupted":
                conversation.interrupted(lend)
            case "heard":
                conversation.heard("Hello?")
            case _:
                conversation.judge(Reply(text="Well."))
        ticket = shelve.result(SOON)
    assert ticket.allowed is (ends == "interrupted")


def test_a_task_that_is_cancelled_while_it_waits_leaves_nothing_behind() -> None:
    async def played() -> Conversation:
        conversation = prepared(LEND, SHELVE)
        lend = await conversation.atake(LEND)
        shelve = asyncio.create_task(conversation.atake(SHELVE))
        await asyncio.sleep(0.02)
        shelve.cancel()
        with pytest.raises(asyncio.CancelledError):
            await shelve
        conversation.observe(lend, "done")
        return conversation

    ledger = asyncio.run(played()).ledger
    assert [write.name for write in ledger.writes] == ["lend_book"] and not ledger.unconfirmed


@pytest.mark.parametrize(
    ("error", "known"),
    [
        (TimeoutError(), False),
        (ConnectionResetError("reset by peer"), False),
        (ValueError("504 Gateway Timeout"), False),
        (ValueError("no such book"), True),
        (ConnectionRefusedError(), True),
    ],
)
def test_what_a_tool_raises_tells_whether_a_write_may_have_happened(
    error: Exception, known: bool
) -> None:
    conversation = prepared(LEND)
    with pytest.raises(type(error)), conversation.running(conversation.take(LEND)):
        raise error
    assert bool(conversation.ledger.unconfirmed) is not known
    assert (conversation.judge(Reply(calls=(LEND,))).decision is Decision.ALLOW) is known


def test_the_cause_of_an_exception_counts() -> None:
    error = RuntimeError("the tool failed")
    error.__cause__ = TimeoutError()
    assert broke_on_the_way(error) and not broke_on_the_way(RuntimeError())


def test_a_late_result_settles_what_became_of_a_write() -> None:
    conversation = prepared(LEND)
    lend = conversation.take(LEND)
    conversation.interrupted(lend)
    assert [doubt.call for doubt in conversation.ledger.unconfirmed] == [LEND]
    conversation.observe(lend, "done")
    assert conversation.ledger.writes == (LEND,) and not conversation.ledger.unconfirmed


def test_a_write_in_flight_counts_for_calls_shown_singly() -> None:
    conversation = opened()
    read(conversation)
    conversation.judge_also(LEND)
    lend = conversation.claim(LEND)
    conversation.judge_also(SHELVE)
    shelve = conversation.claim(SHELVE)
    assert not conversation.ready(shelve)
    conversation.observe(lend, "done")
    assert conversation.ready(shelve) and shelve.allowed


def test_a_wait_is_no_rejection_for_the_loop_guard() -> None:
    conversation = opened()
    for _ in range(5):
        conversation.judge(Reply(calls=(GET_MEMBER, GET_BOOK, LEND)))
        conversation.interrupted(conversation.take(GET_MEMBER))
    conversation.judge(Reply(calls=(LEND,)))
    assert conversation.take(LEND).verdict.decision is Decision.REVISE


def test_in_shadow_mode_nothing_waits() -> None:
    conversation = Policy(LIBRARY, mode="shadow").open()
    conversation.judge(Reply(calls=(GET_BOOK, LEND, SHELVE)))
    assert all(conversation.take(asked).allowed for asked in (SHELVE, LEND, GET_BOOK))


def test_what_could_not_be_read_is_logged_once_without_its_content(
    caplog: pytest.LogCaptureFixture,
) -> None:
    conversation = opened()
    for number in range(2):
        asked = ToolCall(name="get_book", arguments={"book_id": "B9"}, id=str(number))
        conversation.judge(Reply(calls=(asked,)))
        conversation.observe(conversation.take(asked), {"book_id": "B9", "title": "secret"})
    (record,) = caplog.records
    assert "has no `status`" in record.getMessage() and "secret" not in record.getMessage()
