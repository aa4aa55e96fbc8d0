"""Log records on standard error, written by a thread: an unread pipe there stops no request."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ledgeragent.gateway.linequeue import LineQueue


class QueueingHandler(logging.Handler):
    """Puts records as lines into a queue."""

    def __init__(self, lines: LineQueue) -> None:
        super().__init__(logging.WARNING)
        self._queue = lines

    def emit(self, record: logging.LogRecord) -> None:
        """Takes a record."""
        self._queue.put(f"{self.format(record)}\n")


@contextmanager
def logging_aside() -> Iterator[None]:
    """For as long as the block lasts, warnings go to standard error by way of a queue.

    Where whoever runs the process has set up logging, that stays as it is.
    """
    root = logging.getLogger()
    if root.handlers:
        yield
        return
    lines = LineQueue(_write, _gap)
    handler = QueueingHandler(lines)
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)
        lines.close()


def _write(line: str) -> None:
    sys.stderr.write(line)
    sys.stderr.flush()


def _gap(lost: int) -> str:
    return f"{lost} lines of this log are lost, since nobody took them\n"
