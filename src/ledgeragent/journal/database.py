"""The database of a journal: its tables in Postgres, one connection, and errors that show no address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, LiteralString

from ledgeragent.errors import MissingExtraError
from ledgeragent.files.keys import shown_address

try:
    import psycopg
    from psycopg import conninfo
except ImportError:
    raise MissingExtraError("psycopg", "postgres") from None

_PATIENCE = {"connect_timeout": 5, "tcp_user_timeout": 10_000}
"""How long a server that does not answer is waited for, where the address does not say (s, ms)."""

_LOCK = 7_205_759_404
_CHAIN_LOCKS = 720_576
"""The first half of the locks on chains; the second one is made of a chain's name."""

_TABLES: tuple[LiteralString, ...] = (
    """CREATE TABLE ledgeragent_chains
(chain TEXT PRIMARY KEY, ended BOOLEAN NOT NULL DEFAULT false)""",
    """CREATE TABLE ledgeragent_journal
(chain TEXT NOT NULL, seq BIGINT NOT NULL, record TEXT NOT NULL,
place BIGINT GENERATED ALWAYS AS IDENTITY UNIQUE, PRIMARY KEY (chain, seq))""",
    """CREATE INDEX ledgeragent_telling ON ledgeragent_journal (place)
WHERE record ~ '"event":"(erased|continued|dropped)"'""",
    """CREATE TABLE ledgeragent_heads
(chain TEXT NOT NULL, head TEXT NOT NULL, place BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY)""",
    """CREATE FUNCTION ledgeragent_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF current_setting('ledgeragent.erasing', true) = 'on' AND TG_OP <> 'TRUNCATE' THEN
    RETURN COALESCE(NEW, OLD);
  END IF;
  RAISE EXCEPTION 'a journal is append-only';
END $$""",
    """CREATE TRIGGER ledgeragent_append_only BEFORE UPDATE OR DELETE ON ledgeragent_journal
FOR EACH ROW EXECUTE FUNCTION ledgeragent_append_only()""",
    """CREATE TRIGGER ledgeragent_no_truncate BEFORE TRUNCATE ON ledgeragent_journal
FOR EACH STATEMENT EXECUTE FUNCTION ledgeragent_append_only()""",
)

_SHAPES: LiteralString = """SELECT c.relname, c.relkind = 'r' AND NOT c.relrowsecurity
AND NOT EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid)
AND NOT EXISTS (SELECT FROM pg_inherits WHERE c.oid IN (inhparent, inhrelid))
AND NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attgenerated <> ''),
ARRAY(SELECT tgname::text FROM pg_trigger
  WHERE tgrelid = c.oid AND NOT tgisinternal AND tgenabled = 'O' ORDER BY tgname)
FROM pg_class c WHERE c.oid IN (to_regclass('ledgeragent_chains'),
to_regclass('ledgeragent_journal'), to_regclass('ledgeragent_heads')) ORDER BY c.relname"""
"""Of each table that is there: whether its rows are what was written, and its triggers."""
_TRIGGERS = {"ledgeragent_journal": ["ledgeragent_append_only", "ledgeragent_no_truncate"]}


class DatabaseError(OSError):
    """The database cannot be reached, or refuses. Of the address only what is no secret is told."""


class ConnectionLostError(DatabaseError):
    """The connection is gone, so that nobody knows whether the last statement was carried out."""


class TakenError(DatabaseError):
    """Another writer has a record at this place already."""


