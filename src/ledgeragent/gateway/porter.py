"""The porter: takes connections in a thread of its own, and says itself that the process lives.

A request of the largest size keeps the event loop busy for seconds, and whoever asks meanwhile whether the
gateway is well would hear nothing and have it restarted. A loop that is stuck for good is not
spoken for.
"""

from __future__ import annotations

import asyncio
import json
import selectors
import socket
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple, TypeAlias

STUCK_SECONDS = 30.0
"""A loop that has not moved for so long is stuck, and no longer only busy."""

_PATIENCE = 0.2
"""Seconds that a new connection may be silent before the loop takes it over as it is."""

_HEAD = 4096
_BUSY = ("origin", "expect", "content-length", "transfer-encoding", "upgrade")
"""Headers of requests that are none of the porter's business."""


class VitalSign(NamedTuple):
    """What a page says of the gateway's health."""

    status: int
    body: Mapping[str, str]


Vitals: TypeAlias = Callable[[str, str], VitalSign | None]
"""The vital sign for a path, asked of a host by this name; None for what the loop has to answer.

Called by another thread than the loop's.
"""


class Porter:
    """Takes the connections of a listening socket and hands them to the loop, but for vital signs."""

    def __init__(
        self, sock: socket.socket, vitals: Vitals, take: Callable[[socket.socket], None]
    ) -> None:
        self._sock = sock
        self._vitals = vitals
        self._take = take
        self._loop = asyncio.get_running_loop()
        self._moved = time.monotonic()
        self._beat: asyncio.TimerHandle | None = None
        self._bell, self._rope = socket.socketpair()
        self._waiting: dict[socket.socket, float] = {}
        self._selector = selectors.DefaultSelector()
        self._thread = threading.Thread(target=self._run, name="porter", daemon=True)

    def begin(self) -> None:
        """Begins to take connections."""
        self._sock.setblocking(False)
        self._selector.register(self._sock, selectors.EVENT_READ)
        self._selector.register(self._bell, selectors.EVENT_READ)
        self._move()
        self._thread.start()

    async def stop(self) -> None:
        """Takes no more; those that were taken are with the loop when it returns."""
        if self._beat is not None:
            self._beat.cancel()
        self._rope.close()
        await asyncio.to_thread(self._thread.join)
        self._sock.close()

    def _move(self) -> None:
        self._moved = time.monotonic()
        self._beat = self._loop.call_later(1.0, self._move)

    def _run(self) -> None:
        with self._selector, self._bell:
            while True:
                timeout = _PATIENCE / 4 if self._waiting else None
                ready = [key.fileobj for key, _ in self._selector.select(timeout)]
                if self._bell in ready:
                    break
                for one in ready:
                    if one is self._sock:
                        self._accept()
                    elif isinstance(one, socket.socket):
                        self._attend(one)
                late = time.monotonic() - _PATIENCE
                for one in [c for c, since in self._waiting.items() if since < late]:
                    self._hand_over(one)
            for one in list(self._waiting):
                self._hand_over(one)

    def _accept(self) -> None:
        try:
            connection, _ = self._sock.accept()
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return  # another worker was faster, or the client has left
        except OSError:
            time.sleep(0.1)  # too many open files: those that are open have to end first
            return
        connection.setblocking(False)
        self._waiting[connection] = time.monotonic()
        self._selector.register(connection, selectors.EVENT_READ)

    def _attend(self, connection: socket.socket) -> None:
        """Answers a connection that has something to say, or hands it over."""
        sign = None
        with suppress(OSError, ValueError):
            head = connection.recv(_HEAD, socket.MSG_PEEK)
            if time.monotonic() - self._moved < STUCK_SECONDS:
                sign = self._sign(head)
            if sign is not None:
                connection.recv(len(head))
                connection.send(_response(sign))
                connection.shutdown(socket.SHUT_WR)
        if sign is None:
            self._hand_over(connection)
        else:
            self._forget(connection)
            connection.close()

    def _sign(self, head: bytes) -> VitalSign | None:
        if not head.startswith(b"GET /") or head.find(b"\r\n\r\n") != len(head) - 4:
            return None
        first, *lines = head[:-4].decode("ascii").split("\r\n")
        path, _, version = first.removeprefix("GET ").partition(" ")
        headers = {
            name.lower(): value.strip() for name, _, value in (x.partition(":") for x in lines)
        }
        if version not in ("HTTP/1.1", "HTTP/1.0") or headers.keys() & set(_BUSY):
            return None
        return self._vitals(path, headers.get("host", ""))

    def _hand_over(self, connection: socket.socket) -> None:
        self._forget(connection)
        self._loop.call_soon_threadsafe(self._take, connection)

    def _forget(self, connection: socket.socket) -> None:
        del self._waiting[connection]
        self._selector.unregister(connection)


def _response(sign: VitalSign) -> bytes:
    body = json.dumps(sign.body).encode()
    word = "OK" if sign.status == 200 else "Service Unavailable"
    head = (
        f"HTTP/1.1 {sign.status} {word}\r\ncontent-type: application/json; charset=utf-8\r\n"
        f"content-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
