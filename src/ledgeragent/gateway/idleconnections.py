"""Connections that no request is on, kept for the next ones."""

from __future__ import annotations

import asyncio
from collections import deque

from ledgeragent.errors import MissingExtraError

try:
    from aiohttp.connector import Connection
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

KEPT = 15.0
"""Seconds for which a connection is kept, as the library keeps its own."""


class IdleConnections:
    """The connections to one origin; the library's pool would look them up by all they could differ in."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._idle: deque[tuple[Connection, float]] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def take(self) -> Connection | None:
        """One that is open still, and has brought nothing that nobody asked for, if there is any."""
        while self._idle:
            connection, until = self._idle.popleft()
            if until > self._loop.time() and _is_clean(connection):
                return connection
            connection.close()
        return None

    def keep(self, connection: Connection) -> None:
        """Keeps a connection, if its last answer left it as it has to be."""
        if not _is_clean(connection):
            connection.close()
            return
        self._idle.append((connection, self._loop.time() + KEPT))
        if self._timer is None:
            self._timer = self._loop.call_later(KEPT, self._look)

    def close(self) -> None:
        """Closes all of them."""
        if self._timer is not None:
            self._timer.cancel()
        while self._idle:
            self._idle.popleft()[0].close()

    def _look(self) -> None:
        """Closes those whose time is over."""
        now = self._loop.time()
        while self._idle and self._idle[0][1] <= now:
            self._idle.popleft()[0].close()
        more = self._idle[0][1] - now if self._idle else 0.0
        self._timer = self._loop.call_later(more, self._look) if self._idle else None


def _is_clean(connection: Connection) -> bool:
    """True if what comes on it next is the answer to what is sent on it next."""
    protocol = connection.protocol
    return protocol is not None and not connection.closed and not protocol.should_close
