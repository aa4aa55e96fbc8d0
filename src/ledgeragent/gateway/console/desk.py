"""The console's pages: two that hold no data, and the data, for whoever has the console's key."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from string import Template
from typing import TypeAlias

from ledgeragent.errors import LedgerAgentError, MissingExtraError
from ledgeragent.gateway.access import Access
from ledgeragent.gateway.console.feed import ConsoleFeed, Watcher
from ledgeragent.gateway.errors import BadRequestError, OverloadedError
from ledgeragent.types import Json

try:
    from aiohttp import web
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

SessionView: TypeAlias = Callable[[Sequence[str]], Json]
"""The records of a conversation as the viewer's page takes them. Raises LedgerAgentError or ValueError."""


@dataclass(frozen=True, slots=True)
class Console:
    """What a gateway has to have for a console. `viewer` is the viewer's page, without a run."""

    feed: ConsoleFeed
    view: SessionView
    viewer: str


PATIENCE = 15.0
"""Seconds after which who watches, and does not take what it is told, is let go."""

_MOST_WATCHERS = 16
_TICK = 1.0
_ALIVE = 15
_HEADERS = {
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleDesk:
    """What is served under `/console`. `is_over` tells when a page that watches has to be let go."""

    console: Console
    access: Access
    is_over: Callable[[], bool]
    _viewing: asyncio.Lock = field(default_factory=asyncio.Lock)

    def pages(self) -> dict[str, Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]]:
        """The pages by their paths."""
        return {
            "/console": self.page,
            "/console/view": self.viewer_page,
            "/console/state": self.state,
            "/console/rules": self.rules,
            "/console/session": self.session,
            "/console/events": self.events,
        }

    async def page(self, request: web.BaseRequest) -> web.Response:
        """The page. It holds nothing; its script asks for the key, and with that for the rest."""
        return web.Response(text=_page(), content_type="text/html", headers=_guarded(_policy()))

    async def viewer_page(self, request: web.BaseRequest) -> web.Response:
        """The viewer, which shows what the page around it gives to it."""
        policy = {"content-security-policy": "frame-ancestors 'self'"}
        return web.Response(
            text=self.console.viewer, content_type="text/html", headers={**_HEADERS, **policy}
        )

    async def state(self, request: web.BaseRequest) -> web.Response:
        """Rules, conversations and the latest verdicts. UnknownKeyError without the key."""
        self.access.check_console_key(request.headers)
        return web.json_response(self.console.feed.state(), headers=_HEADERS)

    async def rules(self, request: web.BaseRequest) -> web.Response:
        """Every rule's counts and latest cases. UnknownKeyError without the key."""
        self.access.check_console_key(request.headers)
        return web.json_response(self.console.feed.rules(), headers=_HEADERS)

    async def session(self, request: web.BaseRequest) -> web.Response:
        """One conversation with its ledger. UnknownKeyError, or BadRequestError for one not known."""
        self.access.check_console_key(request.headers)
        lines = self.console.feed.lines(request.query.get("name", ""))
        if lines is None:
            raise BadRequestError("name: this conversation is not known here, or not any more")
        try:
            # A long one takes seconds, for which nobody else would be answered.
            async with self._viewing:
                text = await asyncio.to_thread(lambda: json.dumps(self.console.view(lines)))
        except (LedgerAgentError, ValueError) as problem:
            raise BadRequestError(f"this conversation cannot be shown: {problem}") from None
        return web.json_response(text=text, headers=_HEADERS)

    async def events(self, request: web.BaseRequest) -> web.StreamResponse:
        """Verdicts as they come, as server-sent events. UnknownKeyError without the key."""
        self.access.check_console_key(request.headers)
        headers = {**_HEADERS, "content-type": "text/event-stream", "x-accel-buffering": "no"}
        if request.method == "HEAD":  # The library would write what comes behind it all the same.
            return web.Response(headers=headers)
        if self.console.feed.watchers >= _MOST_WATCHERS:
            raise OverloadedError(f"{_MOST_WATCHERS} pages watch already")
        watcher = self.console.feed.watch()
        try:
            response = web.StreamResponse(headers=headers)
            await response.prepare(request)
            await self._told(response, watcher)
            await response.write_eof()
            return response
        finally:
            self.console.feed.leave(watcher)

    async def _told(self, response: web.StreamResponse, watcher: Watcher) -> None:
        """Until it is over. ConnectionError for who does not read on, and would keep others out."""
        await response.write(b": watching\n\n")
        silent = 0
        while not self.is_over():
            event = await watcher.next(_TICK)
            silent = 0 if event is not None else silent + 1
            if event is None and silent % _ALIVE:
                continue
            line = b": alive\n\n" if event is None else f"data: {json.dumps(event)}\n\n".encode()
            try:
                async with asyncio.timeout(PATIENCE):
                    await response.write(line)
            except TimeoutError:
                raise ConnectionResetError("the page does not read on") from None


def _guarded(policy: str) -> Mapping[str, str]:
    return {**_HEADERS, "content-security-policy": policy, "x-frame-options": "DENY"}


@cache
def _page() -> str:
    return Template(_asset("page.html")).substitute(
        style=_asset("page.css"), script=_asset("page.js")
    )


@cache
def _policy() -> str:
    return (
        f"default-src 'none'; style-src {_hash('page.css')}; script-src {_hash('page.js')}; "
        "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


def _hash(name: str) -> str:
    digest = hashlib.sha256(_asset(name).encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _asset(name: str) -> str:
    return (files("ledgeragent.gateway.console") / name).read_text(encoding="utf-8")
