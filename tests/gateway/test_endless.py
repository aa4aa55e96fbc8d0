"""An upstream that never comes to an end is given up: the client is told, and gets nothing unjudged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from itertools import islice

import aiohttp
import pytest

from ledgeragent.gateway.server import Gateway
from tests.gateway.wires import WIRES, Wire
from tests.gateway.world import KNOWN, TOOLS, WRITE, is_error, read_sse, run, served, world
from tests.lending.domain import LIBRARY

OK = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\n"
Bytes = Callable[[Wire, bool], Iterator[bytes]]


def head(stream: bool) -> bytes:
    return OK % (b"text/event-stream" if stream else b"application/json") + b"\r\n"


def reply(wire: Wire, stream: bool) -> bytes:
    if stream:
        return b"".join(wire.events(WRITE, "r"))
    return json.dumps(wire.answer(WRITE, "r")).encode()


def drops(wire: Wire, stream: bool) -> Iterator[bytes]:
    """Byte by byte, and then spaces for ever."""
    yield head(stream)
    yield from (bytes([byte]) for byte in reply(wire, stream)[:-40])
    while True:
        yield b" "


def before(piece: bytes) -> Bytes:
    """This for ever, in front of the reply."""

    def endless(wire: Wire, stream: bool) -> Iterator[bytes]:
        yield head(stream)
        while True:
            yield piece

    return endless


def behind(piece: bytes) -> Bytes:
    """This for ever, behind all but the end of the reply."""

    def endless(wire: Wire, stream: bool) -> Iterator[bytes]:
        yield head(stream) + reply(wire, stream)[:-40]
        while True:
            yield piece

    return endless


def headers(wire: Wire, stream: bool) -> Iterator[bytes]:
    yield OK % b"application/json"
    for number in range(1 << 30):
        yield b"x-%d: 1\r\n" % number


def header(wire: Wire, stream: bool) -> Iterator[bytes]:
    yield OK % b"application/json" + b"x-long: "
    while True:
        yield b"1"


def informs(wire: Wire, stream: bool) -> Iterator[bytes]:
    while True:
        yield b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"


ENDLESS: dict[str, Bytes] = {
    "drops": drops,
    "spaces": before(b" "),
    "spaces behind": behind(b" "),
    "comments": before(b": still here\n\n"),
    "comments behind": behind(b": still here\n\n"),
    "events of nothing": before(b"event: ping\ndata: {}\n\n"),
    "one line": before(b"data: x"),
    "empty lines": before(b"\n"),
    "headers": headers,
    "header": header,
    "informs": informs,
}


@asynccontextmanager
async def endless(wire: Wire, kind: str, times: int) -> AsyncIterator[str]:
    """An upstream that sends `times` of the pieces at once, again and again."""

    tasks: set[asyncio.Task[None]] = set()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())  # type: ignore[arg-type]
        try:
            asked = await reader.readuntil(b"\r\n\r\n")
            length = int(asked.lower().partition(b"content-length:")[2].split()[0])
            body = json.loads(await reader.readexactly(length))
            pieces = ENDLESS[kind](wire, bool(body.get("stream")))
            while True:
                writer.write(b"".join(islice(pieces, times)))
                await writer.drain()
                await asyncio.sleep(0.001 if times > 1 else 0.02)
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks)


@pytest.mark.parametrize("times", [1, 5_000], ids=["slow", "fast"])
@pytest.mark.parametrize("kind", ENDLESS)
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_reply_without_an_end_is_given_up(kind: str, times: int, stream: bool) -> None:
    """By the time for all of it where it is slow, by its size where that comes first."""
    wire = WIRES[list(ENDLESS).index(kind) % len(WIRES)]

    async def scenario() -> None:
        async with world() as w, endless(wire, kind, times) as upstream:
            longest = 0.2 if times == 1 or kind == "informs" else 20.0
            limits = replace(
                w.gateway.settings, upstream=upstream, reply_timeout=longest, max_body=1 << 20
            )
            raw = json.dumps(wire.request(KNOWN, TOOLS, stream))
            gateway = Gateway(LIBRARY, limits)
            async with (
                served(gateway.app(), auto_decompress=False) as url,
                aiohttp.ClientSession() as http,
                http.post(f"{url}{wire.path}", data=raw) as response,
            ):
                data = await response.read()
            assert b"lend_book" not in data
            if response.status == 200:
                assert stream and is_error(read_sse(data)[0][-1])
            else:
                assert response.status in (502, 504)
                assert json.loads(data)["error"]["message"]
            assert gateway.metrics.active == 0
            assert not gateway.metrics.decisions

    run(scenario())
