"""Wakeups: how threads and coroutines sleep until something in a conversation has changed."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress


class Wakeups:
    """A lock, and those who wait for what it guards to change."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._changed = threading.Condition(self.lock)
        self._wake: list[Callable[[], object]] = []

    def notify(self) -> None:
        """Wakes everybody. The caller holds the lock."""
        self._changed.notify_all()
        sleeping, self._wake = self._wake, []
        for wake in sleeping:
            wake()

    def wait(self, seconds: float) -> bool:
        """Sleeps in this thread, at most so long; True if woken. Others get the caller's lock."""
        return self._changed.wait(seconds)

    def sleeper(self) -> asyncio.Event:
        """An event of the running loop that the next change sets. The caller holds the lock."""
        loop, event = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # its loop is closed, so nobody sleeps there any more
                loop.call_soon_threadsafe(event.set)

        self._wake.append(wake)
        return event


async def sleep(event: asyncio.Event, seconds: float) -> bool:
    """Sleeps until the event is set, at most so long; True if it was set."""
    try:
        return await asyncio.wait_for(event.wait(), seconds)
    except TimeoutError:
        return False
