"""The MCP proxy, in this process and over HTTP: the scripted model's calls made by a real client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

from ledgeragent.adapters.common import Policy
from ledgeragent.gate import Filtered
from ledgeragent.types import Reply, ToolCall, ToolReturn, UserMessage
from tests.conformance.drivers.base import Driver
from tests.conformance.scene import Scene


class MCPProxy(Driver):
    """The proxy between a client and a server, all in one process.

    The calls of a reply are sent at once, and no tool answers before all of them were judged: a proxy
    sees no replies, so a host that sends a read and then a write has the write judged after it.
    """

    name = "mcp proxy"
    libraries = ("mcp",)
    lacks = frozenset({"argument text"})
    lists_tools = False
    prefixes = True

    async def play(self, scene: Scene) -> None:
        """Plays every turn of the scene."""
        calls = Calls(scene)
        async with self.client(calls) as client:
            await client.list_tools()
            for turn in scene.situation.turns:
                scene.transcript.append(UserMessage(text=turn.says))
                for _ in turn.steps:
                    await calls.answer(client, scene.reply())
            if not scene.shadow:
                tail = (await client.read_resource("ledger://state")).contents[0].text
                scene.tails.append(tail)

    def client(self, calls: Calls) -> AbstractAsyncContextManager[Any]:
        """A client connected to the proxy."""
        from mcp import Client

        return _Closing(Client(_through(calls, self.guard(calls))))

    def guard(self, calls: Calls) -> Policy:
        """The guard of a proxy that tells `calls` of every verdict."""
        return Policy("shop", calls.watch, self.journal, self.mode)


class Calls:
    """The calls of one scene: how many of the current reply were sent, and how they were judged."""

    def __init__(self, scene: Scene) -> None:
        self.prefix = scene.situation.prefix
        self._scene = scene
        self._judged: list[Filtered] = []
        self._sent = 0

    async def answer(self, client: Any, reply: Reply) -> None:
        """Sends all calls of a reply at once and notes their answers."""
        scene = self._scene
        names = [f"{len(scene.transcript)}-{n}" for n in range(len(reply.calls))]
        calls = [
            ToolCall(name=call.name, arguments=call.arguments, id=name)
            for call, name in zip(reply.calls, names, strict=True)
        ]
        self._judged, self._sent = [], len(calls)
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(client.call_tool(c.name, dict(c.arguments))) for c in calls]
        scene.transcript.append(Reply(text=reply.text, calls=tuple(calls)))
        for call, task in zip(calls, tasks, strict=True):
            result = task.result()
            text = "".join(block.text for block in result.content)
            scene.transcript.append(
                ToolReturn(call_id=call.id, content=text, error=bool(result.is_error))
            )
        verdicts = (verdict for filtered in self._judged for verdict in filtered.verdicts)
        last = {v.call.id: (v.call.name, v.decision.name) for v in verdicts}
        scene.noted.append(list(last.values()))

    def watch(self, conversation: Any, filtered: Filtered) -> None:
        """Notes the verdict on one call."""
        self._judged.append(filtered)
        self._scene.ledger = conversation

    async def execute(self, call: ToolCall) -> str:
        """The tool's answer, once every call of the reply was judged."""
        while len(self._judged) < self._sent:
            await asyncio.sleep(0.001)
        return await self._scene.aexecute(call)


class _Closing:
    """Enters a client and leaves it."""

    def __init__(self, client: Any) -> None:
        self._client = client

    async def __aenter__(self) -> Any:
        return await self._client.__aenter__()

    async def __aexit__(self, *error: Any) -> None:
        await self._client.__aexit__(*error)


@asynccontextmanager
async def in_process(calls: Calls) -> AsyncIterator[tuple[Any, Any]]:
    """A connection to the shop's server, without a transport."""
    from mcp.shared.memory import create_client_server_memory_streams

    from tests.conformance.shop_server import build

    server = build(calls.execute, calls.prefix)
    async with create_client_server_memory_streams() as (client, streams), _group() as group:
        options = server.create_initialization_options()
        group.start_soon(lambda: server.run(streams[0], streams[1], options))
        yield client
        group.cancel_scope.cancel()


@asynccontextmanager
async def _through(calls: Calls, guard: Policy) -> AsyncIterator[tuple[Any, Any]]:
    """A connection to the proxy, which has one of its own to the server."""
    from mcp.shared.memory import create_client_server_memory_streams

    from ledgeragent.mcp.pump import Pump
    from ledgeragent.mcp.sessions import Sessions

    async with (
        in_process(calls) as server,
        create_client_server_memory_streams() as (client, streams),
        _group() as group,
    ):
        sessions = Sessions(guard)
        pump = Pump(sessions, sessions.of_connection({}), streams, server)
        group.start_soon(pump.run)
        yield client
        group.cancel_scope.cancel()


def _group() -> Any:
    import anyio

    return anyio.create_task_group()


class MCPProxyHTTP(MCPProxy):
    """The same with streamable HTTP between client and proxy."""

    name = "mcp proxy, http"

    def client(self, calls: Calls) -> AbstractAsyncContextManager[Any]:
        """A client connected to the proxy on a real port."""
        return _over_http(calls, self.guard(calls))


@asynccontextmanager
async def _over_http(calls: Calls, guard: Policy) -> AsyncIterator[Any]:
    import uvicorn
    from mcp import Client

    from ledgeragent.mcp.http import HttpProxy
    from ledgeragent.mcp.sessions import SessionPer, Sessions

    proxy = HttpProxy(Sessions(guard, SessionPer("process")), lambda: in_process(calls))
    config = uvicorn.Config(proxy.app(), port=0, log_level="error", ws="none")
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    serving = asyncio.create_task(server.serve())
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            yield client
    finally:
        server.should_exit = True
        await serving
