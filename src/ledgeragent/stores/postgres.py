"""Sessions in Postgres: for several gateways behind one load balancer."""

from __future__ import annotations

import asyncio
import secrets
from typing import Any, LiteralString

from ledgeragent.errors import MissingExtraError
from ledgeragent.stores.base import BUSY, IDLE_SECONDS, SavedSession
from ledgeragent.stores.codec import dumps, loads
from ledgeragent.stores.errors import SessionChangedError, SessionStoreError

try:
    import psycopg
except ImportError:
    raise MissingExtraError("psycopg", "postgres") from None

_TABLE: LiteralString = """CREATE TABLE IF NOT EXISTS ledgeragent_sessions
(name TEXT PRIMARY KEY, version BIGINT NOT NULL, saved TEXT NOT NULL,
used TIMESTAMPTZ NOT NULL DEFAULT now(), attempt TEXT NOT NULL DEFAULT '')"""
_HAS_ATTEMPTS: LiteralString = """SELECT 1 FROM information_schema.columns
WHERE table_name = 'ledgeragent_sessions' AND column_name = 'attempt'"""
_ATTEMPTS: LiteralString = (
    "ALTER TABLE ledgeragent_sessions ADD COLUMN attempt TEXT NOT NULL DEFAULT ''"
)
_LOCK = 7_205_759_403


class PostgresSessions:
    """A `SessionStore` in one table of a database, over one connection that mends itself."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._base: psycopg.AsyncConnection[Any] | None = None
        self._connecting = asyncio.Lock()

    async def open(self) -> None:
        """Makes the table, and drops what nobody has used for long."""
        # Two gateways that start at once must not both make it.
        await self._run("SELECT pg_advisory_lock(%s)", _LOCK)
        await self._run(_TABLE)
        if await (await self._run(_HAS_ATTEMPTS)).fetchone() is None:
            await self._run(_ATTEMPTS)
        await self._run("SELECT pg_advisory_unlock(%s)", _LOCK)
        idle = "DELETE FROM ledgeragent_sessions WHERE used < now() - make_interval(secs => %s)"
        await self._run(idle, IDLE_SECONDS)

    async def load(self, name: str) -> SavedSession | None:
        """The session, or None if there is none."""
        query = "SELECT saved, version FROM ledgeragent_sessions WHERE name = %s"
        row = await (await self._run(query, name)).fetchone()
        return loads(*row) if row is not None else None

    async def save(self, name: str, saved: SavedSession) -> None:
        """Keeps it as the next version; SessionChangedError if another was kept since it was read."""
        text, attempt = dumps(saved), secrets.token_hex(8)
        if saved.version == 0:
            cursor = await self._run(
                "INSERT INTO ledgeragent_sessions (name, version, saved, attempt) "
                "VALUES (%s, 1, %s, %s) ON CONFLICT DO NOTHING",
                name,
                text,
                attempt,
            )
        else:
            cursor = await self._run(
                "UPDATE ledgeragent_sessions SET version = version + 1, saved = %s, attempt = %s, "
                "used = now() WHERE name = %s AND version = %s",
                text,
                attempt,
                name,
                saved.version,
            )
        if cursor.rowcount == 0 and not await self._is_kept(name, attempt):
            raise SessionChangedError(BUSY)

    async def _is_kept(self, name: str, attempt: str) -> bool:
        """True if it was kept, by a statement whose answer was lost with the connection.

        That what is kept is the same does not say so: two equal requests at once would both go on.
        """
        query = "SELECT 1 FROM ledgeragent_sessions WHERE name = %s AND attempt = %s"
        return await (await self._run(query, name, attempt)).fetchone() is not None

    async def close(self) -> None:
        """Closes the connection."""
        if self._base is not None:
            await self._base.close()

    async def _run(self, statement: LiteralString, *values: object) -> psycopg.AsyncCursor[Any]:
        """Carries it out; over a new connection where the old one is found to be gone."""
        try:
            base = await self._connected()
            try:
                return await base.execute(statement, values)
            except psycopg.OperationalError:
                if not base.closed:
                    raise
                return await (await self._connected()).execute(statement, values)
        except psycopg.Error as problem:
            name = type(problem).__name__
            raise SessionStoreError(f"the session store cannot be reached: {name}") from None

    async def _connected(self) -> psycopg.AsyncConnection[Any]:
        async with self._connecting:
            if self._base is None or self._base.closed:
                self._base = await psycopg.AsyncConnection.connect(self._address, autocommit=True)
            return self._base
