"""The HTTP around the gateway: routes, limits, keys, shutdown."""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import ledgeragent
from ledgeragent.domain import Domain
from ledgeragent.errors import MissingExtraError
from ledgeragent.gate import Filtered, Gate
from ledgeragent.gateway.dialects.base import Body, Dialect, Request, decode, encode
from ledgeragent.gateway.dialects.chat import ChatDialect
from ledgeragent.gateway.dialects.messages import MessagesDialect
from ledgeragent.gateway.dialects.responses import ResponsesDialect
from ledgeragent.gateway.errors import (
    BadRequestError,
    GatewayError,
    OverloadedError,
    TooLargeError,
    UnknownKeyError,
    UpstreamError,
)
from ledgeragent.gateway.exchange import Exchange
from ledgeragent.gateway.memory import Histories
from ledgeragent.gateway.metrics import Metrics
from ledgeragent.gateway.notices import Notices
from ledgeragent.gateway.openapi import openapi
from ledgeragent.gateway.recorder import MemoryRecorder
from ledgeragent.gateway.shadow import Shadow
from ledgeragent.gateway.sse import ServerEvent
from ledgeragent.gateway.storage import SessionStorage
from ledgeragent.gateway.upstream import Upstream, UpstreamLine
from ledgeragent.gateway.visits import Visit, Visitor, Visits
from ledgeragent.gateway.words import VERDICT_HEADER, verdict_header
from ledgeragent.journal import Journal
from ledgeragent.journal.recorder import Mode
from ledgeragent.stores.base import ProcessStore, SessionStore
from ledgeragent.verdict import Decision

try:
    from aiohttp import web
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

if TYPE_CHECKING:
    from ledgeragent.gateway.spans import RequestTrace, Spans

