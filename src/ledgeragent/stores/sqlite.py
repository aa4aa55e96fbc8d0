"""Sessions in a SQLite file: they outlive the process, and several on one machine may share them."""

from __future__ import annotations

import sqlite3
import time

from ledgeragent.stores.base import BUSY, IDLE_SECONDS, SavedSession
from ledgeragent.stores.codec import dumps, loads
from ledgeragent.stores.errors import SessionChangedError, SessionStoreError

_TABLE = """CREATE TABLE IF NOT EXISTS sessions
(name TEXT PRIMARY KEY, version INTEGER NOT NULL, saved TEXT NOT NULL, used REAL NOT NULL)"""


class SqliteSessions:
    """A `SessionStore` in one file."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._base: sqlite3.Connection | None = None

    async def open(self) -> None:
        """Opens the file and drops what nobody has used for long."""
        try:
            self._base = sqlite3.connect(self._file, isolation_level=None)
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.execute("PRAGMA synchronous=NORMAL")
            self._base.execute(_TABLE)
        except sqlite3.Error as problem:
            raise SessionStoreError(f"{self._file}: {problem}") from None
        self._run("DELETE FROM sessions WHERE used < ?", time.time() - IDLE_SECONDS)

    async def load(self, name: str) -> SavedSession | None:
        """The session, or None if there is none."""
        row = self._run("SELECT saved, version FROM sessions WHERE name = ?", name).fetchone()
        return loads(*row) if row is not None else None

    async def save(self, name: str, saved: SavedSession) -> None:
        """Keeps it as the next version; SessionChangedError if another was kept since it was read."""
        if saved.version == 0:
            statement = "INSERT INTO sessions VALUES (?, 1, ?, ?) ON CONFLICT DO NOTHING"
            cursor = self._run(statement, name, dumps(saved), time.time())
        else:
            statement = (
                "UPDATE sessions SET version = version + 1, saved = ?, used = ? "
                "WHERE name = ? AND version = ?"
            )
            cursor = self._run(statement, dumps(saved), time.time(), name, saved.version)
        if cursor.rowcount == 0:
            raise SessionChangedError(BUSY)

    async def close(self) -> None:
        """Closes the file."""
        if self._base is not None:
            self._base.close()

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        assert self._base is not None
        try:
            return self._base.execute(statement, values)
        except sqlite3.Error as problem:
            raise SessionStoreError(f"the session store failed: {problem}") from None
