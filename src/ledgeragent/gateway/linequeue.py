"""Lines written by a thread of their own, so that whoever does not read them holds up nobody else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue

MOST_WAITING = 4_000
"""Lines that may wait to be written; further ones are lost until there is room again."""


class LineQueue:
    """Hands lines to `write`, in order, however long it takes. Anybody may `put`; nobody waits.

    Lines that had no room, or that `write` raised OSError for, are counted as `lost`, and told of by
    the line that `gap` makes of their number, before the next one that can be written.
    """

    def __init__(self, write: Callable[[str], None], gap: Callable[[int], str]) -> None:
        self.lost = 0
        self._write = write
        self._gap = gap
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="ledgeragent-lines", daemon=True)
        self._thread.start()

    def put(self, line: str) -> None:
        """Takes a line, with its end."""
        if self._lines.qsize() < MOST_WAITING:
            self._lines.put(line)
        else:
            self.lost += 1

    def close(self, seconds: float = 2.0) -> bool:
        """Ends once all that waits is written, or after so many seconds; whether all was."""
        self._lines.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        at_last_gap = 0
        while (line := self._lines.get()) is not None:
            lost = self.lost
            try:
                self._write(self._gap(lost - at_last_gap) + line if lost > at_last_gap else line)
                at_last_gap = lost
            except (OSError, ValueError):  # A stream that was closed meanwhile raises the latter.
                self.lost += 1
        if self.lost > at_last_gap:
            with suppress(OSError, ValueError):
                self._write(self._gap(self.lost - at_last_gap))
