"""The server's end of the proxy, and the host's where that is standard input and output."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from typing import Any, TypeAlias

from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

from ledgeragent.mcp.pump import Pump
from ledgeragent.mcp.sessions import Sessions
from ledgeragent.mcp.stdio import host_streams

McpServer: TypeAlias = Callable[[], AbstractAsyncContextManager[tuple[Any, Any]]]
"""Opens a connection to the server; one is opened for each client."""


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


async def serve_stdio(sessions: Sessions, upstream: McpServer) -> None:
    """Serves the one client at this process's standard input and output."""
    await sessions.open()
    try:
        session = sessions.of_connection({})
        async with upstream() as server, host_streams() as client:
            await Pump(sessions, session, client, server).run()
    finally:
        await sessions.close()
