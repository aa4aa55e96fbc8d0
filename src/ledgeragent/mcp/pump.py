"""Pump: carries the messages of one connection between client and server, through its relay."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import anyio
from mcp.shared.message import ClientMessageMetadata, ServerMessageMetadata, SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from ledgeragent.mcp.logwords import reason_of
from ledgeragent.mcp.messages import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    RPC,
    Step,
    error_of,
    failure,
    key_of,
)
from ledgeragent.mcp.relay import Relay
from ledgeragent.mcp.sessions import Sessions, UnnamedSessionError
from ledgeragent.mcp.shared import SharedSession, fresh_prefix
from ledgeragent.mcp.stateless import Outflow, Stateless
from ledgeragent.stores.errors import SessionChangedError, SessionStoreError

log = logging.getLogger(__name__)
VERSION_HEADER = "mcp-protocol-version"
PATIENCE = 20.0
"""Seconds that a call waits here for another one before it is answered as things stand."""
FAREWELL = 1.0
"""Seconds that the end of a connection may take."""

_GONE = (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream)


class Pump:
    """One connection. `run` returns when either side has closed.

    `session` is the connection's; None where each request names its own. `calls` counts the calls
    of tools.
    """

    def __init__(
        self,
        sessions: Sessions,
        session: SharedSession | None,
        client: tuple[Any, Any],
        server: tuple[Any, Any],
    ) -> None:
        shared = sessions.outlive_connections
        prefix = fresh_prefix() if shared else ""
        self.relay = Relay(sessions.guard, session, prefix, sessions.record)
        self.calls = 0
        self._sessions = sessions
        self._session = session
        self._from_client, self._to_client = client
        self._from_server, self._to_server = server
        self._stateless = Stateless(discoverable=shared)
        self._joined: set[SharedSession] = set()
        self._group: anyio.abc.TaskGroup | None = None

    async def run(self) -> None:
        """Carries messages both ways until one side closes; then the other is let go."""
        try:
            await self._run()
        finally:
            with anyio.move_on_after(FAREWELL, shield=True):
                await self._close()

    async def _run(self) -> None:
        async with anyio.create_task_group() as group:
            self._group = group

            async def until_closed(carry: Any) -> None:
                with suppress(*_GONE):
                    await carry()
                group.cancel_scope.cancel()

            group.start_soon(until_closed, self._client_to_server)
            group.start_soon(until_closed, self._server_to_client)

    async def _close(self) -> None:
        """Leaves the sessions, and tells the client, if it is there, that nobody will answer."""
        self._group = None
        for session in tuple(self._joined):
            session.members.discard(self)
            with suppress(SessionStoreError, SessionChangedError):
                async with session.turn():
                    self.relay.calls.lose(session)
                    session.give_up_tasks()
                    await session.keep()
            session.announce(self)
            self._sessions.left(session)
        with suppress(*_GONE):
            await self._deliver(self.relay.closed())

    async def _client_to_server(self) -> None:
        async for received in self._from_client:
            if isinstance(received, Exception):
                await self._unreadable(received)
            else:
                await self._follow(self._stateless.from_client(received.message))

    async def _unreadable(self, problem: Exception) -> None:
        log.warning("a message of the client cannot be read: %s", reason_of(problem))
        if isinstance(problem, ValueError):
            text = "this is no message of JSON-RPC; send each by itself, in no batch"
            await self._to_client.send(SessionMessage(error_of(None, INVALID_REQUEST, text)))

    async def _server_to_client(self) -> None:
        async for received in self._from_server:
            if isinstance(received, Exception):
                log.warning("a message of the server cannot be read: %s", reason_of(received))
            else:
                await self._take_back(received.message)

    async def _follow(self, outflow: Outflow) -> None:
        for message in outflow.to_client:
            await self._to_client.send(SessionMessage(message, self._place(message)))
        for message in outflow.to_relay:
            await self._take(message)

    async def _take(self, message: RPC) -> None:
        """A message of the client, in its session."""
        try:
            session = self._session_of(message)
        except UnnamedSessionError as problem:
            assert isinstance(message, JSONRPCRequest)
            await self._deliver(failure(message, INVALID_PARAMS, str(problem)))
            return
        if session is None:
            await self._deliver(self.relay.from_client(message))
        else:
            await self._taken_in(message, session)

    def _session_of(self, message: RPC) -> SharedSession | None:
        if not self.relay.names_session(message):
            return self.relay.calls.session_of(message, self.relay.session)
        assert isinstance(message, JSONRPCRequest)
        self.calls += message.method == "tools/call"
        try:
            return self._session or self._sessions.of_request(message.params or {})
        except UnnamedSessionError as problem:
            if not self._sessions.guard.shadow:
                raise
            log.warning("%s; it is judged as if it were alone", problem)
            return None

    async def _taken_in(self, message: RPC, session: SharedSession) -> None:
        self._join(session)

        def undo(step: Step, problem: Exception) -> Step:
            if not isinstance(message, JSONRPCRequest) or self._sessions.guard.shadow:
                return step
            if isinstance(problem, SessionStoreError) or step.to_server:
                return self.relay.taken_back(message, str(problem))
            return step

        await self._turn(session, lambda: self.relay.from_client(message, session), undo)
        if isinstance(message, JSONRPCRequest) and key_of(message.id) in self.relay.calls.held:
            self._start(self._hurry, key_of(message.id), session)

    def _join(self, session: SharedSession) -> None:
        self._joined.add(session)
        session.members.add(self)

    async def _take_back(self, message: RPC) -> None:
        """A message of the server, in the session that it is about."""
        session = self.relay.calls.session_of(message, self.relay.session)
        if session is None:
            await self._deliver(self.relay.from_server(message))
            return
        await self._turn(session, lambda: self.relay.from_server(message), _as_it_is)
        session.announce(self)

    async def _turn(
        self,
        session: SharedSession,
        advance: Callable[[], Step],
        undo: Callable[[Step, Exception], Step],
    ) -> None:
        """One step of a session, which is kept before anything is done about it."""
        step: Step | None = None
        try:
            async with session.turn():
                step = advance()
                await session.keep()
        except (SessionStoreError, SessionChangedError) as problem:
            log.error("%s", problem)
            step = undo(step if step is not None else advance(), problem)
        await self._deliver(step)

    async def release(self, session: SharedSession) -> None:
        """Lets calls go on that waited for what another connection has done."""
        await self._turn(session, lambda: self.relay.released(session), _as_it_is)

    def wake(self, session: SharedSession) -> None:
        """The same, as a task of this connection."""
        if any(call.session is session for call in self.relay.calls.held.values()):
            self._start(self.release, session)

    def _start(self, task: Any, *arguments: Any) -> None:
        if self._group is not None:
            self._group.start_soon(task, *arguments)

    async def _hurry(self, key: str, session: SharedSession) -> None:
        call = self.relay.calls.held.get(key)
        await anyio.sleep(PATIENCE)
        if call is not None and self.relay.calls.held.get(key) is call:
            await self._turn(session, lambda: self.relay.hurried(key), _as_it_is)

    async def _deliver(self, step: Step) -> None:
        await self._send_server(step.to_server)
        for message in step.to_client:
            await self._follow(self._stateless.from_relay(message))

    async def _send_server(self, messages: Iterable[RPC]) -> None:
        version = self.relay.version
        headers = {VERSION_HEADER: version} if version else None
        for message in messages:
            metadata = ClientMessageMetadata(headers=headers) if headers else None
            await self._to_server.send(SessionMessage(message, metadata))

    def _place(self, message: RPC) -> ServerMessageMetadata | None:
        """Over HTTP: the open request whose stream carries this message, None for the general one."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            return None
        related = self._related(message)
        return None if related is None else ServerMessageMetadata(related_request_id=related)

    def _related(self, message: JSONRPCRequest | JSONRPCNotification) -> Any:
        """The request that a message of the server most likely belongs to; the protocol doesn't say."""
        requests = self.relay.open.values()
        if message.method == "notifications/progress":
            token = (message.params or {}).get("progressToken")
            return next((request.id for request in requests if _token(request) == token), None)
        if message.method == "notifications/message" or isinstance(message, JSONRPCRequest):
            return next((request.id for request in reversed(requests)), None)
        return None


def _as_it_is(step: Step, problem: Exception) -> Step:
    return step


def _token(request: JSONRPCRequest) -> Any:
    return ((request.params or {}).get("_meta") or {}).get("progressToken")
