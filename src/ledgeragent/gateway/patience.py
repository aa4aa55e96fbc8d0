"""Patience: how long answers may be silent, or take in all, looked after for all of them together.

A timer for each read of each answer would cost more than the reading. So every now and then all that
are under way are looked at: what has no more bytes than the last time has been silent since then.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

_LOOKS = 8
_LONGEST_TICK = 1.0
"""Seconds between two looks at most; a shorter time is divided by the number above."""


class Awaited(Protocol):
    """What is waited for."""

    @property
    def progress(self) -> int | None:
        """A number that changes whenever something came; None while it is us who do not read on."""
        ...

    def give_up(self) -> None:
        """Ends the wait with a TimeoutError."""
        ...


class _Wait:
    """One wait: since when, and what had come by which look."""

    __slots__ = ("awaited", "began", "moved", "progress")

    def __init__(self, awaited: Awaited, now: float) -> None:
        self.awaited = awaited
        self.began = self.moved = now
        self.progress: int | None = 0

    def is_over(self, now: float, silence: float, longest: float | None) -> bool:
        progress = self.awaited.progress
        if progress is None or progress != self.progress:
            self.progress, self.moved = progress, now
        return now - self.moved >= silence or (longest is not None and now - self.began >= longest)


class Patience:
    """Gives up what is silent for `silence` seconds, or takes more than `longest` in all."""

    def __init__(self, silence: float, longest: float | None) -> None:
        self._silence = silence
        self._longest = longest
        least = silence if longest is None else min(silence, longest)
        self._tick = min(least / _LOOKS, _LONGEST_TICK)
        self._loop = asyncio.get_running_loop()
        self._waits: dict[int, _Wait] = {}
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, awaited: Awaited) -> None:
        """Looks after it from now on."""
        self._waits[id(awaited)] = _Wait(awaited, self._loop.time())
        if self._timer is None:
            self._timer = self._loop.call_later(self._tick, self._look)

    def end(self, awaited: Awaited) -> None:
        """Looks after it no more."""
        self._waits.pop(id(awaited), None)

    def close(self) -> None:
        """Looks no more."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        now = self._loop.time()
        for wait in list(self._waits.values()):
            if wait.is_over(now, self._silence, self._longest):
                self.end(wait.awaited)
                wait.awaited.give_up()
        self._timer = self._loop.call_later(self._tick, self._look) if self._waits else None
