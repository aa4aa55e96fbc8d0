"""An append-only file of JSON Lines: what stands in it stays, and a line cut off by a kill does not."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, TypeAlias

from ledgeragent.errors import DataError
from ledgeragent.files.documents import parse_document
from ledgeragent.files.limits import MEMORY, most_bytes
from ledgeragent.files.private import open_private
from ledgeragent.journal.lock import WriterLock

Row: TypeAlias = dict[str, Any]
_CHUNK = 1 << 20


class RowFile:
    """The file, open and locked: one process at a time holds it. Close it in the end.

    UsageError if another process holds it. The last line is cut off where a killed process left it
    unfinished, since its row was not recorded and will be made again.
    """

    def __init__(self, file: Path) -> None:
        self.name = str(file)
        file.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            self._lock = WriterLock(file, noun="file")
            stack.callback(self._lock.release)
            handle = open_private(file, os.O_RDWR | os.O_APPEND)
            self._stream: IO[bytes] = stack.enter_context(os.fdopen(handle, "a+b"))
            self._size = self._cut_off()
            stack.pop_all()

    def _cut_off(self) -> int:
        """The bytes of the whole lines, once the part of one behind them is gone; DataError for a text."""
        end = self._stream.seek(0, os.SEEK_END)
        whole = end
        while whole == end and end:
            end = max(end - _CHUNK, 0)
            self._stream.seek(end)
            whole = end + self._stream.read(whole - end).rfind(b"\n") + 1
        self._stream.seek(whole)
        if self._stream.read(1) not in (b"", b"{"):
            raise DataError("its end is no part of a row: this is another file", file=self.name)
        self._stream.truncate(whole)
        return whole

    def rows(self) -> Iterator[tuple[int, Row]]:
        """The rows that it held when it was opened, by line; DataError for a line that is none."""
        for number, line in enumerate(self._whole_lines(), 1):
            try:
                row = parse_document(line, self.name)
            except DataError as error:
                raise self.fault(error.problem, number) from None
            if not isinstance(row, dict):
                raise self.fault("not a JSON object", number)
            yield number, row

    def _whole_lines(self) -> Iterator[bytes]:
        position, most = 0, most_bytes()
        while position < self._size:
            self._stream.seek(position)
            line = self._stream.readline(most)
            position += len(line)
            if not line.endswith(b"\n"):
                raise MEMORY.refusal("a line would take more memory than it may", self.name)
            yield line

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