SESSION_HEADER = "x-ledgeragent-session"
_CREDENTIALS = ("authorization", "x-api-key", "api-key")
_LONGEST_NAME = 200
_PLAIN = re.compile("[ -~]+")
_JSON = "application/json"
_SSE = {"content-type": "text/event-stream", "cache-control": "no-cache"}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a gateway runs. Sizes in bytes, times in seconds.

    `max_remembered` bounds the histories that are kept, each counted with the size of its request.
    `keys` are the gateway's own API keys (none: whoever reaches the port may use it), and
    `upstream_key` is what goes upstream instead of the client's. `unknown` answers calls of tools
    that the domain does not list, `undecided` calls with a rule whose record no tool of the domain
    supplies. Which tools those are says whoever runs the gateway, never a request.
    """

    upstream: str
    mode: Mode = "enforce"
    max_revisions: int = 1
    max_body: int = 8 << 20
    timeout: float = 600.0
    max_concurrent: int = 1_000
    max_remembered: int = 256 << 20
    keys: frozenset[str] = frozenset()
    upstream_key: str | None = None
    context_role: str = "system"
    unknown: Decision = Decision.REVISE
    undecided: Decision = Decision.BLOCK


class Gateway:
    """One domain in front of one upstream."""

    def __init__(
        self,
        domain: Domain,
        settings: Settings,
        *,
        journal: Journal | None = None,
        store: SessionStore | None = None,
        spans: Spans | None = None,
    ) -> None:
        self.settings = settings
        self.metrics = Metrics(tools=frozenset(tool.tool for tool in domain.tools))
        self.memories = Histories(settings.max_remembered)
        self._domain = domain
        self._spans = spans
        self._store = SessionStorage(store if store is not None else ProcessStore())
        self._notices = Notices(self.metrics)
        self._recorder = MemoryRecorder(domain, journal, notices=self._notices)
        self._visits = Visits(self.memories, self._store, self._recorder)
        self._gate = Gate(domain=domain, unknown=settings.unknown, undecided=settings.undecided)
        guards = ((tool.tool, domain.guard(tool.tool)) for tool in domain.tools)
        self._passes = frozenset(name for name, guard in guards if guard and not guard.judged)
        self._upstream = Upstream(
            settings.upstream,
            key=settings.upstream_key,
            timeout=settings.timeout,
            limit=max(settings.max_body, 1 << 20),
        )

    def app(self) -> web.Application:
        """The web application, ready to be served."""
        app = web.Application(client_max_size=self.settings.max_body)
        role = self.settings.context_role
        for dialect in (ChatDialect(role), MessagesDialect(), ResponsesDialect(role)):
            app.router.add_post(dialect.path, self._counted(dialect))
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/metrics", self._metrics)
        app.router.add_get("/openapi.json", self._openapi)
        app.cleanup_ctx.append(self._resources)
        return app

    async def _resources(self, app: web.Application) -> AsyncIterator[None]:
        await self._store.open()
        await self._upstream.open()
        yield
        await self._upstream.close()
        await self._store.close()

    def _counted(self, dialect: Dialect) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            started = time.perf_counter()
            self.metrics.active += 1
            status = 499
            trace = self._spans.begin(dialect.path, request.headers) if self._spans else None
            try:
                response = await self._guarded(dialect, request, trace)
                status = response.status
                return response
            finally:
                self.metrics.active -= 1
                self.metrics.answered(dialect.path, status, time.perf_counter() - started)
                if trace is not None:
                    trace.end(status)

        return handle

    async def _guarded(
        self, dialect: Dialect, request: web.Request, trace: RequestTrace | None
    ) -> web.StreamResponse:
        """The answer, or what keeps it from being given, each in the dialect's own form."""
        try:
            self._admit(request)
            raw = await self._body(request)
            if self.settings.mode == "shadow":
                return await self._shadowed(dialect, request, raw, trace)
            return await self._enforced(dialect, request, raw, trace)
        except UpstreamError as answer:
            return web.Response(status=answer.status, body=answer.body, headers=answer.headers)
        except GatewayError as problem:
            return _problem(dialect, problem)

    async def _enforced(
        self, dialect: Dialect, request: web.Request, raw: bytes, trace: RequestTrace | None
    ) -> web.StreamResponse:
        body, conversation = _read(dialect, raw)
        visit = await self._visits.open(conversation, self._visitor(request, len(raw)))
        line, gate = self._line(request), self._gate
        if trace is not None:
            trace.read(body, stream=conversation.stream, session=visit.memory.session)
            line, gate = trace.line(line), trace.gate(gate)
        exchange = Exchange(
            dialect=dialect,
            gate=gate,
            passes=self._passes,
            body=body,
            memory=visit.memory,
            recorder=self._recorder,
            settle=visit.settle,
            max_revisions=self.settings.max_revisions,
        )
        try:
            if conversation.stream:
                return await self._stream(request, exchange, line)
            return await self._answer(exchange, line)
        finally:
            self._over(exchange, trace)
            if not visit.settled:
                await visit.release()

    async def _body(self, request: web.Request) -> bytes:
        try:
            return await request.read()
        except web.HTTPRequestEntityTooLarge:
            limit = self.settings.max_body
            raise TooLargeError(f"the request is larger than {limit} bytes") from None

    def _line(self, request: web.Request) -> UpstreamLine:
        return UpstreamLine(self._upstream, request.path, self._upstream.headers(request.headers))

    def _over(self, exchange: Exchange, trace: RequestTrace | None) -> None:
        self.metrics.upstream_calls += exchange.upstream_calls
        self.metrics.judged(exchange.verdicts)
        self._notices.judged(exchange.memory.session, exchange.verdicts)
        if trace is not None:
            trace.judged(exchange.verdicts, len(exchange.rejected))
            if exchange.problem is not None:
                trace.failed(exchange.problem)

    async def _answer(self, exchange: Exchange, line: UpstreamLine) -> web.StreamResponse:
        answer = await exchange.answer(line.ask)
        return web.Response(
            body=answer, content_type=_JSON, headers=_verdict_headers(exchange.verdicts)
        )

    async def _stream(
        self, request: web.Request, exchange: Exchange, line: UpstreamLine
    ) -> web.StreamResponse:
        events = exchange.stream(line.listen)
        async with aclosing(events):
            first = await anext(events)
            response = web.StreamResponse(headers=_SSE)
            await response.prepare(request)
            await response.write(_encoded(first))
            async for out in events:
                await response.write(_encoded(out))
            await response.write_eof()
        return response

    async def _shadowed(
        self, dialect: Dialect, request: web.Request, raw: bytes, trace: RequestTrace | None
    ) -> web.StreamResponse:
        """Hands request and answer on untouched. What cannot be read is counted as unjudged."""
        line = self._line(request)
        streams = False
        visit: Visit | None = None
        shadow: Shadow | None = None
        try:
            body, conversation = _read(dialect, raw)
            streams = conversation.stream
            visit = await self._visits.open(conversation, self._visitor(request, len(raw)))
            gate = self._gate
            if trace is not None:
                trace.read(body, stream=streams, session=visit.memory.session)
                gate = trace.gate(gate)
            shadow = Shadow(
                dialect=dialect, gate=gate, memory=visit.memory, recorder=self._recorder
            )
        except GatewayError:
            self.metrics.unjudged += 1
        self.metrics.upstream_calls += 1
        chunks = (line if trace is None else trace.line(line)).chunks(raw)
        try:
            async with aclosing(chunks):
                if streams:
                    return await self._passed_on(request, chunks, visit, shadow)
                answer = b"".join([chunk async for chunk in chunks])
            await self._overheard(visit, shadow, [answer], streams=False)
            headers = _verdict_headers(shadow.verdicts) if shadow is not None else {}
            return web.Response(body=answer, content_type=_JSON, headers=headers)
        finally:
            if trace is not None and shadow is not None:
                trace.judged(shadow.verdicts, 0)
            if visit is not None and not visit.settled:
                await visit.release()

    async def _passed_on(
        self,
        request: web.Request,
        chunks: AsyncIterator[bytes],
        visit: Visit | None,
        shadow: Shadow | None,
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers=_SSE)
        parts: list[bytes] = []
        try:
            async for chunk in chunks:
                if not response.prepared:
                    await response.prepare(request)
                parts.append(chunk)
                await response.write(chunk)
        except GatewayError:
            if not response.prepared:
                raise
            self.metrics.unjudged += 1
            if request.transport is not None:  # Cut off without an end, as upstream cut it off.
                request.transport.close()
            return response
        await self._overheard(visit, shadow, parts, streams=True)
        await response.prepare(request)
        await response.write_eof()
        return response

    async def _overheard(
        self, visit: Visit | None, shadow: Shadow | None, chunks: list[bytes], *, streams: bool
    ) -> None:
        if visit is None or shadow is None:
            return
        try:
            await visit.settle(shadow.hear_stream(chunks) if streams else shadow.hear(chunks[0]))
        except GatewayError:
            self.metrics.unjudged += 1
        self.metrics.judged(shadow.verdicts)
        self._notices.judged(shadow.memory.session, shadow.verdicts)

    def _admit(self, request: web.Request) -> None:
        if self.metrics.active > self.settings.max_concurrent:
            raise OverloadedError("the gateway is at its limit; try again")
        keys = self.settings.keys
        if keys and not any(_credential(request, name) in keys for name in _CREDENTIALS):
            raise UnknownKeyError("the API key is not one of this gateway's")

    def _visitor(self, request: web.Request, size: int) -> Visitor:
        name = request.headers.get(SESSION_HEADER)
        if name is not None and not (0 < len(name) <= _LONGEST_NAME and _PLAIN.fullmatch(name)):
            form = f"1 to {_LONGEST_NAME} printable characters of ASCII"
            raise BadRequestError(f"{SESSION_HEADER}: should be {form}")
        scope = _scope(*(_credential(request, header) for header in _CREDENTIALS))
        return Visitor(name=name, scope=scope, size=size)

    async def _models(self, request: web.Request) -> web.StreamResponse:
        try:
            self._admit(request)
            headers = self._upstream.headers(request.headers)
            status, body, reply_headers = await self._upstream.get(request.path_qs, headers)
        except GatewayError as problem:
            return _problem(ChatDialect(), problem)
        return web.Response(status=status, body=body, headers=reply_headers)

    async def _healthz(self, request: web.Request) -> web.Response:
        health = {"status": "ok", "domain": self._domain.name, "version": self._domain.version}
        return web.json_response(health)

    async def _openapi(self, request: web.Request) -> web.Response:
        return web.json_response(openapi(ledgeragent.__version__))

    async def _metrics(self, request: web.Request) -> web.Response:
        return web.Response(text=self.metrics.text(), content_type="text/plain")


