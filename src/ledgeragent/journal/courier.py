"""The courier of heads to a place that may be slow, or not there, without waiting for it."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeAlias

PATIENCE = 5.0
"""Seconds. So long a place may take for a head, and so long all of them are waited for in the end."""

MOST_WAITING = 100
"""Heads. Of more, the oldest are given up: a later one covers what they cover."""

_log = logging.getLogger("ledgeragent.journal")

Send: TypeAlias = Callable[[str], None]


class Courier:
    """Heads on their way to the place of a `name`, in their order, by a thread of its own.

    `send` raises OSError, which says why, for what was not taken. That is logged and counted, and the
    head is not sent again.
    """

    def __init__(self, name: str, send: Send) -> None:
        self._name = name
        self._send = send
        self._waiting: deque[str] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._is_closed = False
        self._lost = 0

    def keep(self, line: str) -> None:
        """Sends one more as soon as those before it are sent."""
        with self._changed:
            if len(self._waiting) >= MOST_WAITING:
                self._waiting.popleft()
                self._lose(1, "it takes them too slowly")
            self._waiting.append(line)
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def close(self) -> int:
        """Waits until all are sent, but not for long; how many were not taken since the beginning."""
        end = time.monotonic() + PATIENCE
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._waiting, max(end - time.monotonic(), 0))
            if self._waiting:
                self._lose(len(self._waiting), "it takes them too slowly")
                self._waiting.clear()
            return self._lost

    def _work(self) -> None:
        while (line := self._next()) is not None:
            reason = self._reason(line)
            with self._changed:
                if self._waiting and self._waiting[0] is line:
                    self._waiting.popleft()
                    if reason:
                        self._lose(1, reason)
                self._changed.notify_all()

    def _next(self) -> str | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._is_closed)
            return self._waiting[0] if self._waiting else None

    def _reason(self, line: str) -> str:
        """Why a head was not taken, "" where it was."""
        try:
            self._send(line)
        except OSError as problem:
            return problem.strerror or str(problem)
        return ""

    def _lose(self, count: int, reason: str) -> None:
        self._lost += count
        heads = "a head" if count == 1 else f"{count} heads"
        _log.warning("%s of the journal not taken by %s: %s", heads, self._name, reason)
