"""The two ends of the proxy: how the server is reached, and how clients reach the proxy."""

from __future__ import annotations

import logging
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, TypeAlias
from uuid import uuid4

import anyio

from ledgeragent.adapters.common import Policy, require
from ledgeragent.mcp.pump import VERSION_HEADER, Pump
from ledgeragent.mcp.relay import Relay

require("mcp", "2.3", "mcp")

from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: E402
from mcp.client.streamable_http import streamable_http_client  # noqa: E402
from mcp.server.stdio import stdio_server  # noqa: E402
from mcp.server.streamable_http import StreamableHTTPServerTransport  # noqa: E402
from mcp.server.transport_security import (  # noqa: E402
    RequestBodyLimitMiddleware,
    TransportSecuritySettings,
)
from mcp.shared._httpx_utils import create_mcp_http_client  # noqa: E402
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS  # noqa: E402
from starlette.applications import Starlette  # noqa: E402
from starlette.responses import JSONResponse  # noqa: E402
from starlette.routing import Route  # noqa: E402

log = logging.getLogger(__name__)

McpServer: TypeAlias = Callable[[], AbstractAsyncContextManager[tuple[Any, Any]]]
"""Opens a connection to the server; one is opened for each client."""

SESSION_HEADER = "mcp-session-id"
LOCAL = ("127.0.0.1", "localhost", "::1")
IDLE_SECONDS = 1800.0
MOST_BYTES = 4 * 1024 * 1024


def by_command(command: Sequence[str]) -> McpServer:
    """A server started as a process of its own, with this process's environment."""
    parameters = StdioServerParameters(
        command=command[0], args=list(command[1:]), env=dict(os.environ)
    )
    return partial(stdio_client, parameters)


def by_url(url: str, headers: Mapping[str, str] | None = None) -> McpServer:
    """A server reached by streamable HTTP."""

    @asynccontextmanager
    async def connect() -> AsyncIterator[tuple[Any, Any]]:
        async with (
            create_mcp_http_client(headers=dict(headers or {})) as client,
            streamable_http_client(url, http_client=client) as streams,
        ):
            yield streams

    return connect


async def serve_stdio(guard: Policy, upstream: McpServer) -> None:
    """Serves the one client at this process's standard input and output."""
    async with upstream() as server, stdio_server() as client:
        await Pump(Relay(guard), client, server).run()


class HttpProxy:
    """Serves clients by streamable HTTP: one session and one connection to the server for each."""

    def __init__(self, guard: Policy, upstream: McpServer, *, hosts: Sequence[str] = LOCAL) -> None:
        self._guard = guard
        self._upstream = upstream
        self._sessions: dict[str, StreamableHTTPServerTransport] = {}
        names = [f"[{host}]" if ":" in host else host for host in hosts]
        allowed = [pattern for name in names for pattern in (name, f"{name}:*")]
        self._security = TransportSecuritySettings(
            allowed_hosts=allowed, allowed_origins=[f"http://{name}" for name in allowed]
        )
        self._group: anyio.abc.TaskGroup | None = None

    def app(self, path: str = "/mcp") -> Starlette:
        """The ASGI application."""

        @asynccontextmanager
        async def lifespan(app: Starlette) -> AsyncIterator[None]:
            async with anyio.create_task_group() as group:
                self._group = group
                yield
                group.cancel_scope.cancel()

        limited = RequestBodyLimitMiddleware(self._handle, MOST_BYTES)
        # With and without the last slash: some clients cannot follow a redirect with a body.
        routes = [Route(where, endpoint=limited) for where in (path, f"{path}/")]
        return Starlette(routes=routes, lifespan=lifespan)

    async def _handle(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {k.decode("latin-1"): v.decode("latin-1") for k, v in scope["headers"]}
        session = headers.get(SESSION_HEADER)
        version = headers.get(VERSION_HEADER)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await _refused(400, "the proxy needs a handshake")(scope, receive, send)
        elif session is None:
            await self._open(scope, receive, send)
        elif session in self._sessions:
            await self._sessions[session].handle_request(scope, receive, send)
        else:
            await _refused(404, "there is no such session")(scope, receive, send)

    async def _open(self, scope: Any, receive: Any, send: Any) -> None:
        transport = StreamableHTTPServerTransport(
            uuid4().hex, security_settings=self._security, idle_timeout=IDLE_SECONDS
        )
        started = False

        async def watched(message: Any) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = message["status"] < 400
            await send(message)

        assert self._group is not None
        try:
            await self._group.start(self._serve, transport)
        except Exception as problem:
            log.error("the server cannot be reached: %s", problem)
            await _refused(502, "the tool server cannot be reached")(scope, receive, send)
            return
        try:
            await transport.handle_request(scope, receive, watched)
        finally:
            if not started:
                await self._close(transport)

    async def _serve(
        self,
        transport: StreamableHTTPServerTransport,
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        session = transport.mcp_session_id
        assert session is not None
        async with self._upstream() as server, transport.connect() as client:
            self._sessions[session] = transport
            task_status.started()
            scope = transport.idle_scope or anyio.CancelScope()
            try:
                with scope:
                    await Pump(Relay(self._guard), client, server).run()
            finally:
                await self._close(transport)

    async def _close(self, transport: StreamableHTTPServerTransport) -> None:
        self._sessions.pop(str(transport.mcp_session_id), None)
        if not transport.is_terminated:
            with anyio.CancelScope(shield=True):
                await transport.terminate()


def _refused(status: int, problem: str) -> JSONResponse:
    error = {"code": -32600, "message": problem}
    return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, status_code=status)
