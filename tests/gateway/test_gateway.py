"""What a client gets for what the model says: all formats, streamed and not."""

from __future__ import annotations

import asyncio
import json

from ledgeragent.types import Reply, ToolReturn, UserMessage
from tests.gateway.conftest import Client
from tests.gateway.upstream import status, stepwise
from tests.gateway.wires import Wire
from tests.gateway.world import (
    HELLO,
    KNOWN,
    MIXED,
    OUT,
    READ,
    SAY,
    TOOLS,
    UNKNOWN,
    WRITE,
    run,
    world,
)
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, LEND, answer, call


def test_text_passes_and_the_prompt_carries_the_ledger_at_its_tail(client: Client) -> None:
    async def scenario() -> None:
        async with world(SAY) as w:
            got = await client.ask(w, *KNOWN)
            assert got.reply == SAY
            assert got.verdicts == ""
            told = client.wire.told(w.upstream.asked[0])
            assert told.index("members.M1 = ") > told.index("Lend me Ferns")

    run(scenario())


def test_a_write_on_what_was_read_passes(client: Client) -> None:
    async def scenario() -> None:
        async with world(WRITE) as w:
            got = await client.ask(w, *KNOWN)
            assert got.reply == WRITE
            assert got.verdicts == "lend_book=ALLOW"

    run(scenario())


def test_a_rejected_write_costs_one_call_with_the_feedback(client: Client) -> None:
    async def scenario() -> None:
        async with world(WRITE, READ) as w:
            got = await client.ask(w, HELLO)
            assert got.reply == READ
            assert got.verdicts == "lend_book=REVISE,get_member=ALLOW,get_book=ALLOW"
            told = client.wire.told(w.upstream.asked[1])
            assert "get_book(book_id=" in told.replace("\\", "")
            assert len(w.upstream.asked) == 2

    run(scenario())


def test_the_loop_guard_counts_across_requests(client: Client) -> None:
    async def scenario() -> None:
        async with world(WRITE, WRITE, WRITE, WRITE, max_revisions=0) as w:
            history = list(OUT)
            seen = []
            for _ in range(4):
                got = await client.ask(w, *history)
                assert got.reply is not None
                seen.append(got.verdicts)
                history += [got.reply, UserMessage(text="Try again.")]
            assert seen == ["lend_book=REVISE"] * 3 + ["lend_book=BLOCK"]

    run(scenario())


def test_twins_share_no_rejection(client: Client) -> None:
    async def scenario() -> None:
        async with world(*[WRITE] * 8, max_revisions=0) as w:
            for _ in range(8):
                got = await client.ask(w, *OUT)
                assert got.verdicts == "lend_book=REVISE"
                assert got.reply is not None
                assert "rejected before" not in got.reply.text

    run(scenario())


def test_twins_at_once_keep_to_themselves(client: Client) -> None:
    async def scenario() -> None:
        async with world() as w:
            mine = [f"M{n}" for n in range(20)]

            def choose(body: object) -> Reply:
                known = [m for m in mine if f'"{m}"' in json.dumps(body).replace("\\", "")]
                assert len(known) <= 1, "another conversation's member is in this prompt"
                return Reply(text=f"You are {known[0]}." if known else "Who are you?")

            w.upstream.choose = choose

            async def conversation(member: str) -> None:
                first = await client.ask(w, HELLO)
                assert first.reply is not None
                get = call("get_member", "call_0", member_id=member)
                told = answer(get, {**ADA, "member_id": member})
                second = await client.ask(w, HELLO, Reply(calls=(get,)), told)
                assert second.reply == Reply(text=f"You are {member}.")

            await asyncio.gather(*map(conversation, mine))

    run(scenario())


def test_a_failed_read_is_no_evidence(client: Client) -> None:
    async def scenario() -> None:
        async with world(WRITE, max_revisions=0) as w:
            failed = ToolReturn(call_id=GET_BOOK.id, content="Error: no such book", error=True)
            got = await client.ask(w, HELLO, READ, answer(GET_MEMBER, ADA), failed)
            assert got.verdicts == "lend_book=REVISE"

    run(scenario())


def test_repeated_ids_pair_in_order(client: Client) -> None:
    member, book = (
        call("get_member", "same", member_id="M1"),
        call("get_book", "same", book_id="B1"),
    )

    async def scenario() -> None:
        async with world(Reply(calls=(member, book)), WRITE) as w:
            got = await client.ask(w, HELLO)
            assert got.reply is not None
            got = await client.ask(w, HELLO, got.reply, answer(member, ADA), answer(book, BOOK_IN))
            assert got.verdicts == "lend_book=ALLOW"

    run(scenario())


OUT_NOW = {**BOOK_IN, "status": "out", "shelf": "reading room"}


def test_a_call_that_repeats_the_id_of_a_held_one_keeps_its_place(client: Client) -> None:
    """Else what the write answers would be taken for the record, and the other way round."""
    lend = call("lend_book", "same", member_id="M1", book_id="B1", days=14)
    book = call("get_book", "same", book_id="B1")

    async def scenario() -> None:
        async with world(Reply(calls=(lend, book)), SAY) as w:
            got = await client.ask(w, *KNOWN)
            assert got.called == ["lend_book", "get_book"]
            assert got.reply is not None
            failed = ToolReturn(call_id="same", content="Error: nobody is at the desk")
            returned = (failed, answer(book, OUT_NOW))
            await client.ask(w, *KNOWN, got.reply, *returned)
            ledger = client.wire.told(w.upstream.asked[1]).partition("<ledger>")[2]
            assert "reading room" in ledger
            assert "nobody is at the desk" not in ledger

    run(scenario())