class JournalDatabase:
    """One connection to the tables of a journal. It is made when it is first needed."""

    def __init__(self, address: str) -> None:
        self.shown = shown_address(address)
        self._address = address
        self._base: psycopg.Connection[Any] | None = None

    @property
    def is_connected(self) -> bool:
        """True until the connection is known to be gone."""
        return self._base is not None and not self._base.closed

    def connect(self) -> None:
        """A new connection, in place of one that is gone; DatabaseError where there is none to be had."""
        self.close()
        try:
            parts = conninfo.conninfo_to_dict(self._address)
            patient = conninfo.make_conninfo("", **{**_PATIENCE, **parts})
            # A database of SQL_ASCII says of no text what it is, and bytes would come back.
            self._base = psycopg.connect(patient, autocommit=True, client_encoding="utf8")
            self._check_tables(self._base)
        except psycopg.Error as problem:
            raise DatabaseError(self._told(problem)) from None

    def _check_tables(self, base: psycopg.Connection[Any]) -> None:
        """DatabaseError for a table that could show, or keep, something else than what was written."""
        for table, is_plain, triggers in base.execute(_SHAPES):
            if not is_plain or triggers != _TRIGGERS.get(table, []):
                self.close()
                raise DatabaseError(
                    f"{table} in the journal's database is not the table that was made: it has rules, "
                    "row security, heirs or other triggers, or is none; nothing in it is believed"
                )

    def run(self, statement: LiteralString, *values: object) -> psycopg.Cursor[Any]:
        """Carries a statement out, all of it or nothing."""
        if not self.is_connected:
            self.connect()
        assert self._base is not None
        try:
            return self._base.execute(statement, values)
        except psycopg.errors.UniqueViolation as problem:
            raise TakenError(self._told(problem)) from None
        except psycopg.Error as problem:
            kind = DatabaseError if self.is_connected else ConnectionLostError
            raise kind(self._told(problem)) from None

    def prepare(self) -> None:
        """Makes the tables where they are not there yet."""
        if self._has_tables():
            return
        # Two writers that start at once must not both make them.
        self.run("SELECT pg_advisory_lock(%s)", _LOCK)
        try:
            if not self._has_tables():
                self._make_tables()
        finally:
            self.run("SELECT pg_advisory_unlock(%s)", _LOCK)

    def _make_tables(self) -> None:
        """All of them or none: half of a journal could not be told from another's tables."""
        assert self._base is not None
        try:
            with self._base.transaction():
                for statement in _TABLES:
                    self._base.execute(statement)
        except psycopg.Error as problem:
            raise DatabaseError(self._told(problem)) from None

    def _has_tables(self) -> bool:
        (table,) = self.run("SELECT to_regclass('ledgeragent_heads')").fetchone() or (None,)
        return table is not None

    def chains(self) -> list[str]:
        """The names of all chains that any of the tables knows, the oldest first."""
        query: LiteralString = (
            "SELECT chain FROM ledgeragent_chains UNION SELECT chain FROM ledgeragent_heads "
            "UNION SELECT chain FROM ledgeragent_journal ORDER BY chain"
        )
        return [name for (name,) in self.run(query)]

    def telling(self) -> Iterator[tuple[str, str]]:
        """The chain and the line of every record that may tell of another chain, by an index."""
        yield from self.run(
            "SELECT chain, record FROM ledgeragent_journal "
            """WHERE record ~ '"event":"(erased|continued|dropped)"' ORDER BY place"""
        )

    def holding(self, part: str) -> Iterator[tuple[str, str]]:
        """The chain and the line of every record that holds this text."""
        query: LiteralString = (
            "SELECT chain, record FROM ledgeragent_journal WHERE strpos(record, %s) > 0 "
            "ORDER BY place"
        )
        yield from self.run(query, part)

    def lock(self, chain: str) -> bool:
        """True if the chain is this connection's to write from now on, as long as it lasts."""
        query: LiteralString = "SELECT pg_try_advisory_lock(%s, hashtext(%s))"
        (is_ours,) = self.run(query, _CHAIN_LOCKS, chain).fetchone() or (False,)
        return bool(is_ours)

    def unlock(self, chain: str) -> None:
        """Lets others write the chain, or take it out."""
        self.run("SELECT pg_advisory_unlock(%s, hashtext(%s))", _CHAIN_LOCKS, chain)

    def replace(self, chain: str, lines: Mapping[int, str]) -> None:
        """Puts other lines in the place of records, all or none."""
        self._erase(
            "UPDATE ledgeragent_journal SET record = %s WHERE chain = %s AND seq = %s",
            [(line, chain, seq) for seq, line in lines.items()],
        )

    def drop(self, chain: str) -> None:
        """Takes a whole chain out, with its heads."""
        self._erase("DELETE FROM ledgeragent_journal WHERE chain = %s", [(chain,)])
        self.run("DELETE FROM ledgeragent_heads WHERE chain = %s", chain)
        self.run("DELETE FROM ledgeragent_chains WHERE chain = %s", chain)

    def _erase(self, statement: LiteralString, rows: Sequence[tuple[object, ...]]) -> None:
        if not self.is_connected:
            self.connect()
        assert self._base is not None
        try:
            with self._base.transaction():
                self._base.execute("SET LOCAL ledgeragent.erasing = 'on'")
                self._base.cursor().executemany(statement, rows)
        except psycopg.Error as problem:
            raise DatabaseError(self._told(problem)) from None

    def close(self) -> None:
        """Ends the connection, and with it the locks."""
        if self._base is not None:
            self._base.close()
            self._base = None

    def _told(self, problem: psycopg.Error) -> str:
        # Its own words may hold parts of the address, the password among them.
        code = f" {problem.sqlstate}" if problem.sqlstate else ""
        return f"the journal's database failed: {type(problem).__name__}{code}"
