"""Sessions in a SQLite file: they outlive the process, and several on one machine may share them."""

from __future__ import annotations

import asyncio
import secrets
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path as File
from typing import TypeVar

from ledgeragent.files.private import make_private
from ledgeragent.stores.base import BUSY, IDLE_SECONDS, SavedSession
from ledgeragent.stores.codec import loads
from ledgeragent.stores.errors import SessionChangedError, SessionStoreError
from ledgeragent.stores.lately import LatelyKept, Stamp
from ledgeragent.stores.rows import SessionRows, change_to

_Result = TypeVar("_Result")

_TABLE = """CREATE TABLE IF NOT EXISTS sessions
(name TEXT PRIMARY KEY, version INTEGER NOT NULL, saved TEXT NOT NULL, used REAL NOT NULL,
attempt TEXT NOT NULL DEFAULT '')"""
_ATTEMPTS = "ALTER TABLE sessions ADD COLUMN attempt TEXT NOT NULL DEFAULT ''"
_ROWS = """CREATE TABLE IF NOT EXISTS session_rows
(name TEXT NOT NULL REFERENCES sessions ON DELETE CASCADE, kind TEXT NOT NULL,
number INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (name, kind, number)) WITHOUT ROWID"""


class SqliteSessions:
    """A `SessionStore` in one file, which only its owner may read.

    A thread of its own waits for the file, so that nobody else waits for another process's lock.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._base: sqlite3.Connection | None = None
        self._lately = LatelyKept()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sessions")

    async def open(self) -> None:
        """Opens the file and drops what nobody has used for long."""
        await self._in_thread(self._connect)

    async def load(self, name: str) -> SavedSession | None:
        """The session, or None if there is none."""
        return await self._in_thread(lambda: self._load(name))

    async def save(self, name: str, saved: SavedSession) -> None:
        """Keeps it as the next version; SessionChangedError if another was kept since it was read."""
        await self._in_thread(lambda: self._save(name, saved))

    async def close(self) -> None:
        """Closes the file."""
        if self._base is not None:
            await self._in_thread(self._base.close)
        self._thread.shutdown()

    async def _in_thread(self, work: Callable[[], _Result]) -> _Result:
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _connect(self) -> None:
        make_private(File(self._file))
        try:
            self._base = sqlite3.connect(self._file, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.execute("PRAGMA foreign_keys=ON")
            self._base.execute("BEGIN IMMEDIATE")  # Two that start at once must not both add to it.
            self._base.execute(_TABLE)
            columns = self._base.execute("PRAGMA table_info(sessions)").fetchall()
            if all(name != "attempt" for _, name, *_ in columns):
                self._base.execute(_ATTEMPTS)
            self._base.execute(_ROWS)
            self._base.execute("COMMIT")
        except sqlite3.Error as problem:
            if self._base is not None:
                self._base.close()
            raise SessionStoreError(f"{self._file}: {problem}") from None
        self._run("DELETE FROM sessions WHERE used < ?", time.time() - IDLE_SECONDS)

    def _load(self, name: str) -> SavedSession | None:
        with self._transaction("BEGIN"):
            stamp = self._stamp(name)
            if stamp is None:
                return None
            rows = self._lately.of(name, stamp)
            if rows is not None:
                return rows.saved
            (head,) = self._run("SELECT saved FROM sessions WHERE name = ?", name).fetchone()
            query = "SELECT kind, number, body FROM session_rows WHERE name = ?"
            saved, places = loads(head, stamp.version, self._run(query, name).fetchall())
        if places is not None:
            self._lately.put(name, stamp, SessionRows(saved, places))
        return saved

    def _stamp(self, name: str) -> Stamp | None:
        query = "SELECT version, attempt FROM sessions WHERE name = ?"
        row = self._run(query, name).fetchone()
        return Stamp(*row) if row is not None else None

    def _save(self, name: str, saved: SavedSession) -> None:
        stamp, before = self._lately.before(name, saved.version) or (None, None)
        self._lately.drop(name)
        change = change_to(saved, before)
        fresh = Stamp(saved.version + 1, secrets.token_hex(8))
        with self._transaction("BEGIN IMMEDIATE"):
            self._put_head(name, change.head, stamp or Stamp(saved.version, ""), fresh)
            if change.is_whole:
                self._run("DELETE FROM session_rows WHERE name = ?", name)
            for kind, number in change.gone:
                gone = "DELETE FROM session_rows WHERE name = ? AND kind = ? AND number = ?"
                self._run(gone, name, kind, number)
            for row in change.put:
                self._run("INSERT OR REPLACE INTO session_rows VALUES (?, ?, ?, ?)", name, *row)
        self._lately.put(name, fresh, change.rows)

    def _put_head(self, name: str, head: str, stamp: Stamp, fresh: Stamp) -> None:
        if stamp.version == 0:
            cursor = self._run(
                "INSERT INTO sessions (name, version, saved, used, attempt) VALUES (?, 1, ?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                name,
                head,
                time.time(),
                fresh.attempt,
            )
        else:
            # What is not known to stand there may be anybody's; only its version is the one read.
            cursor = self._run(
                "UPDATE sessions SET version = ?, saved = ?, used = ?, attempt = ? "
                "WHERE name = ? AND version = ? AND attempt = coalesce(nullif(?, ''), attempt)",
                fresh.version,
                head,
                time.time(),
                fresh.attempt,
                name,
                *stamp,
            )
        if cursor.rowcount == 0:
            raise SessionChangedError(BUSY)

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        """All of what is done in it, or nothing."""
        assert self._base is not None
        self._run(begin)
        try:
            yield
            self._run("COMMIT")
        except BaseException:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        assert self._base is not None
        try:
            return self._base.execute(statement, values)
        except sqlite3.Error as problem:
            raise SessionStoreError(f"the session store failed: {problem}") from None
