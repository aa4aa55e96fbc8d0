"""Upstreams that hang up on connections they said they keep: llama.cpp's does, behind a stream."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from ledgeragent.gateway.server import Gateway, Settings
from ledgeragent.types import Reply
from tests.gateway.conftest import Client
from tests.gateway.upstream import Play, sent
from tests.gateway.wires import Wire
from tests.gateway.world import HELLO, KNOWN, LONG, SAY, TOOLS, WRITE, World, ported, run, world
from tests.lending.domain import LIBRARY


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


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
@pytest.mark.parametrize("stray", STRAY, ids=["whole", "part", "empty", "odd"])
def test_what_comes_unasked_is_nobodys_answer(client: Client, stray: bytes, mode: str) -> None:
    async def scenario() -> None:
        async with world(mode=mode) as w:

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


@asynccontextmanager
async def speaking(
    wire: Wire, unasked: bytes, instead: Sequence[bytes]
) -> AsyncIterator[tuple[str, list[int]]]:
    """An upstream that sends something `unasked` behind its first answer, and to the second request on a
    connection these bytes `instead` of one, before it hangs up; and how many requests each one had.
    """
    requests: list[int] = []
    body = json.dumps(wire.answer(SAY, "r")).encode()
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        place = len(requests)
        requests.append(0)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                asked = (await reader.readuntil(b"\r\n\r\n")).lower()
                await reader.readexactly(int(asked.partition(b"content-length: ")[2].split()[0]))
                requests[place] += 1
                if requests[place] > 1:
                    break
                writer.write(head % len(body) + body)
                await asyncio.sleep(0.02)
                writer.write(unasked)
            for piece in instead:
                writer.write(piece)
                await asyncio.sleep(0.02)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", requests


async def _asked_twice(wire: Wire, upstream: str) -> list[int]:
    """The statuses of two requests, one behind the other."""
    raw = json.dumps(wire.request((HELLO,), TOOLS, False)).encode()
    async with (
        ported(Gateway(LIBRARY, Settings(upstream=upstream))) as url,
        aiohttp.ClientSession() as http,
    ):
        statuses = []
        for _ in range(2):
            async with http.post(f"{url}{wire.path}", data=raw) as response:
                await response.read()
                statuses.append(response.status)
            await asyncio.sleep(0.05)
        return statuses


@pytest.mark.parametrize("cut", [1, 9, 17, 40, 75, len(STRAY[0]) - 1])
def test_nor_is_the_half_of_it_that_comes_later(wire: Wire, cut: int) -> None:
    async def scenario() -> None:
        async with speaking(wire, STRAY[0][:cut], [STRAY[0][cut:]]) as (url, requests):
            assert await _asked_twice(wire, url) == [200, 200]
            assert requests == [1, 1]

    run(scenario())


BEGUN = {
    "an answer to come": [b"HTTP/1.1 100 Continue\r\n\r\n"],
    "hints": [b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"],
    "half a head": [b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n"],
    "a head": [b"HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n"],
    "half an answer": [b'HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n{"a"'],
    "one after another": [b"HTTP/1.1 102 Processing\r\n\r\n", b"HTTP/1.1 2"],
}


@pytest.mark.parametrize("begun", BEGUN)
def test_a_request_whose_answer_has_begun_is_not_sent_again(wire: Wire, begun: str) -> None:
    async def scenario() -> None:
        async with speaking(wire, b"", BEGUN[begun]) as (url, requests):
            assert await _asked_twice(wire, url) == [200, 502]
            assert requests == [2]

    run(scenario())
