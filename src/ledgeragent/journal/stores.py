"""Stores, in which the records of a journal stand: JSON Lines or a table of SQLite."""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path as File
from typing import Protocol
from urllib.parse import quote

from ledgeragent.errors import DataError, LedgerAgentError, UsageError
from ledgeragent.files.limits import refuse_large
from ledgeragent.files.private import make_private, open_private, write_private
from ledgeragent.journal.lock import WriterLock

_AS_IT_IS: int = getattr(os, "O_BINARY", 0)

LONGEST_RECORD = 16 << 20
"""Bytes. What is longer is not read into memory."""


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

    def sync(self) -> None:
        """Returns once all is on the disk."""
        ...

    def make_replaceable(self) -> None:
        """Leaves nothing beside the file, and keeps writers away; UsageError if readers prevent it."""
        ...

    def close(self) -> None:
        """Releases the file."""
        ...


class JsonlStore:
    """One record a line. A second writer is refused while one has the file open."""

    def __init__(self, file: File, *, writable: bool) -> None:
        self.file = file
        flags = os.O_RDWR | os.O_APPEND
        self._handle = open_private(file, flags) if writable else self._readable()
        try:
            self._lock = WriterLock(file) if writable else None
            if writable and not os.path.samestat(os.fstat(self._handle), os.stat(file)):
                raise UsageError(
                    f"{file}: another process has just replaced this journal; try again"
                )
        except LedgerAgentError:
            os.close(self._handle)
            raise

    def _readable(self) -> int:
        _refuse_special(self.file)
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
        except OSError as problem:
            written = len(whole) - len(left)
            os.ftruncate(self._handle, os.fstat(self._handle).st_size - written)
            raise OSError(problem.errno, problem.strerror, str(self.file)) from None

    def lines(self) -> Iterator[str]:
        """Every whole record, oldest first; DataError for one of more than 16 MiB.

        Bytes that are no UTF-8 are kept apart, as half characters.
        """
        with self.file.open("rb") as stream:
            number = 0
            while line := stream.readline(LONGEST_RECORD):
                number += 1
                if line.endswith(b"\n"):
                    refuse_large(line, str(self.file), number)
                    yield line[:-1].decode("utf-8", "surrogateescape")
                elif len(line) == LONGEST_RECORD:
                    problem = f"a record has at most {LONGEST_RECORD} bytes"
                    raise DataError(problem, file=str(self.file), line=number)

    def torn(self) -> bytes:
        """The bytes after the last line end."""
        with self.file.open("rb") as stream:
            last = b""
            while line := stream.readline(LONGEST_RECORD):
                last = line
        return b"" if last.endswith(b"\n") else last

    def drop_torn(self) -> None:
        """Moves the torn part to a file of its own beside the journal."""
        torn = self.torn()
        if torn:
            size = self.file.stat().st_size - len(torn)
            write_private(self.file.with_name(f"{self.file.name}.torn-{size}"), torn)
            os.truncate(self._handle, size)

    def sync(self) -> None:
        """Returns once all is on the disk."""
        os.fsync(self._handle)

    def make_replaceable(self) -> None:
        """Nothing to do: all is in the file."""

    def close(self) -> None:
        """Releases the file."""
        if self._handle < 0:
            return
        os.close(self._handle)
        self._handle = -1
        if self._lock is not None:
            self._lock.release()


