"""What becomes of calls that are rejected: what the customer is told, and what the model hears."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ledgeragent.gateway.policycheck import LEAD
from ledgeragent.predicates import Broken, View, predicate
from ledgeragent.types import Message, Reply, UserMessage
from tests.gateway.conftest import Client
from tests.gateway.world import (
    HELLO,
    KNOWN,
    LONG,
    MIXED,
    OUT,
    OWES,
    SAY,
    UNKNOWN,
    WRITE,
    run,
    world,
)
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, LEND, LIBRARY, answer, call

LONG_SILENT = Reply(calls=LONG.calls)
SORRY, WHY = "I can't do that right now.", "I can't do that: "


@predicate("lending/broken", guards="shelve_book")
def fails(call: Any, ledger: View) -> Broken | None:
    """A rule with a fault of its own."""
    raise ZeroDivisionError


FAILING = replace(LIBRARY, predicates=(*LIBRARY.predicates, fails))
REFUSALS: dict[str, tuple[Sequence[Message], Reply, int, str, str]] = {
    "a broken rule": (OWES, WRITE, 1, f"{WHY}3.50 are owed.", "3.50 are owed"),
    "a read to make": ((HELLO,), WRITE, 1, SORRY, 'call get_member(member_id="M1") first'),
    "a rule and a read": (
        (HELLO,),
        LONG_SILENT,
        1,
        f"{WHY}a loan of 120 days is too long: 28 at most.",
        "call get_book(",
    ),
    "two rules": (
        (*OWES[:3], OUT[3]),
        WRITE,
        1,
        f"{WHY}3.50 are owed.",
        "3.50 are owed",
    ),
    "two calls with the same against them": (
        OWES,
        Reply(calls=(LEND, replace(LEND, id="again"))),
        1,
        f"{WHY}3.50 are owed.",
        "3.50 are owed",
    ),
    "a call made again": (OUT, WRITE, 2, f"{WHY}book B1 is out.", "rejected before"),
    "a call made too often": (OUT, WRITE, 4, f"{WHY}book B1 is out.", "rejected too often"),
    "a read not made too often": ((HELLO,), WRITE, 4, SORRY, "rejected too often"),
    "a tool that is not there": (KNOWN, UNKNOWN, 1, SORRY, "no tool named burn_book"),
    "an argument that is not there": (
        KNOWN,
        Reply(calls=(replace(LEND, arguments={**LEND.arguments, "gift": True}),)),
        1,
        SORRY,
        "takes no argument gift",
    ),
    "arguments that cannot be used": (
        KNOWN,
        Reply(calls=(replace(LEND, arguments={}),)),
        1,
        SORRY,
        "its arguments cannot be used",
    ),
    "a rule that fails": (
        KNOWN,
        Reply(calls=(call("shelve_book", book_id="B1"),)),
        1,
        SORRY,
        "could not be checked",
    ),
}
"""What was said before, what the model wants, how often, what the customer reads, the model hears."""


def test_read_and_write_in_one_reply_keep_the_read(client: Client) -> None:
    async def scenario() -> None:
        async with world(MIXED, SAY) as w:
            got = await client.ask(w, HELLO)
            assert got.reply == Reply(text=MIXED.text, calls=MIXED.calls[:2])
            assert got.verdicts == "get_member=ALLOW,get_book=ALLOW,lend_book=REVISE"
            assert len(w.upstream.asked) == 1
            await client.ask(
                w, HELLO, got.reply, answer(GET_MEMBER, ADA), answer(GET_BOOK, BOOK_IN)
            )
            told = client.wire.told(w.upstream.asked[1]).replace("\\", "")
            assert f"{LEAD}{LEND} was not executed; by the ledger, nothing stands" in told
            assert "has not been read yet" not in told, "the ledger above it shows the records"

    run(scenario())


def test_what_is_still_unread_is_asked_for_beside_the_ledger(client: Client) -> None:
    async def scenario() -> None:
        async with world(Reply(calls=(GET_MEMBER, LEND)), SAY) as w:
            got = await client.ask(w, HELLO)
            assert got.called == ["get_member"]
            assert got.reply is not None
            await client.ask(w, HELLO, got.reply, answer(GET_MEMBER, ADA))
            told = client.wire.told(w.upstream.asked[1]).replace("\\", "")
            assert f"{LEAD}{LEND} was not executed: books.B1 has not been read yet" in told

    run(scenario())


def test_after_the_last_revision_the_call_is_refused(client: Client) -> None:
    async def scenario() -> None:
        async with world(WRITE, WRITE, WRITE, max_revisions=2) as w:
            got = await client.ask(w, HELLO)
            assert got.reply is not None
            assert got.reply == Reply(text="I can't do that right now.")
            assert len(w.upstream.asked) == 3

    run(scenario())


def test_a_blocked_call_is_refused_at_once(client: Client) -> None:
    async def scenario() -> None:
        async with world(WRITE) as w:
            got = await client.ask(w, *OWES)
            assert got.reply is not None
            assert got.reply.calls == ()
            assert "3.50 are owed" in got.reply.text
            assert got.verdicts == "lend_book=BLOCK"
            assert len(w.upstream.asked) == 1

    run(scenario())


def test_what_was_said_beside_a_refused_call_stays(client: Client) -> None:
    async def scenario() -> None:
        async with world(LONG, max_revisions=0) as w:
            got = await client.ask(w, *KNOWN)
            assert got.reply is not None
            assert got.reply.calls == ()
            assert got.reply.text.startswith(LONG.text)
            assert "28 at most" in got.reply.text

    run(scenario())


def test_a_model_that_falls_silent_is_answered_for(client: Client) -> None:
    async def scenario() -> None:
        async with world(LONG_SILENT, Reply(), SAY) as w:
            got = await client.ask(w, *KNOWN)
            assert got.reply == Reply(
                text="I can't do that: a loan of 120 days is too long: 28 at most."
            )
            await client.ask(w, *KNOWN, got.reply, UserMessage(text="Why?"))
            told = client.wire.told(w.upstream.asked[-1])
            assert told.count("a loan of 120 days") == 2

    run(scenario())


@pytest.mark.parametrize("case", REFUSALS, ids=REFUSALS.keys())
def test_what_a_customer_is_told(client: Client, case: str) -> None:
    """Broken rules in their own words; reads to make, forms and repetitions only the model hears of."""
    history, reply, times, shown, heard = REFUSALS[case]

    async def scenario() -> None:
        async with world(*[reply] * times, SAY, domain=FAILING, max_revisions=times - 1) as w:
            got = await client.ask(w, *history)
            assert got.reply == Reply(text=shown)
            await client.ask(w, *history, got.reply, UserMessage(text="Why?"))
            assert heard in client.wire.told(w.upstream.asked[-1]).replace("\\", "")

    run(scenario())
