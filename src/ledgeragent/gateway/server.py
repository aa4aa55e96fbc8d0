"""The HTTP around the gateway: routes, limits, keys, metrics, shutdown."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ledgeragent.domain import Domain
from ledgeragent.errors import MissingExtraError
from ledgeragent.gate import Filtered, Gate
from ledgeragent.gateway.dialects.base import BadReplyError, BadRequestError, Body, Dialect
from ledgeragent.gateway.dialects.chat import Chat
from ledgeragent.gateway.exchange import Exchange, Mode
from ledgeragent.gateway.memory import ROOT, Memories, Memory, digest
from ledgeragent.gateway.sse import Event, Parser

try:
    import aiohttp
    from aiohttp import web
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

VERDICT_HEADER = "x-ledgeragent-verdict"
_FORWARDED = (
    "authorization",
    "x-api-key",
    "anthropic-version",
    "anthropic-beta",
    "openai-organization",
    "openai-project",
    "user-agent",
)
_RETURNED = ("retry-after", "x-request-id", "request-id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How a gateway runs. Sizes in bytes, times in seconds.

    `keys` are the gateway's own API keys (none: whoever reaches the port may use it); with them,
    `upstream_key` is what goes upstream instead of the client's.
    """

    upstream: str
    mode: Mode = "enforce"
    max_revisions: int = 1
    max_body: int = 8 << 20
    timeout: float = 600.0
    max_concurrent: int = 1_000
    keys: frozenset[str] = frozenset()
    upstream_key: str | None = None
    context_role: str = "system"


@dataclass(slots=True)
class Counters:
    """What `/metrics` shows."""

    requests: dict[tuple[str, int], int] = field(default_factory=dict)
    decisions: dict[tuple[str, str], int] = field(default_factory=dict)
    upstream_calls: int = 0
    seconds: float = 0.0
    active: int = 0


class UpstreamError(Exception):
    """An upstream answer that is handed on as it is, or the failure to get one."""

    def __init__(self, status: int, body: bytes, headers: Mapping[str, str]) -> None:
        super().__init__(status)
        self.status = status
        self.body = body
        self.headers = headers


class Gateway:
    """One domain in front of one upstream."""

    def __init__(self, domain: Domain, settings: Settings) -> None:
        self.settings = settings
        self.memories = Memories()
        self.counters = Counters()
        self._domain = domain
        self._gate_for: Callable[[frozenset[str]], Gate] = lru_cache(256)(self._bind)
        self._http: aiohttp.ClientSession | None = None

    def _bind(self, tools: frozenset[str]) -> Gate:
        return Gate(domain=self._domain.bind(tools) if tools else self._domain)

    def app(self) -> web.Application:
        """The web application, ready to be served."""
        app = web.Application(client_max_size=self.settings.max_body)
        for dialect in (Chat(self.settings.context_role),):
            app.router.add_post(dialect.path, self._handler(dialect))
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/metrics", self._metrics)
        app.cleanup_ctx.append(self._client)
        return app

    async def _client(self, app: web.Application) -> AsyncIterator[None]:
        timeout = aiohttp.ClientTimeout(total=self.settings.timeout)
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(timeout=timeout, connector=connector) as self._http:
            yield

    def _handler(self, dialect: Dialect) -> Callable[[web.Request], Any]:
        async def handle(request: web.Request) -> web.StreamResponse:
            started = time.perf_counter()
            self.counters.active += 1
            try:
                response = await self._serve(dialect, request)
            finally:
                self.counters.active -= 1
                self.counters.seconds += time.perf_counter() - started
            key = (dialect.path, response.status)
            self.counters.requests[key] = self.counters.requests.get(key, 0) + 1
            return response

        return handle

    async def _serve(self, dialect: Dialect, request: web.Request) -> web.StreamResponse:
        if self.counters.active > self.settings.max_concurrent:
            headers = {"Retry-After": "1"}
            return _problem(dialect, 503, "the gateway is at its limit; try again", headers)
        if not self._admitted(request):
            return _problem(dialect, 401, "the API key is not one of this gateway's")
        try:
            body = _object(await request.read())
            conversation = dialect.conversation(body)
        except BadRequestError as problem:
            return _problem(dialect, 400, str(problem))
        except web.HTTPRequestEntityTooLarge:
            limit = self.settings.max_body
            return _problem(dialect, 413, f"the request is larger than {limit} bytes")
        gate = self._gate_for(conversation.tools)
        key, memory, _ = self.memories.recall(ROOT, Memory(), conversation.messages, gate.domain)
        exchange = Exchange(
            dialect=dialect,
            gate=gate,
            body=body,
            memory=memory,
            mode=self.settings.mode,
            max_revisions=self.settings.max_revisions,
        )
        headers = self._upstream_headers(request)
        try:
            if conversation.stream:
                response = await self._stream(request, exchange, headers)
            else:
                response = await self._answer(request, exchange, headers)
        except UpstreamError as upstream:
            return web.Response(
                status=upstream.status, body=upstream.body, headers=upstream.headers
            )
        except BadReplyError as problem:
            return _problem(dialect, 502, str(problem))
        except TimeoutError:
            return _problem(dialect, 504, "the upstream did not answer in time")
        except aiohttp.ClientError as problem:
            return _problem(dialect, 502, f"the upstream failed: {type(problem).__name__}")
        self._note(exchange)
        if exchange.sent is not None:
            self.memories.keep(digest(key, exchange.sent), exchange.memory)
        return response

    async def _answer(
        self, request: web.Request, exchange: Exchange, headers: Mapping[str, str]
    ) -> web.Response:
        async def ask(body: Body) -> Body:
            async with self._post(request.path, body, headers) as answer:
                raw = await answer.read()
            try:
                return _object(raw)
            except BadRequestError as problem:
                raise BadReplyError(f"the upstream reply is no JSON: {problem}") from None

        answer = await exchange.answer(ask)
        return web.json_response(answer, headers=_verdict_headers(exchange.verdicts))

    async def _stream(
        self, request: web.Request, exchange: Exchange, headers: Mapping[str, str]
    ) -> web.StreamResponse:
        async def listen(body: Body) -> AsyncIterator[Event]:
            parser = Parser()
            async with self._post(request.path, body, headers) as answer:
                try:
                    async for chunk in answer.content.iter_any():
                        for event in parser.feed(chunk):
                            yield event
                except ValueError as problem:
                    raise BadReplyError(f"the upstream stream cannot be read: {problem}") from None
                except (aiohttp.ClientError, TimeoutError) as problem:
                    name = type(problem).__name__
                    raise BadReplyError(f"the upstream stream broke off: {name}") from None
            if parser.cut:
                raise BadReplyError("the upstream stream ended inside an event")

        events = exchange.stream(listen)
        first = await anext(events)
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
        )
        await response.prepare(request)
        await response.write(first.encode())
        async for event in events:
            await response.write(event.encode())
        await response.write_eof()
        return response

    def _post(self, path: str, body: Body, headers: Mapping[str, str]) -> _Checked:
        assert self._http is not None
        url = self.settings.upstream.rstrip("/") + path.removeprefix("/v1")
        return _Checked(self._http.post(url, json=body, headers=headers))

    def _admitted(self, request: web.Request) -> bool:
        if not self.settings.keys:
            return True
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        return bearer in self.settings.keys or (
            request.headers.get("x-api-key", "") in self.settings.keys
        )

    def _upstream_headers(self, request: web.Request) -> dict[str, str]:
        sent = {n: request.headers[n] for n in _FORWARDED if n in request.headers}
        if self.settings.upstream_key is not None:
            sent.pop("x-api-key", None)
            sent["authorization"] = f"Bearer {self.settings.upstream_key}"
        return sent

    def _note(self, exchange: Exchange) -> None:
        self.counters.upstream_calls += exchange.upstream_calls
        for filtered in exchange.verdicts:
            for verdict in filtered.verdicts:
                key = (verdict.call.name, verdict.decision.name)
                self.counters.decisions[key] = self.counters.decisions.get(key, 0) + 1

    async def _healthz(self, request: web.Request) -> web.Response:
        return web.json_response({"status": "ok", "domain": self._domain.name})

    async def _metrics(self, request: web.Request) -> web.Response:
        return web.Response(text=exposition(self.counters), content_type="text/plain")