class SqliteStore:
    """One record a row; SQLite's own log makes a torn record impossible.

    A second writer is refused, as long as one has the file of the same name with `.lock` behind it.
    """

    def __init__(self, file: File, *, writable: bool) -> None:
        # Not the database itself: to close any other handle on it would undo SQLite's own locks.
        self._lock = WriterLock(file, beside=True) if writable else None
        self._file = file
        try:
            self._base = self._writable() if writable else self._readable()
        # What a damaged database says of itself may be no text.
        except (sqlite3.Error, UnicodeError) as problem:
            self._release()
            raise DataError(f"not a journal: {problem}", file=str(file)) from None
        except LedgerAgentError:
            self._release()
            raise

    def _writable(self) -> sqlite3.Connection:
        make_private(self._file)
        # The journal sees to it that only one thread at a time is here.
        base = sqlite3.connect(self._file, isolation_level=None, check_same_thread=False)
        base.text_factory = _text_of
        try:
            if base.execute("SELECT 1 FROM sqlite_master").fetchone():
                self._refuse_another(base)
            base.execute("PRAGMA journal_mode=WAL")
            base.execute(
                "CREATE TABLE IF NOT EXISTS journal (seq INTEGER PRIMARY KEY, record TEXT NOT NULL)"
            )
        except (sqlite3.Error, UnicodeError, LedgerAgentError):
            base.close()
            raise
        return base

    def _readable(self) -> sqlite3.Connection:
        """A connection that writes nothing, nor makes a file beside, if no log of changes is there."""
        _refuse_special(self._file)
        log = self._file.with_name(f"{self._file.name}-wal")
        mode = "mode=ro" if log.exists() else "mode=ro&immutable=1"
        address = f"file:{quote(str(self._file.absolute()))}?{mode}"
        base = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
        base.text_factory = _text_of
        try:
            self._refuse_another(base)
        except (sqlite3.Error, UnicodeError, LedgerAgentError):
            base.close()
            raise
        return base

    def _refuse_another(self, base: sqlite3.Connection) -> None:
        """DataError for a database of something else."""
        base.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 2 * LONGEST_RECORD)
        kinds = base.execute("SELECT type FROM sqlite_master WHERE name = 'journal'").fetchall()
        columns = [(row[1], row[6]) for row in base.execute("PRAGMA table_xinfo(journal)")]
        # A view, or a column that is computed, says what stands in no file, and may do so for good.
        if kinds != [("table",)] or columns != [("seq", 0), ("record", 0)]:
            raise self._another("this database has no table `journal` of `seq` and `record`")
        # A trigger could change what is written, or drop it; SQLite's own names begin with sqlite_.
        for kind, name in base.execute("SELECT type, name FROM sqlite_master"):
            if name != "journal" and not name.lower().startswith("sqlite_"):
                raise self._another(f"beside its records stands the {kind} `{name}`")

    def _another(self, problem: str) -> DataError:
        return DataError(f"not a journal: {problem}", file=str(self._file))

    def append(self, line: str) -> None:
        """Adds one record in a transaction of its own; OSError where it does not fit on the disk."""
        try:
            self._base.execute("INSERT INTO journal (record) VALUES (?)", (line,))
        except sqlite3.Error as problem:
            raise OSError(errno.EIO, str(problem), str(self._file)) from None

    def lines(self) -> Iterator[str]:
        """Every record, oldest first; what is no text is an empty line. DataError for a damaged file."""
        try:
            rows = self._base.execute("SELECT record FROM journal ORDER BY seq")
            for number, (line,) in enumerate(rows, 1):
                text = line if isinstance(line, str) else ""
                refuse_large(text.encode("utf-8", "surrogatepass"), str(self._file), number)
                yield text
        except (sqlite3.Error, OverflowError, UnicodeError) as problem:
            raise DataError(f"the database is damaged: {problem}", file=str(self._file)) from None

    def torn(self) -> bytes:
        """Nothing: a transaction is whole or absent."""
        return b""

    def drop_torn(self) -> None:
        """Nothing to set aside."""

    def sync(self) -> None:
        """Nothing to wait for: SQLite forces each transaction to the disk."""

    def make_replaceable(self) -> None:
        """Ends the use of the database, whose log would be taken for that of the next one."""
        busy, _, _ = self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy:
            raise UsageError(f"{self._file}: somebody is reading this journal; try again later")
        self._base.close()

    def close(self) -> None:
        """Releases the file."""
        self._base.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()
            self._lock = None


def _text_of(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")


def _refuse_special(file: File) -> None:
    """DataError for what is not there, or would never end, such as a pipe or a device."""
    try:
        mode = file.stat().st_mode
    except OSError as problem:
        raise DataError(problem.strerror or str(problem), file=str(file)) from None
    if not stat.S_ISREG(mode):
        raise DataError("not a journal: this is no regular file", file=str(file))


def open_store(file: File | str, *, writable: bool = False) -> Store:
    """The store for a file: SQLite for `.sqlite` and `.db`, else one JSON record a line."""
    path = File(file)
    kind = SqliteStore if path.suffix in {".sqlite", ".sqlite3", ".db"} else JsonlStore
    return kind(path, writable=writable)
