"""Sessions in Postgres: for several gateways behind one load balancer."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from typing import Any, LiteralString

from ledgeragent.errors import MissingExtraError
from ledgeragent.files.keys import shown_address
from ledgeragent.stores.base import BUSY, IDLE_SECONDS, SavedSession
from ledgeragent.stores.codec import loads
from ledgeragent.stores.errors import SessionChangedError, SessionStoreError
from ledgeragent.stores.lately import LatelyKept, Stamp
from ledgeragent.stores.rows import SessionRows, change_to

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
_ROWS: LiteralString = """CREATE TABLE IF NOT EXISTS ledgeragent_session_rows
(name TEXT NOT NULL REFERENCES ledgeragent_sessions ON DELETE CASCADE, kind TEXT NOT NULL,
number INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (name, kind, number))"""
_STAMP: LiteralString = "SELECT version, attempt FROM ledgeragent_sessions WHERE name = %s"
_WHOLE: LiteralString = """SELECT version, attempt, saved,
ARRAY(SELECT kind FROM ledgeragent_session_rows r WHERE r.name = s.name ORDER BY kind, number),
ARRAY(SELECT number FROM ledgeragent_session_rows r WHERE r.name = s.name ORDER BY kind, number),
ARRAY(SELECT body FROM ledgeragent_session_rows r WHERE r.name = s.name ORDER BY kind, number)
FROM ledgeragent_sessions s WHERE name = %s"""
_FIRST: LiteralString = """WITH head AS (
INSERT INTO ledgeragent_sessions (name, version, saved, attempt)
VALUES (%(name)s, 1, %(head)s, %(attempt)s) ON CONFLICT DO NOTHING RETURNING name)"""
_NEXT: LiteralString = """WITH head AS (
UPDATE ledgeragent_sessions
SET version = version + 1, saved = %(head)s, attempt = %(attempt)s, used = now()
WHERE name = %(name)s AND version = %(version)s AND %(before)s IN ('', attempt) RETURNING name)"""
# One statement, since all that is under way shares the connection: all of it is done, or nothing.
_PUT: LiteralString = """, put AS (
INSERT INTO ledgeragent_session_rows
SELECT head.name, fresh.* FROM head,
unnest(%(kinds)s::text[], %(numbers)s::int[], %(bodies)s::text[]) fresh
ON CONFLICT (name, kind, number) DO UPDATE SET body = excluded.body),
gone AS (
DELETE FROM ledgeragent_session_rows r USING head
WHERE r.name = head.name AND CASE WHEN %(whole)s
THEN (r.kind, r.number) NOT IN (SELECT * FROM unnest(%(kinds)s::text[], %(numbers)s::int[]))
ELSE (r.kind, r.number) IN (SELECT * FROM unnest(%(gone_kinds)s::text[], %(gone_numbers)s::int[]))
END)
SELECT name FROM head"""
_LOCK = 7_205_759_403


class PostgresSessions:
    """A `SessionStore` in one table of a database, over one connection that mends itself."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._base: psycopg.AsyncConnection[Any] | None = None
        self._connecting = asyncio.Lock()
        self._lately = LatelyKept()

    async def open(self) -> None:
        """Makes the table, and drops what nobody has used for long."""
        try:
            # Two gateways that start at once must not both make it.
            await self._run("SELECT pg_advisory_lock(%s)", _LOCK)
        except SessionStoreError as problem:
            # Whoever starts a gateway may know where; clients, who hear of later failures, may not.
            raise SessionStoreError(f"{shown_address(self._address)}: {problem}") from None
        await self._run(_TABLE)
        if await (await self._run(_HAS_ATTEMPTS)).fetchone() is None:
            await self._run(_ATTEMPTS)
        await self._run(_ROWS)
        await self._run("SELECT pg_advisory_unlock(%s)", _LOCK)
        idle = "DELETE FROM ledgeragent_sessions WHERE used < now() - make_interval(secs => %s)"
        await self._run(idle, IDLE_SECONDS)

    async def load(self, name: str) -> SavedSession | None:
        """The session, or None if there is none."""
        row = await (await self._run(_STAMP, name)).fetchone()
        if row is None:
            return None
        rows = self._lately.of(name, Stamp(*row))
        if rows is not None:
            return rows.saved
        row = await (await self._run(_WHOLE, name)).fetchone()
        if row is None:
            return None
        version, attempt, head, *columns = row
        saved, places = loads(head, version, zip(*columns, strict=True))
        if places is not None:
            self._lately.put(name, Stamp(version, attempt), SessionRows(saved, places))
        return saved

    async def save(self, name: str, saved: SavedSession) -> None:
        """Keeps it as the next version; SessionChangedError if another was kept since it was read."""
        stamp, before = self._lately.before(name, saved.version) or (Stamp(saved.version, ""), None)
        self._lately.drop(name)
        change = change_to(saved, before)
        fresh = Stamp(saved.version + 1, secrets.token_hex(8))
        values = {
            "name": name,
            "version": stamp.version,
            "before": stamp.attempt,
            "attempt": fresh.attempt,
            "head": change.head,
            "whole": change.is_whole,
            "kinds": [row.kind for row in change.put],
            "numbers": [row.number for row in change.put],
            "bodies": [row.body for row in change.put],
            "gone_kinds": [kind for kind, _ in change.gone],
            "gone_numbers": [number for _, number in change.gone],
        }
        statement = (_FIRST if saved.version == 0 else _NEXT) + _PUT
        row = await (await self._run(statement, values=values)).fetchone()
        if row is None and not await self._is_kept(name, fresh.attempt):
            raise SessionChangedError(BUSY)
        self._lately.put(name, fresh, change.rows)

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

    async def _run(
        self, statement: LiteralString, *places: object, values: Mapping[str, object] | None = None
    ) -> psycopg.AsyncCursor[Any]:
        """Carries it out; over a new connection where the old one is found to be gone."""
        try:
            base = await self._connected()
            try:
                return await base.execute(statement, values or places)
            except psycopg.OperationalError:
                if not base.closed:
                    raise
                return await (await self._connected()).execute(statement, values or places)
        except psycopg.Error as problem:
            name = type(problem).__name__
            raise SessionStoreError(f"the session store cannot be reached: {name}") from None

    async def _connected(self) -> psycopg.AsyncConnection[Any]:
        async with self._connecting:
            if self._base is None or self._base.closed:
                # A database of SQL_ASCII says of no text what it is, and bytes would come back.
                self._base = await psycopg.AsyncConnection.connect(
                    self._address, autocommit=True, client_encoding="utf8"
                )
            return self._base
