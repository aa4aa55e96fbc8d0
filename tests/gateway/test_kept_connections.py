"""Upstreams that hang up on connections they said they keep: llama.cpp's does, behind a stream."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Any

import pytest
from aiohttp import web

from ledgeragent.types import Reply
from tests.gateway.conftest import Client
from tests.gateway.upstream import Play, sent
from tests.gateway.wires import Wire
from tests.gateway.world import HELLO, KNOWN, LONG, SAY, WRITE, World, run, world


class HangingUp:
    """Answers the first request of each connection, and hangs up on a second one; or on every one."""

    def __init__(self, *replies: Reply, reset: bool, always: bool = False) -> None:
        self.replies = deque(replies)
        self.reset, self.always = reset, always
        self.connections: list[asyncio.BaseTransport] = []
        self.hung_up = 0

    def choose(self, body: dict[str, Any]) -> Play:
        return self._respond

    async def _respond(self, request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        transport = request.transport
        assert transport is not None
        if self.always or transport in self.connections:
            self.hung_up += 1
            transport.abort() if self.reset else transport.close()
            return web.Response()
        self.connections.append(transport)
        reply = self.replies.popleft()
        if body.get("stream"):
            return await sent(request, wire.events(reply, "r"))
        return web.json_response(wire.answer(reply, "r"))


def _hanging_up(w: World, *replies: Reply, reset: bool, always: bool = False) -> HangingUp:
    upstream = HangingUp(*replies, reset=reset, always=always)
    w.upstream.choose = upstream.choose
    return upstream


@pytest.mark.parametrize("reset", [False, True], ids=["closes", "resets"])
def test_a_model_is_asked_again_over_a_new_connection(client: Client, reset: bool) -> None:
    """The second answer of one reply, to the feedback, comes where the kept connection has gone."""

    async def scenario() -> None:
        async with world() as w:
            upstream = _hanging_up(w, LONG, WRITE, reset=reset)
            got = await client.ask(w, *KNOWN)
            assert got.reply is not None and got.reply.calls == WRITE.calls
            assert upstream.hung_up == 1 and len(upstream.connections) == 2

    run(scenario())


@pytest.mark.parametrize("reset", [False, True], ids=["closes", "resets"])
def test_another_client_gets_a_new_connection(client: Client, reset: bool) -> None:
    async def scenario() -> None:
        async with world() as w:
            upstream = _hanging_up(w, *[WRITE] * 8, reset=reset)
            first = await asyncio.gather(*(client.ask(w, *KNOWN) for _ in range(4)))
            then = await asyncio.gather(*(client.ask(w, *KNOWN) for _ in range(4)))
            assert all(got.reply == WRITE for got in (*first, *then))
            assert len(upstream.connections) == 8

    run(scenario())


def test_a_request_without_tools_gets_one_too(client: Client) -> None:
    async def scenario() -> None:
        async with world() as w:
            upstream = _hanging_up(w, *[SAY] * 3, reset=False)
            for _ in range(3):
                got = await client.ask(w, HELLO, tools=())
                assert got.reply == SAY
            assert len(upstream.connections) == 3 and upstream.hung_up == 2

    run(scenario())


@pytest.mark.parametrize("reset", [False, True], ids=["closes", "resets"])
def test_a_request_that_a_new_connection_is_closed_on_is_not_sent_again(
    client: Client, reset: bool
) -> None:
    async def scenario() -> None:
        async with world() as w:
            upstream = _hanging_up(w, reset=reset, always=True)
            got = await client.ask(w, *KNOWN)
            assert got.status == 502 and upstream.hung_up == 1

    run(scenario())


STRAY = (
    b'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 8\r\n\r\n{"a": 1}',
    b"HTTP/1.1 200 OK\r\ncontent-le",
    b"\r\n",
    b"odd",
)
"""What comes behind an answer, when nobody has asked for it: an answer, a part of one, and no answer."""


@pytest.mark.parametrize("stray", STRAY, ids=["whole", "part", "empty", "odd"])
def test_what_comes_unasked_is_nobodys_answer(client: Client, stray: bytes) -> None:
    async def scenario() -> None:
        async with world() as w:

            async def talkative(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
                assert request.transport is not None
                asyncio.get_running_loop().call_later(0.02, request.transport.write, stray)
                if body.get("stream"):
                    return await sent(request, wire.events(SAY, "r"))
                return web.json_response(wire.answer(SAY, "r"))

            w.upstream.choose = lambda body: talkative
            for _ in range(2):
                got = await client.ask(w, HELLO)
                assert got.reply == SAY
                await asyncio.sleep(0.05)

    run(scenario())
