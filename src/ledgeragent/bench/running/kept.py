"""Rows kept in a file as they are made, one JSON line each: what is there is not made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable
from pathlib import Path
from threading import Lock
from typing import IO, Any, TypeAlias

from ledgeragent.errors import DataError

KeptRow: TypeAlias = dict[str, Any]


class KeptRows:
    """The rows of a file by their key; None keeps them in memory. Use as a context.

    A last line that was cut off is taken off the file. DataError for a line that is no such row.
    """

    def __init__(self, file: str | None, key: Callable[[KeptRow], Hashable], what: str) -> None:
        self._file = None if file is None else Path(file)
        self._key, self._what = key, what
        self._stream: IO[str] | None = None
        self._lock = Lock()
        self.rows: dict[Hashable, KeptRow] = {}

    def __enter__(self) -> KeptRows:
        if self._file is not None:
            if self._file.exists():
                self._read(self._file)
            self._stream = self._file.open("a", encoding="utf-8")
        return self

    def __exit__(self, *exception: object) -> None:
        if self._stream is not None:
            self._stream.close()

    def _read(self, file: Path) -> None:
        content = file.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            file.write_bytes(whole)
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                row = json.loads(line)
                self.rows[self._key(row)] = row
            except (ValueError, TypeError, KeyError):
                raise DataError(f"no {self._what}", file=str(file), line=number) from None

    def add(self, row: KeptRow) -> None:
        """Keeps a row, through to the file."""
        with self._lock:
            self.rows[self._key(row)] = row
            if self._stream is not None:
                self._stream.write(json.dumps(row) + "\n")
                self._stream.flush()
