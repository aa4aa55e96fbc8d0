"""An answer reads the same however it is written: in one piece, or by the library."""

from __future__ import annotations

import asyncio
import json
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from ledgeragent.gateway.wholeresponse import WholeResponse
from tests.gateway.upstream import Respond
from tests.gateway.wires import CHAT, Wire
from tests.gateway.world import HELLO, SAY, TOOLS, run, world

BODY = json.dumps(CHAT.request((HELLO,), TOOLS, False)).encode()
OURS = ("date", "server", "content-type", "content-length", "x-request-id")


def naming(name: str) -> Respond:
    async def respond(request: web.Request, wire: Wire, body: dict[str, object]) -> web.Response:
        return web.json_response(wire.answer(SAY, "r"), headers={"x-request-id": name})

    return respond


async def asked(url: str, version: str, connection: str, times: int = 1) -> list[str]:
    """The answers to the same request on one connection, as they came."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
    head = f"POST {CHAT.path} HTTP/{version}\r\nhost: localhost\r\nconnection: {connection}\r\n"
    answers = []
    for _ in range(times):
        writer.write(f"{head}content-length: {len(BODY)}\r\n\r\n".encode() + BODY)
        told = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        size = told.split("content-length: ")[1].split("\r\n")[0]
        answers.append(told + (await reader.readexactly(int(size))).decode())
    if connection == "close":
        assert await reader.read() == b""
    writer.close()
    return answers


@pytest.mark.parametrize("version", ["1.1", "1.0"])
@pytest.mark.parametrize("connection", ["keep-alive", "close"])
def test_an_answer_has_each_header_once(version: str, connection: str) -> None:
    times = 2 if connection == "keep-alive" else 1

    async def scenario() -> None:
        async with world(*[naming("req-1")] * times) as w:
            for answer in await asked(w.url, version, connection, times):
                head, body = answer.split("\r\n\r\n")
                assert head.startswith(f"http/{version} 200 ok\r\n")
                assert [head.count(f"\r\n{name}: ") for name in OURS] == [1] * len(OURS)
                assert "\r\nx-request-id: req-1" in head
                is_said = "connection: " in head
                assert is_said == (
                    (version, connection) in {("1.1", "close"), ("1.0", "keep-alive")}
                )
                assert SAY.text.lower() in body.lower()

    run(scenario())


def test_a_header_that_would_be_two_is_not_written() -> None:
    with pytest.raises(ValueError, match="line end"):
        WholeResponse(b"{}", {"content-type": "application/json", "x-a": "b\r\nx-c: d"})
