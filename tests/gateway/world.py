"""A client, a gateway over the lending library, and a scripted upstream, all on real ports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from ssl import SSLContext
from typing import Any

import aiohttp
from aiohttp import web

from ledgeragent.domain import Domain
from ledgeragent.gateway.server import Gateway, Settings
from ledgeragent.gateway.serving import SILENT_SECONDS, runner_of
from ledgeragent.gateway.words import VERDICT_HEADER
from ledgeragent.journal import Journal
from ledgeragent.stores.base import SessionStore
from ledgeragent.types import Message, Reply, ToolCall, UserMessage
from tests.gateway.upstream import Play, Upstream
from tests.gateway.wires import Wire
from tests.lending.domain import (
    ADA,
    BOOK_IN,
    BOOK_OUT,
    GET_BOOK,
    GET_MEMBER,
    LEND,
    LIBRARY,
    answer,
    call,
)

HELLO = UserMessage(text="Lend me Ferns, please.")
TOOLS = tuple(sorted({tool.tool for tool in LIBRARY.tools}))
SAY = Reply(text="Good morning.")
READ = Reply(calls=(GET_MEMBER, GET_BOOK))
WRITE = Reply(calls=(LEND,))
LONG = Reply(
    text="Four months it is.",
    calls=(call("lend_book", "long", member_id="M1", book_id="B1", days=120),),
)
MIXED = Reply(text="Let me see.", calls=(GET_MEMBER, GET_BOOK, LEND))
UNKNOWN = Reply(calls=(call("burn_book", "burn", book_id="B1"),))
KNOWN: tuple[Message, ...] = (HELLO, READ, answer(GET_MEMBER, ADA), answer(GET_BOOK, BOOK_IN))
OWES: tuple[Message, ...] = (
    HELLO,
    READ,
    answer(GET_MEMBER, {**ADA, "fines": 3.5}),
    answer(GET_BOOK, BOOK_IN),
)
OUT: tuple[Message, ...] = (HELLO, READ, answer(GET_MEMBER, ADA), answer(GET_BOOK, BOOK_OUT))


@dataclass(frozen=True)
class Answer:
    """What the client got: `reply` is None unless the status is 200 and it can be read."""

    status: int
    headers: dict[str, str]
    body: Any
    events: tuple[Any, ...]
    comments: tuple[str, ...]
    reply: Reply | None

    @property
    def verdicts(self) -> str:
        told = [c.partition(": ")[2] for c in self.comments if c.startswith(VERDICT_HEADER)]
        return self.headers.get(VERDICT_HEADER, "".join(told))

    @property
    def called(self) -> list[str]:
        assert self.reply is not None
        return [made.name for made in self.reply.calls]


@dataclass
class World:
    """Everything a scenario needs."""

    upstream: Upstream
    gateway: Gateway
    url: str
    http: aiohttp.ClientSession

    async def ask(
        self,
        wire: Wire,
        messages: Sequence[Message],
        *,
        stream: bool = False,
        headers: dict[str, str] | None = None,
        tools: Sequence[str] = TOOLS,
        **changes: Any,
    ) -> Answer:
        body = {**wire.request(messages, tools, stream), **changes}
        return await self.post(wire, json.dumps(body).encode(), headers)

    async def release(
        self, wire: Wire, headers: dict[str, str], *, reply: Reply = READ, stream: bool = False
    ) -> None:
        """The first request of a named session, answered with these calls: so they are released."""
        self.upstream.script.appendleft(reply)
        got = await self.ask(wire, (HELLO,), stream=stream, headers=headers)
        assert got.reply == reply

    async def post(self, wire: Wire, raw: bytes, headers: dict[str, str] | None = None) -> Answer:
        async with self.http.post(f"{self.url}{wire.path}", data=raw, headers=headers) as response:
            data = await response.read()
            told = {name.lower(): value for name, value in response.headers.items()}
            if response.content_type == "text/event-stream":
                events, comments = read_sse(data)
                broken = any(e != "[DONE]" and is_error(e) for e in events)
                reply = None if broken else wire.read_events(events)
                return Answer(response.status, told, None, events, comments, reply)
            try:
                body = json.loads(data)
            except ValueError:
                body = data
            reply = wire.read(body) if response.status == 200 else None
            return Answer(response.status, told, body, (), (), reply)


def is_error(event: Any) -> bool:
    return "error" in event or event.get("type") in ("error", "response.failed")


def read_sse(data: bytes) -> tuple[tuple[Any, ...], tuple[str, ...]]:
    events, comments = [], []
    blocks = data.decode().split("\n\n")
    assert blocks.pop() == ""
    for block in blocks:
        for line in block.split("\n"):
            if line.startswith(": "):
                comments.append(line[2:])
            elif line.startswith("data: "):
                text = line[6:]
                events.append(text if text == "[DONE]" else json.loads(text))
    return tuple(events), tuple(comments)


@asynccontextmanager
async def world(
    *script: Play,
    journal: Journal | None = None,
    store: SessionStore | None = None,
    domain: Domain = LIBRARY,
    spans: Any = None,
    console: Any = None,
    **settings: Any,
) -> AsyncIterator[World]:
    """The world with an upstream that plays `script`."""
    upstream = Upstream()
    upstream.script.extend(script)
    async with served(upstream.app()) as behind:
        asked = Settings(upstream=behind, **settings)
        gateway = Gateway(domain, asked, journal=journal, store=store, spans=spans, console=console)
        async with (
            ported(gateway) as url,
            aiohttp.ClientSession() as http,
        ):
            yield World(upstream, gateway, url, http)


@asynccontextmanager
async def ported(gateway: Gateway) -> AsyncIterator[str]:
    """The gateway on a port of its own, as the command serves it."""
    runner = runner_of(gateway, 0.1, SILENT_SECONDS)
    await gateway.open()
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()
        await gateway.close()


@asynccontextmanager
async def served(
    app: web.Application, *, auto_decompress: bool = True, ssl: SSLContext | None = None
) -> AsyncIterator[str]:
    runner = web.AppRunner(
        app,
        handler_cancellation=True,
        shutdown_timeout=0.1,
        access_log=None,
        auto_decompress=auto_decompress,
    )
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=ssl)
    await site.start()
    try:
        yield f"{'https' if ssl else 'http'}://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


def run(scenario: Coroutine[Any, Any, None]) -> None:
    """Plays a scenario to its end."""
    asyncio.run(asyncio.wait_for(scenario, 30))


def given(*calls: ToolCall, text: str = "") -> Reply:
    return Reply(text=text, calls=calls)