class _Checked:
    """An upstream response whose status is good, or UpstreamError with what it answered."""

    def __init__(self, pending: Any) -> None:
        self._pending = pending

    async def __aenter__(self) -> aiohttp.ClientResponse:
        response: aiohttp.ClientResponse = await self._pending.__aenter__()
        if response.status != 200:
            kept = {n: response.headers[n] for n in _RETURNED if n in response.headers}
            kept["Content-Type"] = response.headers.get("Content-Type", "application/json")
            body = await response.read()
            await self._pending.__aexit__(None, None, None)
            raise UpstreamError(response.status, body, kept)
        return response

    async def __aexit__(self, *raised: Any) -> None:
        await self._pending.__aexit__(*raised)


def _object(raw: bytes) -> Body:
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError) as problem:
        raise BadRequestError(f"the body is not JSON: {problem}") from None
    if not isinstance(value, dict):
        raise BadRequestError("the body should be a JSON object")
    return value


def _problem(
    dialect: Dialect, status: int, problem: str, headers: Mapping[str, str] | None = None
) -> web.Response:
    return web.json_response(dialect.error(status, problem), status=status, headers=headers)


def _verdict_headers(judged: list[Filtered]) -> dict[str, str]:
    verdicts = [v for filtered in judged for v in filtered.verdicts]
    if not verdicts:
        return {}
    told = (f"{v.call.name}={v.decision.name}" for v in verdicts)
    return {VERDICT_HEADER: ",".join(told).encode("ascii", "replace").decode()}


def exposition(counters: Counters) -> str:
    """The counters in Prometheus' text format."""
    lines = ["# TYPE ledgeragent_requests_total counter"]
    lines += [
        f'ledgeragent_requests_total{{path="{path}",status="{status}"}} {count}'
        for (path, status), count in sorted(counters.requests.items())
    ]
    lines.append("# TYPE ledgeragent_decisions_total counter")
    lines += [
        f'ledgeragent_decisions_total{{tool="{_label(tool)}",decision="{decision}"}} {count}'
        for (tool, decision), count in sorted(counters.decisions.items())
    ]
    lines += [
        "# TYPE ledgeragent_upstream_calls_total counter",
        f"ledgeragent_upstream_calls_total {counters.upstream_calls}",
        "# TYPE ledgeragent_request_seconds_total counter",
        f"ledgeragent_request_seconds_total {counters.seconds:.6f}",
        "# TYPE ledgeragent_active_requests gauge",
        f"ledgeragent_active_requests {counters.active}",
    ]
    return "\n".join(lines) + "\n"


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


async def serve(gateway: Gateway, host: str, port: int, ready: Callable[[int], None]) -> None:
    """Serves until cancelled; then no new request is taken and those under way are finished."""
    runner = web.AppRunner(gateway.app(), handler_cancellation=True, shutdown_timeout=30.0)
    await runner.setup()
    site = web.TCPSite(runner, host, port)
    await site.start()
    server = site._server
    assert isinstance(server, asyncio.Server)
    ready(server.sockets[0].getsockname()[1])
    try:
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()
