"""A journal in a table of SQLite, one record a row."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from pathlib import Path as File
from urllib.parse import quote

from ledgeragent.errors import DataError, LedgerAgentError, UsageError
from ledgeragent.files.limits import refuse_large
from ledgeragent.files.private import make_private
from ledgeragent.journal.lock import WriterLock
from ledgeragent.journal.stores import LONGEST_RECORD, refuse_special

_LEAST = -(1 << 63)
"""The least number that a row can have: one that somebody put in front must be seen."""


class SqliteStore:
    """One record a row; SQLite's own log makes a torn record impossible.

    A second writer is refused, as long as one has the file of the same name with `.lock` behind it.
    """

    waits = True

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
        refuse_special(self._file)
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
        return self._lines(_LEAST)

    def recent(self, count: int) -> Iterator[str]:
        """The last `count` records, oldest first."""
        (last,) = self._base.execute("SELECT max(seq) FROM journal").fetchone()
        return self._lines((last or 0) - count + 1)

    def _lines(self, first: int) -> Iterator[str]:
        try:
            query = "SELECT record FROM journal WHERE seq >= ? ORDER BY seq"
            rows = self._base.execute(query, (first,))
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
