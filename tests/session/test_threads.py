"""Hosts with threads: nothing is lost or paid twice, nobody waits for ever, what failed is tried again."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from ledgeragent.demo.shop.shop import Shop
from ledgeragent.packs import load_domain
from ledgeragent.session import Session
from ledgeragent.session.conversation import Conversation
from ledgeragent.session.ticket import refusal
from ledgeragent.session.wakeups import Wakeups
from ledgeragent.types import Reply, ToolCall, ToolReturn
from ledgeragent.verdict import Decision
from tests.lending.domain import BOOK_IN, GET_BOOK, LEND, LIBRARY, call
from tests.lending.talk import opened, read

SHELVE = call("shelve_book", book_id="B1")
MANY = 8
SOON = 10.0


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def at_once(work: Callable[[int], object]) -> None:
    """Does the work in many threads, which begin together; all of them end."""
    barrier = threading.Barrier(MANY)

    def one(number: int) -> None:
        barrier.wait(SOON)
        work(number)

    with ThreadPoolExecutor(MANY) as pool:
        for future in [pool.submit(one, number) for number in range(MANY)]:
            future.result(SOON)


def test_answers_that_threads_give_to_one_session_are_all_kept() -> None:
    session = Session(LIBRARY)
    for turn in range(20):
        calls = [
            ToolCall(name="get_book", arguments={"book_id": f"B{turn}-{n}"}, id=f"{n}")
            for n in range(MANY)
        ]
        session.filter(Reply(calls=tuple(calls)))

        def answer(number: int, calls: list[ToolCall] = calls) -> None:
            book = {**BOOK_IN, "book_id": calls[number].arguments["book_id"]}
            session.observe(ToolReturn(call_id=str(number), content=book))

        at_once(answer)
        assert not session.state.pending
    assert len(list(session.ledger)) == 20 * MANY


def shop_session() -> Session:
    """A session that knows what a refund of order G-1012 needs."""
    session = Session(load_domain("shop"))
    reads = (
        ToolCall(name="find_customer", arguments={"email": "elena.ricci@example.net"}, id="1"),
        ToolCall(name="get_order", arguments={"order_id": "G-1012"}, id="2"),
        ToolCall(name="get_parcel", arguments={"parcel_id": "P-33"}, id="3"),
    )
    with Shop() as shop:
        for asked in session.filter(Reply(calls=reads)).execute:
            session.observe(shop.execute(asked))
    return session


def refund(id: str) -> ToolCall:
    arguments = {"order_id": "G-1012", "parcel_id": "P-33", "sku": "secateurs"}
    return ToolCall(
        name="refund_item", arguments={**arguments, "quantity": 2, "amount": 49.0}, id=id
    )


def test_two_loops_on_one_session_pay_once() -> None:
    for _ in range(10):
        session = shop_session()
        paid: list[str] = []

        def loop(number: int, session: Session = session, paid: list[str] = paid) -> None:
            for asked in session.filter(Reply(calls=(refund(f"r{number}"),))).execute:
                paid.append(asked.id)
                session.observe(ToolReturn(call_id=asked.id, content="{}"))

        at_once(loop)
        assert len(paid) == 1


def test_threads_that_take_one_call_run_it_once() -> None:
    conversation = opened()
    read(conversation)
    conversation.judge(Reply(calls=(LEND,)))
    ran: list[int] = []

    def take(number: int) -> None:
        ticket = conversation.take(LEND)
        if ticket.allowed:
            with conversation.running(ticket):
                ran.append(number)
                conversation.observe(ticket, "done")

    at_once(take)
    assert len(ran) == 1


def test_a_call_that_runs_for_ever_holds_no_other_up_for_ever() -> None:
    conversation = opened()
    read(conversation)
    conversation.endurance = 0.05
    conversation.judge(Reply(calls=(LEND, SHELVE)))
    lend = conversation.take(LEND)
    shelve = conversation.take(SHELVE)
    assert not shelve.allowed and "wait for the result of lend_book" in refusal(shelve.verdict)
    conversation.observe(lend, "done")
    assert conversation.ledger.writes == (LEND,)


def test_a_tool_that_runs_a_call_of_its_own_reply_gets_an_answer() -> None:
    async def played() -> bool:
        conversation = opened()
        read(conversation)
        conversation.endurance = 0.05
        conversation.judge(Reply(calls=(LEND, SHELVE)))
        lend = await conversation.atake(LEND)
        with conversation.running(lend):
            inner = await asyncio.wait_for(conversation.atake(SHELVE), SOON)
            conversation.observe(lend, "done")
        return inner.allowed

    assert not asyncio.run(played())


def failing(conversation: Conversation, asked: ToolCall, error: Exception) -> None:
    """Runs a call that raises."""
    ticket = conversation.take(asked)
    assert ticket.allowed
    with pytest.raises(type(error)), conversation.running(ticket):
        raise error


def test_a_read_that_failed_is_tried_again() -> None:
    conversation = opened()
    conversation.judge(Reply(calls=(GET_BOOK,)))
    for _ in range(3):
        failing(conversation, GET_BOOK, ConnectionError("reset"))
    conversation.observe(conversation.take(GET_BOOK), BOOK_IN)
    assert conversation.ledger.get(next(iter(conversation.ledger)).path) is not None
    assert not conversation.take(GET_BOOK).allowed, "it has its answer"


def test_a_write_that_was_refused_is_tried_again_and_one_that_may_have_happened_is_not() -> None:
    conversation = opened()
    read(conversation)
    conversation.judge(Reply(calls=(LEND,)))
    failing(conversation, LEND, ValueError("try later"))
    failing(conversation, LEND, TimeoutError())
    ticket = conversation.take(LEND)
    assert ticket.verdict.decision is Decision.REVISE
    assert "whose result never came" in refusal(ticket.verdict)


def test_a_retry_is_judged_on_the_ledger_as_it_is_now() -> None:
    conversation = opened()
    read(conversation)
    conversation.judge(Reply(calls=(LEND, SHELVE)))
    failing(conversation, LEND, ValueError("try later"))
    conversation.observe(conversation.take(SHELVE), "done")
    assert not conversation.take(LEND).allowed, "the book is not where it was read to be"


def test_a_call_of_an_earlier_reply_is_not_tried_again() -> None:
    conversation = opened()
    conversation.judge(Reply(calls=(GET_BOOK,)))
    failing(conversation, GET_BOOK, ValueError("busy"))
    conversation.judge(Reply(text="Well."))
    assert not conversation.take(GET_BOOK).allowed


def test_what_a_gate_lets_through_is_told_before_it_begins() -> None:
    conversation = opened()
    conversation.judge(Reply(calls=(GET_BOOK, LEND, call("lend_book", member_id=1))))
    assert conversation.lets_through(GET_BOOK)
    assert not conversation.lets_through(LEND), "its member is not asked for in this reply"
    read(conversation)
    conversation.judge(Reply(calls=(LEND, SHELVE)))
    assert conversation.lets_through(LEND) and conversation.lets_through(SHELVE)
    assert not conversation.lets_through(call("lend_book", member_id="M1", book_id="B1", days=99))


def test_who_slept_in_a_loop_that_is_closed_is_nobodys_trouble() -> None:
    wakeups = Wakeups()

    async def sleepless() -> None:
        with wakeups.lock:
            wakeups.sleeper()

    asyncio.run(sleepless())
    with wakeups.lock:
        wakeups.notify()
