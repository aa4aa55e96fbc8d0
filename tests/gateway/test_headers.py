"""An upstream's headers, whatever stands in them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import pytest

from ledgeragent.gateway.headers import response_headers
from ledgeragent.gateway.server import Gateway
from ledgeragent.gateway.settings import Settings
from tests.gateway.conftest import Client
from tests.gateway.world import HELLO, SAY, TOOLS, ported, run
from tests.lending.domain import LIBRARY

CONTROLS = [chr(number) for number in (*range(1, 9), 11, 12, *range(14, 32), 127)]


@asynccontextmanager
async def answering(head: bytes, body: bytes) -> AsyncIterator[str]:
    """An upstream that answers anything with this."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = (await reader.readuntil(b"\r\n\r\n")).lower()
        await reader.readexactly(int(asked.partition(b"content-length: ")[2].split()[0]))
        length = f"connection: close\r\ncontent-length: {len(body)}\r\n\r\n".encode()
        writer.write(b"HTTP/1.1 200 OK\r\n" + head + length + body)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_a_header_that_no_client_could_be_sent_does_not_keep_the_answer(
    client: Client, mode: str
) -> None:
    wire, stream = client.wire, client.stream
    kind = "text/event-stream" if stream else "application/json"
    body = b"".join(wire.events(SAY, "r")) if stream else json.dumps(wire.answer(SAY, "r")).encode()
    odd = "".join(f"x-odd-{ord(one)}: a{one}b\r\n" for one in CONTROLS)
    head = f"content-type: {kind}\r\nx-plain: a\tb\r\n{odd}".encode()
    asked = json.dumps(wire.request((HELLO,), TOOLS, stream)).encode()

    async def scenario() -> None:
        async with (
            answering(head, body) as upstream,
            ported(Gateway(LIBRARY, Settings(upstream=upstream, mode=mode))) as url,
            aiohttp.ClientSession() as http,
            http.post(f"{url}{wire.path}", data=asked) as response,
        ):
            assert response.status == 200 and b"Good" in await response.read()
            assert response.headers["x-plain"] == "a\tb"
            assert not any(name.lower().startswith("x-odd") for name in response.headers)

    run(scenario())


@pytest.mark.parametrize("value", ["", "a\tb", "\u00e9", "\udce9", "\u2028", "\ud83d\ude00"])
def test_a_header_that_one_can_be_sent_stays(value: str) -> None:
    assert response_headers([("x-a", value), ("x-b", "\x00")]) == {"x-a": value}
