"""The access log: one JSON object a line, for each request that is over."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path as File

from ledgeragent.files.private import open_private
from ledgeragent.types import Json

STANDARD_OUTPUT = "-"


class AccessLog:
    """Appends to a file, or to standard output. A line that cannot be written is lost, and counted.

    The file is found by name for each `reopen`, so that it may be moved away meanwhile.
    """

    def __init__(self, place: str) -> None:
        self._place = place
        self.lost = 0
        self._handle = self._open()

    def _open(self) -> int:
        if self._place == STANDARD_OUTPUT:
            return sys.stdout.fileno()
        return open_private(File(self._place), os.O_WRONLY | os.O_APPEND)

    def write(self, entry: Mapping[str, Json]) -> None:
        """Adds a line."""
        line = json.dumps(entry, separators=(",", ":")) + "\n"
        try:
            os.write(self._handle, line.encode())
        except OSError:
            self.lost += 1

    def reopen(self) -> None:
        """Goes on in the file that has the name now."""
        before, self._handle = self._handle, self._open()
        self._release(before)

    def close(self) -> None:
        """Releases the file."""
        self._release(self._handle)

    def _release(self, handle: int) -> None:
        if self._place != STANDARD_OUTPUT:
            os.close(handle)
