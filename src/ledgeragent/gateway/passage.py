"""Passage: shadow mode's way through. Bytes pass as they are, and the judge listens beside them.

Whatever the judge cannot do (read, keep, record, or be done in time) is counted and told, and changes
nothing for the client.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ledgeragent.errors import MissingExtraError
from ledgeragent.gateway.account import Account
from ledgeragent.gateway.coding import ACCEPTED, Unpacker, coding_of, unpacked
from ledgeragent.gateway.dialects.base import Request
from ledgeragent.gateway.enforcer import upstream_id, verdict_headers
from ledgeragent.gateway.equipment import Equipment
from ledgeragent.gateway.errors import GatewayError
from ledgeragent.gateway.headers import response_headers
from ledgeragent.gateway.inbound import Inbound
from ledgeragent.gateway.shadow import Shadow
from ledgeragent.gateway.upstream import Upstream
from ledgeragent.gateway.visits import Visit, Visitor
from ledgeragent.gateway.words import verdict_header
from ledgeragent.text import visible

try:
    import aiohttp
    from aiohttp import web
    from multidict import CIMultiDictProxy
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

if TYPE_CHECKING:
    from ledgeragent.gateway.upstreamspan import UpstreamSpan

log = logging.getLogger("ledgeragent.gateway")

PATIENCE = 5.0
"""How many seconds an answer may wait for the judge's session store before it goes on without."""

_ACCEPTS = re.compile(rf"(?:^|,)\s*{ACCEPTED}\s*(?:,|$|;(?!\s*q=0(?:\.0*)?\s*(?:,|$)))")
_FORMS = 100
"""How many different reasons are logged; all are counted."""


@dataclass(slots=True)
class Overheard:
    """A plain copy of a body that passes; `problem` says why there is none, or not the whole of it."""

    coding: str
    limit: int
    parts: list[bytes] = field(default_factory=list)
    problem: str = ""
    _size: int = 0
    _unpacker: Unpacker | None = None

    def add(self, chunk: bytes) -> list[bytes]:
        """What this much more of it holds; nothing any more, once there is a problem."""
        if self.problem:
            return []
        try:
            self._unpacker = self._unpacker or Unpacker(self.coding)
            return [self._added(piece) for piece in self._unpacker.feed(chunk)]
        except ValueError as problem:
            self.parts.clear()
            self.problem = f"the answer cannot be read: {problem}"
            return []

    def _added(self, piece: bytes) -> bytes:
        self._size += len(piece)
        if self._size > self.limit:
            raise ValueError(f"it is over {self.limit} bytes")
        self.parts.append(piece)
        return piece


@dataclass(slots=True)
class Listener:
    """The judge's side of one request; `problem` says what it could not do."""

    equipment: Equipment
    inbound: Inbound
    visit: Visit | None = None
    shadow: Shadow | None = None
    problem: str = ""

    async def open(self, conversation: Request, visitor: Visitor) -> None:
        """Finds the conversation, as the gate would."""
        try:
            roster = self.equipment.rosters.of(conversation)
            self.visit = await self.equipment.visits.open(
                roster.conversation(conversation), visitor, roster.recorder
            )
            memory = self.visit.memory
            gate = self.inbound.belongs(self.visit, roster.gate)
            self.shadow = Shadow(
                dialect=roster.dialect(self.inbound.dialect),
                gate=gate,
                memory=memory,
                recorder=roster.recorder,
                bound=self.equipment.bound,
            )
        except Exception as problem:
            self.problem = sentence(problem)

    async def hear(self, copy: Overheard, *, streams: bool) -> None:
        """Judges the answer, and keeps what is known after it."""
        if copy.problem or self.visit is None or self.shadow is None:
            self.problem = self.problem or copy.problem or "the session store took too long"
            return
        try:
            hear = self.shadow.hear_stream if streams else self.shadow.hear_parts
            async with asyncio.timeout(PATIENCE):
                settlements = hear(copy.parts)
                await self.shadow.recorder.written(self.shadow.memory)
                await self.visit.settle(settlements)
        except Exception as problem:
            self.problem = sentence(problem)

    async def close(self) -> None:
        """Tells what was judged, and lets the conversation go."""
        if self.shadow is not None:
            verdicts = self.shadow.verdicts
            self.inbound.account.verdicts = verdict_header(verdicts)
            self.equipment.shadowed(self.shadow.memory.session, verdicts)
            if self.inbound.trace is not None:
                self.inbound.trace.judged(verdicts, 0)
        if self.visit is not None and not self.visit.settled:
            with suppress(Exception):
                async with asyncio.timeout(PATIENCE):
                    await self.visit.release()


