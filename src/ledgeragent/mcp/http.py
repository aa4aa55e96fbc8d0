"""The hosts' end of the proxy over streamable HTTP: connections, and requests without one."""

from __future__ import annotations

import logging
import math
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import anyio
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.transport_security import (
    RequestBodyLimitMiddleware,
    TransportSecuritySettings,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from ledgeragent.mcp.exchange import StatelessEndpoint
from ledgeragent.mcp.logwords import reason_of
from ledgeragent.mcp.messages import INVALID_REQUEST
from ledgeragent.mcp.pump import VERSION_HEADER, Pump
from ledgeragent.mcp.sessions import Sessions, UnnamedSessionError
from ledgeragent.mcp.shared import SharedSession
from ledgeragent.mcp.transports import McpServer

log = logging.getLogger(__name__)

SESSION_HEADER = "mcp-session-id"
LAST_EVENT_HEADER = "last-event-id"
LOCAL = ("127.0.0.1", "localhost", "::1")
IDLE_SECONDS = 1800.0
MOST_BYTES = 4 * 1024 * 1024
FEW_CALLS = 3
"""Connections in a row with one call of a tool each, after which whoever runs the proxy is told."""


class HttpConnection:
    """One connection of a client: its transport, the session key it came with, its open requests."""

    def __init__(self, transport: StreamableHTTPServerTransport, key: str) -> None:
        self.transport = transport
        self.key = key
        self.scope = anyio.CancelScope()
        self._requests = 0
        self._posts = 0

    async def handle(self, scope: Any, receive: Any, send: Any) -> None:
        """One request. Between requests the connection may be idle for `IDLE_SECONDS`."""
        is_post = scope["method"] == "POST"
        self._requests += 1
        self._posts += is_post
        self.scope.deadline = math.inf
        try:
            await self.transport.handle_request(scope, receive, send)
        finally:
            self._requests -= 1
            self._posts -= is_post
            if not self._requests:
                self.scope.deadline = anyio.current_time() + IDLE_SECONDS

    async def answered(self) -> None:
        """Returns when every POST has its answer."""
        while self._posts:
            await anyio.sleep(0.01)


class HttpProxy:
    """Serves clients by streamable HTTP: one connection to the server for each of theirs."""

    def __init__(
        self, sessions: Sessions, upstream: McpServer, *, hosts: Sequence[str] = LOCAL
    ) -> None:
        self._sessions = sessions
        self._upstream = upstream
        self._connections: dict[str, HttpConnection] = {}
        self._single_calls = 0
        names = [f"[{host}]" if ":" in host else host for host in hosts]
        allowed = [pattern for name in names for pattern in (name, f"{name}:*")]
        self._security = TransportSecuritySettings(
            allowed_hosts=allowed, allowed_origins=[f"http://{name}" for name in allowed]
        )
        self._stateless = StatelessEndpoint(sessions, upstream, self._security)
        self._group: anyio.abc.TaskGroup | None = None

    def app(self, path: str = "/mcp") -> Starlette:
        """The ASGI application."""

        @asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            await self._sessions.open()
            async with anyio.create_task_group() as group:
                self._group = self._stateless.group = group
                yield
                group.cancel_scope.cancel()
            await self._sessions.close()

        limited = RequestBodyLimitMiddleware(self._handle, MOST_BYTES)
        # With and without the last slash: some clients cannot follow a redirect with a body.
        routes = [Route(where, endpoint=limited) for where in (path, f"{path}/")]
        routes.append(Route("/metrics", endpoint=self._metrics))
        return Starlette(routes=routes, lifespan=lifespan)

    async def _metrics(self, request: Request) -> PlainTextResponse:
        return PlainTextResponse("\n".join(self._sessions.record.counters.lines()) + "\n")

    async def _handle(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        name = headers.get(SESSION_HEADER)
        try:
            if headers.get(VERSION_HEADER) not in (None, *HANDSHAKE_PROTOCOL_VERSIONS):
                await self._stateless.handle(headers, scope, receive, send)
            elif name is None:
                await self._open(headers, scope, receive, send)
            elif name in self._connections:
                await self._goes_on(self._connections[name], headers, scope, receive, send)
            else:
                await refused(404, "there is no such session")(scope, receive, send)
        except UnnamedSessionError as problem:
            await refused(400, str(problem))(scope, receive, send)

    async def _goes_on(
        self,
        connection: HttpConnection,
        headers: Mapping[str, str],
        scope: Any,
        receive: Any,
        send: Any,
    ) -> None:
        if scope["method"] == "GET" and LAST_EVENT_HEADER in headers:
            problem = "the proxy keeps no events, so no stream can be resumed"
            await refused(405, problem, {"allow": "POST, DELETE"})(scope, receive, send)
        elif scope["method"] != "DELETE" and self._sessions.key_of(headers) != connection.key:
            problem = "this connection was opened for another session"
            await refused(400, problem)(scope, receive, send)
        else:
            await connection.handle(scope, receive, send)

    async def _open(self, headers: Mapping[str, str], scope: Any, receive: Any, send: Any) -> None:
        session, key = self._sessions.of_connection(headers), self._sessions.key_of(headers)
        transport = StreamableHTTPServerTransport(uuid4().hex, security_settings=self._security)
        connection = HttpConnection(transport, key)
        started = False

        async def watched(message: Any) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = message["status"] < 400
            await send(message)

        assert self._group is not None
        try:
            await self._group.start(self._serve, connection, session)
        except Exception as problem:
            log.error("the server cannot be reached: %s", reason_of(problem))
            await refused(502, "the tool server cannot be reached")(scope, receive, send)
            return
        try:
            await connection.handle(scope, receive, watched)
        finally:
            if not started:
                await self._close(connection)

    async def _serve(
        self,
        connection: HttpConnection,
        session: SharedSession | None,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        transport = connection.transport
        async with self._upstream() as server, transport.connect() as client:
            self._connections[str(transport.mcp_session_id)] = connection
            task_status.started()
            pump = Pump(self._sessions, session, client, server)
            try:
                with connection.scope:
                    await pump.run()
                with anyio.move_on_after(1):
                    await connection.answered()
            finally:
                self._told_of(pump.calls)
                await self._close(connection)

    def _told_of(self, calls: int) -> None:
        """Says once that clients connect anew for each call, which makes every write fail."""
        if self._sessions.outlive_connections or calls == 0:
            return
        self._single_calls = self._single_calls + 1 if calls == 1 else 0
        if self._single_calls == FEW_CALLS:
            log.warning(
                "clients connect anew for every call, so no write sees what was read before it; let "
                "a session outlive its connection with --session-per"
            )

    async def _close(self, connection: HttpConnection) -> None:
        self._connections.pop(str(connection.transport.mcp_session_id), None)
        if not connection.transport.is_terminated:
            with anyio.CancelScope(shield=True):
                await connection.transport.terminate()


def refused(status: int, problem: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """An answer of HTTP that no request of the protocol has."""
    error = {"code": INVALID_REQUEST, "message": problem}
    content = {"jsonrpc": "2.0", "id": None, "error": error}
    return JSONResponse(content, status_code=status, headers=dict(headers or {}))