def test_repeated_ids_of_which_one_is_rejected(client: Client) -> None:
    """The one result belongs to the one call that was sent."""
    long, short = (call("lend_book", "same", member_id="M1", book_id="B1", days=d) for d in (90, 9))
    get = call("get_book", "same", book_id="B1")

    async def scenario() -> None:
        async with world(Reply(calls=(long, short, get)), SAY) as w:
            got = await client.ask(w, *KNOWN)
            assert got.verdicts == "lend_book=REVISE,lend_book=ALLOW,get_book=ALLOW"
            assert got.reply is not None
            assert got.reply.calls == (short, get)
            returned = (answer(short, "lent"), answer(get, OUT_NOW))
            await client.ask(w, *KNOWN, got.reply, *returned)
            ledger = client.wire.told(w.upstream.asked[1]).partition("<ledger>")[2]
            assert "reading room" in ledger
            assert "90 days" in ledger

    run(scenario())


def test_a_streamed_write_before_a_read_is_still_the_same_conversation(client: Client) -> None:
    """A stream sends the read first; what the model must hear of the rejected call is not lost."""
    long = call("lend_book", "long", member_id="M1", book_id="B1", days=90)

    async def scenario() -> None:
        async with world(Reply(calls=(LEND, GET_BOOK, long)), SAY) as w:
            got = await client.ask(w, *KNOWN)
            assert got.reply is not None
            assert len(got.reply.calls) == 2
            returned = tuple(
                answer(made, OUT_NOW if made.name == "get_book" else "lent")
                for made in got.reply.calls
            )
            await client.ask(w, *KNOWN, got.reply, *returned)
            assert "90 days" in client.wire.told(w.upstream.asked[1])

    run(scenario())


def test_an_unknown_tool_is_never_called(client: Client) -> None:
    async def scenario() -> None:
        async with world(UNKNOWN, max_revisions=0) as w:
            got = await client.ask(w, HELLO, tools=(*TOOLS, "burn_book"))
            assert got.called == []
            assert got.verdicts == "burn_book=REVISE"

    run(scenario())


def test_a_rejected_call_leaves_no_pending_return(client: Client) -> None:
    """A client that executes a call it was never sent changes nothing in the ledger."""

    async def scenario() -> None:
        async with world(MIXED, SAY) as w:
            got = await client.ask(w, HELLO)
            assert got.reply is not None
            await client.ask(
                w,
                HELLO,
                got.reply,
                answer(GET_MEMBER, ADA),
                answer(GET_BOOK, BOOK_IN),
                answer(LEND, "done"),
            )
            assert "STALE" not in client.wire.told(w.upstream.asked[1])

    run(scenario())


def test_what_a_write_touched_has_to_be_read_again(client: Client) -> None:
    async def scenario() -> None:
        async with world(WRITE, WRITE, SAY) as w:
            got = await client.ask(w, *KNOWN)
            assert got.reply == WRITE
            again = (*KNOWN, WRITE, answer(LEND, "lent"), UserMessage(text="Once more."))
            got = await client.ask(w, *again)
            assert got.verdicts == "lend_book=REVISE"
            assert "was changed by lend_book" in client.wire.told(w.upstream.asked[-1])

    run(scenario())


def test_cancelling_reaches_the_upstream(client: Client) -> None:
    async def scenario() -> None:
        async with world(stepwise(SAY, asyncio.Semaphore(0))) as w:
            if not client.stream:
                w.upstream.script.clear()
                w.upstream.script.append(_forever)
            asking = asyncio.create_task(client.ask(w, HELLO))
            while not w.upstream.asked:
                await asyncio.sleep(0.01)
            asking.cancel()
            await asyncio.wait_for(w.upstream.cancelled.wait(), 10)
            while w.gateway.metrics.active:
                await asyncio.sleep(0.01)
            assert w.gateway.metrics.requests[client.wire.path, 499] == 1

    run(scenario())


async def _forever(request: object, wire: object, body: object) -> object:
    await asyncio.sleep(60)
    raise AssertionError("nobody cancelled")


def test_a_retry_after_a_failure_is_the_same_conversation(client: Client) -> None:
    async def scenario() -> None:
        async with world(status(500), WRITE, max_revisions=0) as w:
            assert (await client.ask(w, *KNOWN)).status == 500
            assert (await client.ask(w, *KNOWN)).reply == WRITE

    run(scenario())


def test_prompts_of_a_turn_keep_what_came_before_as_it_was(wire: Wire) -> None:
    """The tail comes last, so that upstream's prompt cache keeps working."""

    async def scenario() -> None:
        async with world(SAY) as w:
            sent = wire.request(KNOWN, TOOLS, False)
            await w.ask(wire, KNOWN)
            asked = w.upstream.asked[0]
            assert asked["tools"] == sent["tools"]
            field = "input" if wire.name == "responses" else "messages"
            assert asked[field][: len(sent[field]) - 1] == sent[field][:-1]

    run(scenario())
