"""An append-only file of JSON Lines: what stands in it stays, and a line cut off by a kill does not."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, TypeAlias

from ledgeragent.errors import DataError
from ledgeragent.files.private import open_private
from ledgeragent.journal.lock import WriterLock

Row: TypeAlias = dict[str, Any]


class RowFile:
    """The file, open and locked: one process at a time holds it. Close it in the end.

    UsageError if another process holds it. The last line is cut off where a killed process left it
    unfinished, since its row was not recorded and will be made again.
    """

    def __init__(self, file: Path) -> None:
        self.name = str(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        self._lock = WriterLock(file, noun="file")
        self._stream: IO[bytes] = os.fdopen(open_private(file, os.O_RDWR | os.O_APPEND), "a+b")
        self._lines = self._whole_lines()

    def _whole_lines(self) -> list[bytes]:
        self._stream.seek(0)
        content = self._stream.read()
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            self._stream.truncate(len(whole))
        return whole.splitlines()

    def rows(self) -> Iterator[tuple[int, Row]]:
        """The rows that it held when it was opened, by line; DataError for a line that is none."""
        for number, line in enumerate(self._lines, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise self.fault(f"not JSON: {error}", number) from None
            if not isinstance(row, dict):
                raise self.fault("not a JSON object", number)
            yield number, row

    def fault(self, problem: str, line: int) -> DataError:
        """The error that names a line of this file."""
        return DataError(problem, file=self.name, line=line)

    def append(self, row: Mapping[str, Any]) -> None:
        """Writes a row through to the disk, whole."""
        self._stream.write(json.dumps(row, default=str).encode() + b"\n")
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Lets others have the file."""
        self._stream.close()
        self._lock.release()
