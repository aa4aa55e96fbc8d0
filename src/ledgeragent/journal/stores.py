"""Stores, in which the records of a journal stand: JSON Lines or a table of SQLite."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path as File
from typing import Protocol

from ledgeragent.errors import DataError, LedgerAgentError
from ledgeragent.journal.lock import WriterLock
from ledgeragent.journal.private import make_private, open_private, write_private

_AS_IT_IS: int = getattr(os, "O_BINARY", 0)


class Store(Protocol):
    """Where records are kept, in order."""

    def append(self, line: str) -> None:
        """Adds one record; returns once it has been handed to the operating system."""
        ...

    def lines(self) -> Iterator[str]:
        """Every whole record, oldest first."""
        ...

    def torn(self) -> bytes:
        """The bytes after the last whole record: the part of one that was being written."""
        ...

    def drop_torn(self) -> None:
        """Sets the torn part aside, so that writing can go on behind the last whole record."""
        ...

    def close(self) -> None:
        """Releases the file."""
        ...


class JsonlStore:
    """One record a line. A second writer is refused while one has the file open."""

    def __init__(self, file: File, *, writable: bool) -> None:
        self.file = file
        self._handle = self._writable() if writable else self._readable()
        try:
            self._lock = WriterLock(file) if writable else None
        except LedgerAgentError:
            os.close(self._handle)
            raise

    def _writable(self) -> int:
        return open_private(self.file, os.O_RDWR | os.O_APPEND)

    def _readable(self) -> int:
        try:
            return os.open(self.file, os.O_RDONLY | _AS_IT_IS)
        except OSError as problem:
            raise DataError(problem.strerror or str(problem), file=str(self.file)) from None

    def append(self, line: str) -> None:
        """Adds one record; returns once it has been handed to the operating system.

        What was written of a record that doesn't fit on the disk is taken back, and OSError raised.
        """
        whole = f"{line}\n".encode()
        left = memoryview(whole)
        try:
            while left:
                left = left[os.write(self._handle, left) :]
        except OSError:
            written = len(whole) - len(left)
            os.ftruncate(self._handle, os.fstat(self._handle).st_size - written)
            raise

    def lines(self) -> Iterator[str]:
        """Every whole record, oldest first."""
        with self.file.open("rb") as stream:
            for line in stream:
                if line.endswith(b"\n"):
                    yield line.decode("utf-8", "replace").rstrip("\n")

    def torn(self) -> bytes:
        """The bytes after the last line end."""
        with self.file.open("rb") as stream:
            last = b""
            for line in stream:
                last = line
        return b"" if last.endswith(b"\n") else last

    def drop_torn(self) -> None:
        """Moves the torn part to a file of its own beside the journal."""
        torn = self.torn()
        if torn:
            size = self.file.stat().st_size - len(torn)
            write_private(self.file.with_name(f"{self.file.name}.torn-{size}"), torn)
            os.truncate(self._handle, size)

    def close(self) -> None:
        """Releases the file."""
        os.close(self._handle)
        if self._lock is not None:
            self._lock.release()


class SqliteStore:
    """One record a row; SQLite's own log makes a torn record impossible.

    A second writer is refused, as long as one has the file of the same name with `.lock` behind it.
    """

    def __init__(self, file: File, *, writable: bool) -> None:
        if not writable and not file.exists():
            raise DataError("there is no such journal", file=str(file))
        # Not the database itself: to close any other handle on it would undo SQLite's own locks.
        self._lock = WriterLock(file, beside=True) if writable else None
        try:
            if writable:
                make_private(file)
            # The journal sees to it that only one thread at a time is here.
            self._base = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS journal (seq INTEGER PRIMARY KEY, record TEXT NOT NULL)"
            )
        except sqlite3.DatabaseError as problem:
            self._release()
            raise DataError(f"not a journal: {problem}", file=str(file)) from None
        except LedgerAgentError:
            self._release()
            raise

    def append(self, line: str) -> None:
        """Adds one record in a transaction of its own."""
        self._base.execute("INSERT INTO journal (record) VALUES (?)", (line,))

    def lines(self) -> Iterator[str]:
        """Every record, oldest first."""
        for (line,) in self._base.execute("SELECT record FROM journal ORDER BY seq"):
            yield line

    def torn(self) -> bytes:
        """Nothing: a transaction is whole or absent."""
        return b""

    def drop_torn(self) -> None:
        """Nothing to set aside."""

    def close(self) -> None:
        """Releases the file."""
        self._base.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def open_store(file: File | str, *, writable: bool = False) -> Store:
    """The store for a file: SQLite for `.sqlite` and `.db`, else one JSON record a line."""
    path = File(file)
    kind = SqliteStore if path.suffix in {".sqlite", ".sqlite3", ".db"} else JsonlStore
    return kind(path, writable=writable)
