"""Sessions in a SQLite file: they outlive the process, and several on one machine may share them."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path as File
from typing import TypeVar

from ledgeragent.files.private import make_private
from ledgeragent.stores.base import BUSY, IDLE_SECONDS, SavedSession
from ledgeragent.stores.codec import dumps, loads
from ledgeragent.stores.errors import SessionChangedError, SessionStoreError

_Result = TypeVar("_Result")

_TABLE = """CREATE TABLE IF NOT EXISTS sessions
(name TEXT PRIMARY KEY, version INTEGER NOT NULL, saved TEXT NOT NULL, used REAL NOT NULL)"""


class SqliteSessions:
    """A `SessionStore` in one file, which only its owner may read.

    A thread of its own waits for the file, so that nobody else waits for another process's lock.
    """

    def __init__(self, file: str) -> None:
        self._file = file
        self._base: sqlite3.Connection | None = None
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
            self._base.execute(_TABLE)
        except sqlite3.Error as problem:
            if self._base is not None:
                self._base.close()
            raise SessionStoreError(f"{self._file}: {problem}") from None
        self._run("DELETE FROM sessions WHERE used < ?", time.time() - IDLE_SECONDS)

    def _load(self, name: str) -> SavedSession | None:
        row = self._run("SELECT saved, version FROM sessions WHERE name = ?", name).fetchone()
        return loads(*row) if row is not None else None

    def _save(self, name: str, saved: SavedSession) -> None:
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

    def _run(self, statement: str, *values: object) -> sqlite3.Cursor:
        assert self._base is not None
        try:
            return self._base.execute(statement, values)
        except sqlite3.Error as problem:
            raise SessionStoreError(f"the session store failed: {problem}") from None
