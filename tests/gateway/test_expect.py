"""Clients that wait to be told that their body may come: they are told so once, when they may ask."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from urllib.parse import urlsplit

import pytest
from aiohttp import web

from ledgeragent.gateway.server import Gateway, Settings
from ledgeragent.gateway.serving import runner_of
from ledgeragent.gateway.switchboard import Switchboard
from ledgeragent.stores.base import ProcessStore
from tests.gateway.upstream import Upstream
from tests.gateway.wires import CHAT
from tests.gateway.world import HELLO, SAY, TOOLS, run, served
from tests.lending.domain import LIBRARY

BODY = json.dumps(CHAT.request((HELLO,), TOOLS, False)).encode()
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"


async def told(port: int, key: str, expects: str = "100-continue") -> bytes:
    """All that a client is told that sends its body with its headers."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = (
        f"POST {CHAT.path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {key}\r\n"
        f"expect: {expects}\r\nconnection: close\r\ncontent-length: {len(BODY)}\r\n\r\n"
    )
    writer.write(head.encode() + BODY)
    answer = await reader.read()
    writer.close()
    return answer


async def ask(gateway: Gateway, by: str, key: str, expects: str) -> bytes:
    if by == "app":
        async with served(gateway.app()) as url:
            return await told(urlsplit(url).port or 0, key, expects)
    board = Switchboard({"": gateway}, ProcessStore())
    runner = runner_of(board, 1.0, 5.0)
    await board.open()
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        return await told(runner.addresses[0][1], key, expects)
    finally:
        await runner.cleanup()
        await board.close()


@pytest.mark.parametrize("by", ["app", "port"])
@pytest.mark.parametrize("mode", ["enforce", "shadow"])
@pytest.mark.parametrize("expects", ["100-continue", "100-Continue"])
def test_a_client_that_waits_is_told_once(by: str, mode: str, expects: str) -> None:
    async def scenario() -> None:
        async with served(Upstream(deque([SAY])).app()) as behind:
            settings = Settings(upstream=behind, mode=mode, keys=frozenset({"sk-own"}))  # type: ignore[arg-type]
            answer = await ask(Gateway(LIBRARY, settings), by, "sk-own", expects)
            assert answer.startswith(CONTINUE + b"HTTP/1.1 200")
            assert answer.count(b"HTTP/1.1 ") == 2

    run(scenario())


@pytest.mark.parametrize("by", ["app", "port"])
def test_one_that_may_not_ask_is_not(by: str) -> None:
    async def scenario() -> None:
        async with served(Upstream(deque([SAY])).app()) as behind:
            settings = Settings(upstream=behind, keys=frozenset({"sk-own"}))
            answer = await ask(Gateway(LIBRARY, settings), by, "sk-other", "100-continue")
            assert answer.startswith(b"HTTP/1.1 401")

    run(scenario())
