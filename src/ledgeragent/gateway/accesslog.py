"""The access log: one JSON object a line, for each request that is over."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path as File

from ledgeragent.files.private import open_private
from ledgeragent.gateway.linequeue import LineQueue
from ledgeragent.gateway.wirejson import ascii_text
from ledgeragent.types import Json

STANDARD_OUTPUT = "-"


class AccessLog:
    """Appends to a file, or to standard output. Lines that cannot be written are lost, and counted.

    How many they were says a line of their own. The file is found by name for each `reopen`, so that
    it may be moved away meanwhile.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self._handle = self._open()
        self._next: int | None = None
        self._lines = LineQueue(self._append, _gap)

    @property
    def lost(self) -> int:
        """How many lines were lost."""
        return self._lines.lost

    def _open(self) -> int:
        if self._place == STANDARD_OUTPUT:
            return sys.stdout.fileno()
        return open_private(File(self._place), os.O_WRONLY | os.O_APPEND)

    def write(self, entry: Mapping[str, Json]) -> None:
        """Adds a line."""
        self._lines.put(f"{ascii_text(entry)}\n")

    def _append(self, line: str) -> None:
        self._move_on()
        rest = line.encode()
        while rest:
            rest = rest[os.write(self._handle, rest) :]

    def _move_on(self) -> None:
        """Goes over to a file that was opened meanwhile; only the thread that writes closes one."""
        handle, self._next = self._next, None
        if handle is not None:
            before, self._handle = self._handle, handle
            os.close(before)

    def reopen(self) -> None:
        """Goes on, with the next line, in the file that has the name now."""
        if self._place != STANDARD_OUTPUT and self._next is None:
            self._next = self._open()

    def close(self) -> None:
        """Writes what waits, and releases the file."""
        if self._lines.close() and self._place != STANDARD_OUTPUT:
            self._move_on()
            os.close(self._handle)


def _gap(lost: int) -> str:
    return f"{ascii_text({'lost_lines': lost})}\n"
