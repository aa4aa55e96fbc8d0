"""Rows kept in a file as they are made: what is there is not made again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path
from threading import Lock
from typing import TypeAlias

from ledgeragent.bench.running.rowfile import Row, RowFile

KeptRow: TypeAlias = Row
"""One of them."""


class KeptRows:
    """The rows of a file by their key; None keeps them in memory. Use as a context.

    `what` names such a row: DataError for a line that is none.
    """

    def __init__(self, file: str | None, key: Callable[[KeptRow], Hashable], what: str) -> None:
        self._place = None if file is None else Path(file)
        self._key, self._what = key, what
        self._file: RowFile | None = None
        self._lock = Lock()
        self.rows: dict[Hashable, KeptRow] = {}

    def __enter__(self) -> KeptRows:
        if self._place is not None:
            self._file = RowFile(self._place)
            try:
                self._read(self._file)
            except BaseException:
                self._file.close()
                raise
        return self

    def __exit__(self, *exception: object) -> None:
        if self._file is not None:
            self._file.close()

    def _read(self, file: RowFile) -> None:
        for number, row in file.rows():
            try:
                self.rows[self._key(row)] = row
            except (TypeError, KeyError):
                raise file.fault(f"no {self._what}", number) from None

    def add(self, row: KeptRow) -> None:
        """Keeps a row, through to the file."""
        with self._lock:
            self.rows[self._key(row)] = row
            if self._file is not None:
                self._file.append(row)
