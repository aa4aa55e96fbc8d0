"""Upstreams that fail, in every way and at every point: nothing unjudged slips through."""

from __future__ import annotations

import json

import pytest

from ledgeragent.gateway.endpoints import ApiAddress
from ledgeragent.types import Reply
from tests.gateway.conftest import Client
from tests.gateway.upstream import Respond, broken, cut, garbage, sent, status
from tests.gateway.wires import Wire
from tests.gateway.world import KNOWN, LONG, MIXED, SAY, WRITE, Answer, is_error, run, world

TALK = Reply(text="Let me see what I can do for you.", calls=WRITE.calls)


def unharmed(got: Answer) -> None:
    """An error, told in the way the client expects it, and no write."""
    if got.status == 200:
        assert is_error(got.events[-1])
        assert "lend_book" not in str(got.events)
    else:
        assert got.status in (502, 504)
        assert got.body["error"]["message"]
        assert "lend_book" not in str(got.body)


@pytest.mark.parametrize("keep", [0.0, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("reset", [False, True], ids=["closes", "resets"])
def test_a_reply_that_breaks_off(client: Client, keep: float, reset: bool) -> None:
    async def scenario() -> None:
        async with world(cut(TALK, keep=keep, reset=reset), WRITE) as w:
            unharmed(await client.ask(w, *KNOWN))
            again = await client.ask(w, *KNOWN)
            assert again.reply == WRITE
            assert again.verdicts == "lend_book=ALLOW"

    run(scenario())


@pytest.mark.parametrize("keep", [0.0, 0.6])
def test_a_reply_that_stalls(client: Client, keep: float) -> None:
    async def scenario() -> None:
        async with world(cut(TALK, keep=keep, stall=True), timeout=0.3) as w:
            unharmed(await client.ask(w, *KNOWN))

    run(scenario())


@pytest.mark.parametrize("reset", [False, True], ids=["closes", "resets"])
def test_half_an_event(wire: Wire, reset: bool) -> None:
    """Broken off in the middle of each event in turn. Only what comes after the whole may be lost."""

    async def scenario() -> None:
        pieces = wire.events(TALK, "resp_1")
        async with world() as w:
            for n, piece in enumerate(pieces):
                half = b"".join(pieces[:n]) + piece[: len(piece) // 2]
                w.upstream.script.append(broken(half, reset=reset))
                got = await w.ask(wire, KNOWN, stream=True)
                if got.reply is None:
                    unharmed(got)
                else:
                    assert n == len(pieces) - 1
                    assert (got.reply, got.verdicts) == (TALK, "lend_book=ALLOW")

    run(scenario())


@pytest.mark.parametrize("reset", [False, True], ids=["closes", "resets"])
def test_half_a_json(wire: Wire, reset: bool) -> None:
    """Broken off at every eighth byte, the last one included."""

    async def scenario() -> None:
        whole = json.dumps(wire.answer(TALK, "resp_1")).encode()
        async with world() as w:
            for end in [*range(0, len(whole), 8), len(whole) - 1]:
                w.upstream.script.append(broken(whole[:end], reset=reset))
                unharmed(await w.ask(wire, KNOWN))

    run(scenario())


@pytest.mark.parametrize(
    "fault",
    [
        status(429, {"retry-after": "3"}),
        status(500),
        cut(WRITE, keep=0.6),
        cut(WRITE, keep=0.6, reset=True),
        cut(WRITE, keep=0.6, stall=True),
        garbage(),
    ],
    ids=["429", "500", "closes", "resets", "stalls", "garbage"],
)
@pytest.mark.parametrize("spoken", [False, True], ids=["silent", "spoken"])
def test_a_fault_in_a_revision(client: Client, fault: Respond, spoken: bool) -> None:
    """What was rejected stays rejected, and what the client was already told is ended properly."""

    async def scenario() -> None:
        said = Reply(text="One moment." * spoken, calls=LONG.calls)
        async with world(said, fault, WRITE, timeout=0.3) as w:
            got = await client.ask(w, *KNOWN)
            if client.stream and spoken:
                assert got.status == 200
            if got.status in (429, 500):
                assert got.headers.get("retry-after") == ("3" if got.status == 429 else None)
                assert got.body == {"error": {"code": got.status}}
            else:
                unharmed(got)
            again = await client.ask(w, *KNOWN)
            assert again.verdicts == "lend_book=ALLOW"

    run(scenario())


def test_garbage(client: Client) -> None:
    async def scenario() -> None:
        async with world(garbage()) as w:
            unharmed(await client.ask(w, *KNOWN))

    run(scenario())


def test_an_upstream_that_is_not_there(client: Client) -> None:
    async def scenario() -> None:
        async with world() as w:
            await w.gateway.close_upstream()
            w.gateway._upstream.address = ApiAddress("http://127.0.0.1:9")
            await w.gateway.open_upstream()
            unharmed(await client.ask(w, *KNOWN))

    run(scenario())


@pytest.mark.parametrize("code", [400, 401, 429, 500, 529])
def test_an_error_of_the_upstream_is_handed_on_as_it_is(client: Client, code: int) -> None:
    async def scenario() -> None:
        headers = {"retry-after": "7", "x-request-id": "abc", "set-cookie": "a=b"}
        async with world(status(code, headers)) as w:
            got = await client.ask(w, *KNOWN)
            assert got.status == code
            assert got.body == {"error": {"code": code}}
            assert got.headers["retry-after"] == "7"
            assert got.headers["x-request-id"] == "abc"
            assert "set-cookie" not in got.headers

    run(scenario())


def test_an_upstream_that_answers_a_stream_with_json(client: Client) -> None:
    async def scenario() -> None:
        async with world(_whole) as w:
            got = await client.ask(w, *KNOWN)
            if client.stream:
                unharmed(got)
            else:
                assert got.reply == WRITE

    run(scenario())


async def _whole(request: object, wire: object, body: object) -> object:
    from aiohttp import web

    return web.json_response(wire.answer(WRITE, "resp_1"))  # type: ignore[attr-defined]


def test_events_cut_anywhere_are_put_together(client: Client) -> None:
    async def scenario() -> None:
        async with world(_bytewise(MIXED)) as w:
            got = await client.ask(w, *KNOWN)
            assert got.reply == MIXED

    if client.stream:
        run(scenario())


def _bytewise(reply: Reply) -> Respond:
    async def respond(request, wire, body):  # type: ignore[no-untyped-def]
        data = b"".join(wire.events(reply, "resp_1")).replace(b"\n", b"\r\n")
        return await sent(request, [data[n : n + 7] for n in range(0, len(data), 7)])

    return respond


def test_a_reply_larger_than_the_limit(client: Client) -> None:
    async def scenario() -> None:
        async with world(Reply(text="x" * (3 << 20)), max_body=1 << 20) as w:
            unharmed(await client.ask(w, *KNOWN))

    run(scenario())


def test_arguments_that_are_no_object_are_never_sent(client: Client) -> None:
    from ledgeragent.types import ToolCall

    async def scenario() -> None:
        broken = ToolCall(name="lend_book", id="b", malformed='{"member_id": "M1", "bo')
        async with world(Reply(calls=(broken,)), SAY) as w:
            got = await client.ask(w, *KNOWN)
            assert got.reply == SAY
            assert got.verdicts == "lend_book=REVISE"

    if client.wire.name != "messages" or client.stream:
        run(scenario())