class Passage:
    """Hands requests and answers on untouched, and has those of the three formats judged."""

    def __init__(self, upstream: Upstream, equipment: Equipment) -> None:
        self._upstream = upstream
        self._equipment = equipment
        self._reasons: set[str] = set()

    async def answer(
        self, inbound: Inbound, raw: bytes, rest: AsyncIterator[bytes] | None = None
    ) -> web.StreamResponse:
        """The upstream's answer as it is. `rest` comes behind `raw` where that is not the whole."""
        listener = Listener(self._equipment, inbound)
        opening = asyncio.create_task(self._begin(listener, raw, is_whole=rest is None))
        self._equipment.metrics.upstream_calls += 1
        inbound.account.upstream_calls = 1
        try:
            return await self._judged(inbound, listener, opening, _body(raw, rest))
        finally:
            opening.cancel()
            await listener.close()
            if listener.problem:
                self._unjudged(listener.problem)
                inbound.account.problem = inbound.account.problem or "unjudged"

    async def beside(
        self, request: web.BaseRequest, account: Account, url: str, headers: Mapping[str, str]
    ) -> web.StreamResponse:
        """What no format has a route for, handed on as it is."""
        body = request.content.iter_any() if request.body_exists else None
        outgoing = {**headers, **_coding(request.headers), **_form(request)}
        async with self._upstream.request(request.method, url, outgoing, body) as answer:
            response = _response(answer, account)
            account.has_begun = True
            await response.prepare(request)
            async for chunk in answer.content.iter_any():
                account.returned += len(chunk)
                await response.write(chunk)
            await response.write_eof()
            return response

    async def _begin(self, listener: Listener, raw: bytes, *, is_whole: bool) -> None:
        inbound = listener.inbound
        try:
            if not is_whole:
                raise ValueError("the request is longer than what is judged")
            plain = unpacked(raw, coding_of(inbound.request.headers), self._upstream.limit)
            visitor = inbound.visitor(len(plain))
            _, conversation = await inbound.read(plain, visitor, self._equipment)
        except Exception as problem:
            listener.problem = sentence(problem)
            return
        await listener.open(conversation, visitor)

    async def _judged(
        self, inbound: Inbound, listener: Listener, opening: asyncio.Task[None], body: Any
    ) -> web.StreamResponse:
        # One step of the loop: the body is read before it goes on, so that spans know its model.
        await asyncio.sleep(0)
        request = inbound.request
        headers = dict(inbound.line.headers) | _coding(request.headers) | _form(request)
        span = inbound.trace.call(inbound.line) if inbound.trace is not None else nullcontext()
        with span as call:
            outgoing = call.telling(headers) if call is not None else headers
            async with self._upstream.request("POST", inbound.line.url, outgoing, body) as answer:
                inbound.line.returned = response_headers(answer.headers.items())
                inbound.account.upstream_id = upstream_id(inbound.line.returned)
                return await self._passed_on(answer, listener, opening, call)

    async def _passed_on(
        self,
        answer: aiohttp.ClientResponse,
        listener: Listener,
        opening: asyncio.Task[None],
        call: UpstreamSpan | None,
    ) -> web.StreamResponse:
        inbound = listener.inbound
        copy = Overheard(coding_of(answer.headers), self._upstream.limit)
        streams = inbound.account.stream or answer.content_type == "text/event-stream"
        response = _response(answer, inbound.account)
        waiting: list[bytes] = []
        try:
            async for chunk in answer.content.iter_any():
                inbound.account.returned += len(chunk)
                for piece in copy.add(chunk):
                    if call is not None:
                        call.heard(piece)
                waiting.append(chunk)
                if streams or copy.problem:
                    await _write(inbound, response, waiting)
            if answer.status < 300:
                await asyncio.wait([opening], timeout=PATIENCE)
                await listener.hear(copy, streams=streams)
        except (aiohttp.ClientError, TimeoutError) as problem:
            if not response.prepared:
                raise
            listener.problem = f"the answer broke off: {type(problem).__name__}"
            inbound.account.problem = "BadReplyError"
            if inbound.request.transport is not None:  # Cut off as upstream cut it off.
                inbound.request.transport.close()
            return response
        if not response.prepared and listener.shadow is not None:
            response.headers.update(verdict_headers(listener.shadow.verdicts))
        await _write(inbound, response, waiting)
        await response.write_eof()
        return response

    def _unjudged(self, reason: str) -> None:
        self._equipment.metrics.unjudged += 1
        if reason not in self._reasons and len(self._reasons) < _FORMS:
            self._reasons.add(reason)
            log.warning("a request passed unjudged: %s", visible(reason))


async def _write(inbound: Inbound, response: web.StreamResponse, waiting: list[bytes]) -> None:
    if not response.prepared:
        inbound.account.has_begun = True
        await response.prepare(inbound.request)
    for chunk in waiting:
        await response.write(chunk)
    waiting.clear()


def _response(answer: aiohttp.ClientResponse, account: Account) -> web.StreamResponse:
    headers = response_headers(answer.headers.items(), same_bytes=True)
    return web.StreamResponse(status=answer.status, headers=headers | account.headers)


def _body(raw: bytes, rest: AsyncIterator[bytes] | None) -> Any:
    """The body as it came, in one piece where it has."""
    if rest is None:
        return raw
    return _chained(raw, rest)


async def _chained(raw: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield raw
    async for chunk in rest:
        yield chunk


def _coding(headers: CIMultiDictProxy[str]) -> dict[str, str]:
    """How the upstream may pack its answer: in a way that client and judge both know."""
    accepted = ",".join(headers.getall("accept-encoding", ())).lower()
    return {"accept-encoding": ACCEPTED if _ACCEPTS.search(accepted) else "identity"}


def _form(request: web.BaseRequest) -> dict[str, str]:
    """How long the body is, and how it is packed: it goes on as it came."""
    headers = request.headers
    names = ("content-length", "content-encoding")
    return {name: ", ".join(headers.getall(name)) for name in names if name in headers}


def sentence(problem: Exception) -> str:
    """Why something was not done, for whoever runs the gateway."""
    if isinstance(problem, TimeoutError):
        return "the session store took too long"
    is_told = isinstance(problem, GatewayError | ValueError | OverflowError)
    words = str(problem) if is_told else repr(problem)
    return " ".join(words.split())[:300]