def _read(dialect: Dialect, raw: bytes) -> tuple[Body, Request]:
    try:
        body = decode(raw)
    except ValueError as problem:
        raise BadRequestError(f"the body cannot be read: {problem}") from None
    return body, dialect.conversation(body)


def _problem(dialect: Dialect, problem: GatewayError) -> web.Response:
    status, headers = problem.status, problem.headers
    body = encode(dialect.error(status, str(problem)))
    return web.Response(status=status, body=body, content_type=_JSON, headers=headers)


def _encoded(events: Sequence[ServerEvent]) -> bytes:
    return b"".join([event.encode() for event in events])


@lru_cache(1024)
def _scope(*credentials: str) -> str:
    joined = "\n".join(credentials)
    return hashlib.blake2b(joined.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _credential(request: web.Request, name: str) -> str:
    return request.headers.get(name, "").removeprefix("Bearer ")


def _verdict_headers(replies: Sequence[Filtered]) -> dict[str, str]:
    header = verdict_header(replies)
    return {VERDICT_HEADER: header} if header else {}


async def serve(
    gateway: Gateway, host: str, port: int, ready: Callable[[int], None], until: asyncio.Event
) -> None:
    """Serves until `until` is set; then no new request is taken and those under way are finished."""
    runner = web.AppRunner(
        gateway.app(), handler_cancellation=True, shutdown_timeout=30.0, access_log=None
    )
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    try:
        await site.start()
        ready(runner.addresses[0][1])
        await until.wait()
    finally:
        await runner.cleanup()
