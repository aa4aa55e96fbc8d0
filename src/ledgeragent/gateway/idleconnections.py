"""Connections that no request is on, kept for the next ones."""

from __future__ import annotations

import asyncio
import select
from collections import deque
from typing import TYPE_CHECKING
from weakref import WeakSet

from ledgeragent.errors import MissingExtraError

try:
    from aiohttp import ClientRequest, ClientTimeout, TCPConnector
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.connector import Connection
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

if TYPE_CHECKING:
    from aiohttp.tracing import Trace

KEPT = 15.0
"""Seconds for which a connection is kept, as the library keeps its own."""


class IdleConnections:
    """The connections to one origin; the library's pool would look them up by all they could differ in."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle: deque[_Idle] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def take(self) -> Connection | None:
        """One that is open still, and has brought nothing that nobody asked for, if there is any."""
        while self._idle:
            idle = self._idle.popleft()
            if idle.until > self._loop.time() and idle.is_clean():
                idle.end()
                return idle.connection
            idle.connection.close()
        return None

    def keep(self, connection: Connection) -> None:
        """Keeps a connection, if its last answer left it as it has to be."""
        if not _is_clean(connection):
            connection.close()
            return
        self._idle.append(_Idle(connection, self._loop.time() + KEPT))
        if self._timer is None:
            self._timer = self._loop.call_later(KEPT, self._look)

    def close(self) -> None:
        """Closes all of them."""
        if self._timer is not None:
            self._timer.cancel()
        while self._idle:
            self._idle.popleft().connection.close()

    def _look(self) -> None:
        """Closes those whose time is over."""
        now = self._loop.time()
        while self._idle and self._idle[0].until <= now:
            self._idle.popleft().connection.close()
        more = self._idle[0].until - now if self._idle else 0.0
        self._timer = self._loop.call_later(more, self._look) if self._idle else None


class _Idle(asyncio.Protocol):
    """A connection while no request is on it: what comes on it then is nobody's answer, not even a part."""

    def __init__(self, connection: Connection, until: float) -> None:
        self.connection = connection
        self.until = until
        self._is_silent = True
        protocol, transport = connection.protocol, connection.transport
        assert protocol is not None and transport is not None
        self._protocol = protocol
        self._transport = transport
        transport.set_protocol(self)

    def is_clean(self) -> bool:
        """True if nothing came, and nothing lies there that the loop has not come to read yet."""
        return self._is_silent and _is_clean(self.connection) and _is_read(self._transport)

    def end(self) -> None:
        """What comes from now on is for the request that follows."""
        self._transport.set_protocol(self._protocol)

    def data_received(self, data: bytes) -> None:
        """Notes that something came."""
        self._is_silent = False

    def connection_lost(self, exc: Exception | None) -> None:
        """Tells whom the connection belongs to."""
        self._protocol.connection_lost(exc)


class CleanConnector(TCPConnector):
    """The library's connector, which would hand out a kept connection with the answer that lies on it."""

    def __init__(self) -> None:
        super().__init__(limit=0)
        self._handed_out: WeakSet[ResponseHandler] = WeakSet()

    async def connect(
        self, req: ClientRequest, traces: list[Trace], timeout: ClientTimeout
    ) -> Connection:
        """A new connection, or a kept one on which nothing came that nobody asked for."""
        while True:
            connection = await super().connect(req, traces, timeout)
            protocol, transport = connection.protocol, connection.transport
            if protocol is None or transport is None:
                return connection
            if protocol not in self._handed_out:
                self._handed_out.add(protocol)
                return connection
            if _is_clean(connection) and _is_read(transport):
                return connection
            connection.close()


def _is_clean(connection: Connection) -> bool:
    """True if what comes on it next is the answer to what is sent on it next."""
    protocol = connection.protocol
    return protocol is not None and not connection.closed and not protocol.should_close


def _is_read(transport: asyncio.BaseTransport) -> bool:
    """True if nothing lies there that the loop has not come to read yet, its end neither."""
    sock = transport.get_extra_info("socket")
    return sock is None or not _is_readable(sock.fileno())


if hasattr(select, "poll"):

    def _is_readable(descriptor: int) -> bool:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(0))

else:  # Where there is a poll, `select` knows low numbers only.

    def _is_readable(descriptor: int) -> bool:
        return bool(select.select([descriptor], [], [], 0)[0])
