"""Pump: carries the messages of one connection between client and server, through its relay."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import anyio

from ledgeragent.adapters.common import require
from ledgeragent.mcp.relay import RPC, Relay

require("mcp", "2.3", "mcp")

from mcp.shared.message import (  # noqa: E402
    ClientMessageMetadata,
    ServerMessageMetadata,
    SessionMessage,
)
from mcp_types import (  # noqa: E402
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

log = logging.getLogger(__name__)
VERSION_HEADER = "mcp-protocol-version"


class Pump:
    """One connection. `run` returns when either side has closed."""

    def __init__(self, relay: Relay, client: tuple[Any, Any], server: tuple[Any, Any]) -> None:
        self.relay = relay
        self._from_client, self._to_client = client
        self._from_server, self._to_server = server
        self._open: dict[Any, Any] = {}

    async def run(self) -> None:
        """Carries messages both ways until one side closes; then the other is let go."""
        try:
            await self._run()
        finally:
            self.relay.closed()

    async def _run(self) -> None:
        async with anyio.create_task_group() as group:

            async def until_closed(carry: Any) -> None:
                try:
                    await carry()
                except (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream):
                    log.debug("one side of the connection has closed")
                group.cancel_scope.cancel()

            group.start_soon(until_closed, self._client_to_server)
            group.start_soon(until_closed, self._server_to_client)

    async def _client_to_server(self) -> None:
        async for received in self._from_client:
            if isinstance(received, Exception):
                log.warning("a message of the client cannot be read: %s", received)
                continue
            self._note(received.message)
            await self._deliver(self.relay.from_client(received.message))

    async def _server_to_client(self) -> None:
        async for received in self._from_server:
            if isinstance(received, Exception):
                log.warning("a message of the server cannot be read: %s", received)
                continue
            await self._deliver(self.relay.from_server(received.message))

    async def _deliver(self, step: Any) -> None:
        await self._send_server(step.to_server)
        for message in step.to_client:
            await self._to_client.send(SessionMessage(message, self._place(message)))

    async def _send_server(self, messages: Iterable[RPC]) -> None:
        version = self.relay.version
        headers = {VERSION_HEADER: version} if version else None
        for message in messages:
            metadata = ClientMessageMetadata(headers=headers) if headers else None
            await self._to_server.send(SessionMessage(message, metadata))

    def _note(self, message: RPC) -> None:
        """Remembers an open request, so that what belongs to it goes the way of its answer."""
        if isinstance(message, JSONRPCRequest):
            meta = (message.params or {}).get("_meta") or {}
            self._open[message.id] = meta.get("progressToken")

    def _place(self, message: RPC) -> ServerMessageMetadata | None:
        """Over HTTP: the open request whose stream carries this message, None for the general one."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._open.pop(message.id, None)
            return None
        related = self._related(message)
        return None if related is None else ServerMessageMetadata(related_request_id=related)

    def _related(self, message: JSONRPCRequest | JSONRPCNotification) -> Any:
        """The request that a message of the server most likely belongs to; the protocol doesn't say."""
        if message.method == "notifications/progress":
            token = (message.params or {}).get("progressToken")
            return next((request for request, its in self._open.items() if its == token), None)
        if message.method == "notifications/message" or isinstance(message, JSONRPCRequest):
            return next(reversed(self._open), None)
        return None
