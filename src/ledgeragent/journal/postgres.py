"""A journal in Postgres: any number of writers, each with a chain of its own.

A chain is one writer's as long as its connection lasts. Whoever starts takes up a chain that nobody
writes, or begins one, so that there are as many as there were writers at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import LiteralString

from ledgeragent.errors import DataError, UsageError
from ledgeragent.journal.crossreferences import CrossReferences
from ledgeragent.journal.database import (
    ConnectionLostError,
    DatabaseError,
    JournalDatabase,
    TakenError,
)
from ledgeragent.journal.heads import Head, head_of
from ledgeragent.journal.stores import ChainMovedError

_AT_ONCE = 500
_LEAST = -(1 << 63)
"""The least number that a row can have: one that somebody put in front must be seen."""
_LAST: LiteralString = (
    "SELECT seq, record FROM ledgeragent_journal WHERE chain = %s ORDER BY seq DESC LIMIT 1"
)


class PostgresStore:
    """One chain of a database. Heads that are signed stand in the same database."""

    waits = True

    def __init__(self, base: JournalDatabase, chain: str, count: int = 0) -> None:
        self._base = base
        self.chain = chain
        self._count = count

    @classmethod
    def of_writer(cls, base: JournalDatabase) -> PostgresStore:
        """A chain for a new writer; UsageError where the database cannot be had."""
        try:
            base.prepare()
            query: LiteralString = (
                "SELECT chain FROM ledgeragent_chains WHERE NOT ended ORDER BY chain"
            )
            for (chain,) in base.run(query).fetchall():
                store = cls(base, chain)
                if base.lock(chain) and not store._is_ended():
                    store._count = store._last()[0]
                    return store
            return cls(base, _begun(base))
        except DatabaseError as problem:
            base.close()
            raise UsageError(f"{base.shown}: {problem}") from None

    def append(self, line: str) -> None:
        """Adds one record; returns once the database has it. OSError where it could not be added.

        ChainMovedError where the chain is another writer's by now, or may hold more than was told.
        """
        if not self._base.is_connected and self._take_up(None):
            self._move()
        try:
            self._insert(line)
        except ConnectionLostError:
            if not self._take_up(line):
                self._insert(line)
        self._count += 1

    def _insert(self, line: str) -> None:
        statement: LiteralString = (
            "INSERT INTO ledgeragent_journal (chain, seq, record) VALUES (%s, %s, %s)"
        )
        try:
            self._base.run(statement, self.chain, self._count + 1, line)
        except TakenError:
            self._move()

    def _take_up(self, line: str | None) -> bool:
        """Goes on over a new connection; True if the record in doubt, `line`, had been added."""
        self._base.connect()
        if not self._base.lock(self.chain):
            self._move()
        last, record = self._last()
        if last == self._count:
            return False
        if last != self._count + 1 or record != line:
            self._move()
        return True

    def _move(self) -> None:
        self.begin()
        raise ChainMovedError

    def begin(self) -> str:
        """Leaves the chain, and begins another, whose name is returned."""
        self.chain, self._count = _begun(self._base), 0
        return self.chain

    def end(self) -> None:
        """Notes that nobody goes on with the chain."""
        self._base.run("UPDATE ledgeragent_chains SET ended = true WHERE chain = %s", self.chain)
        self._base.unlock(self.chain)

    def erased(self) -> set[int]:
        """The numbers of its records that any chain tells were erased."""
        return CrossReferences.read(self._base).erased.get(self.chain, set())

    def _is_ended(self) -> bool:
        query: LiteralString = "SELECT ended FROM ledgeragent_chains WHERE chain = %s"
        (is_ended,) = self._base.run(query, self.chain).fetchone() or (True,)
        return bool(is_ended)

    def _last(self) -> tuple[int, str]:
        row = self._base.run(_LAST, self.chain).fetchone()
        return (row[0], row[1]) if row is not None else (0, "")

    def lines(self) -> Iterator[str]:
        """Every record, oldest first; DataError where the database cannot be read."""
        return self._lines(_LEAST)

    def recent(self, count: int) -> Iterator[str]:
        """The last `count` records, oldest first."""
        return self._lines(self._last()[0] - count + 1)

    def _lines(self, first: int) -> Iterator[str]:
        query: LiteralString = (
            "SELECT seq, record FROM ledgeragent_journal WHERE chain = %s AND seq >= %s "
            "ORDER BY seq LIMIT %s"
        )
        try:
            while rows := self._base.run(query, self.chain, first, _AT_ONCE).fetchall():
                yield from (record for _, record in rows)
                first = rows[-1][0] + 1
        except DatabaseError as problem:
            raise DataError(str(problem), file=self._base.shown) from None

    def heads(self) -> Iterator[Head]:
        """The signed heads of this chain, the oldest first; DataError for what is none."""
        query: LiteralString = "SELECT head FROM ledgeragent_heads WHERE chain = %s ORDER BY place"
        try:
            for (line,) in self._base.run(query, self.chain).fetchall():
                yield head_of(json.loads(line))
        except DatabaseError as problem:
            raise DataError(str(problem), file=self._base.shown) from None
        except (ValueError, RecursionError) as problem:
            raise DataError(f"this is no head: {problem}", file=self._base.shown) from None

    def keep(self, line: str) -> None:
        """Keeps one more head of this chain, twice where the answer to the first time was lost."""
        statement: LiteralString = "INSERT INTO ledgeragent_heads (chain, head) VALUES (%s, %s)"
        try:
            self._base.run(statement, self.chain, line)
        except ConnectionLostError:
            self._base.run(statement, self.chain, line)

    def torn(self) -> bytes:
        """Nothing: a statement is carried out or not."""
        return b""

    def drop_torn(self) -> None:
        """Nothing to set aside."""

    def sync(self) -> None:
        """Nothing to wait for: the database answers once a record is as safe as it is set to keep it."""

    def make_replaceable(self) -> None:
        """Nothing stands beside it."""

    def close(self) -> None:
        """Ends the connection; the chain is the next writer's."""
        self._base.close()


class MergedChains:
    """All chains of a database in one, in the order in which it took the records. Read only."""

    waits = True

    def __init__(self, base: JournalDatabase) -> None:
        self.base = base

    @classmethod
    def of_reader(cls, base: JournalDatabase) -> MergedChains:
        """All that stands there now, whatever is written meanwhile; DataError where it holds no journal."""
        try:
            base.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            base.chains()
        except DatabaseError as problem:
            base.close()
            raise DataError(f"not a journal: {problem}", file=base.shown) from None
        return cls(base)

    def chains(self) -> list[PostgresStore]:
        """Each chain by itself."""
        return [PostgresStore(self.base, chain) for chain in self.base.chains()]

    def append(self, line: str) -> None:
        """UsageError: a writer has a chain of its own."""
        raise UsageError(f"{self.base.shown}: opened for reading")

    def lines(self) -> Iterator[str]:
        """Every record, in the order in which they came; DataError where they cannot be read."""
        return self._lines(_LEAST)

    def recent(self, count: int) -> Iterator[str]:
        """The last `count` of them."""
        query: LiteralString = (
            "SELECT min(place) FROM (SELECT place FROM ledgeragent_journal "
            "ORDER BY place DESC LIMIT %s) latest"
        )
        (place,) = self.base.run(query, count).fetchone() or (None,)
        return self._lines(place or _LEAST)

    def _lines(self, first: int) -> Iterator[str]:
        query: LiteralString = (
            "SELECT place, record FROM ledgeragent_journal WHERE place >= %s "
            "ORDER BY place LIMIT %s"
        )
        try:
            while rows := self.base.run(query, first, _AT_ONCE).fetchall():
                yield from (record for _, record in rows)
                first = rows[-1][0] + 1
        except DatabaseError as problem:
            raise DataError(str(problem), file=self.base.shown) from None

    def torn(self) -> bytes:
        """Nothing."""
        return b""

    def drop_torn(self) -> None:
        """Nothing to set aside."""

    def sync(self) -> None:
        """Nothing to wait for."""

    def make_replaceable(self) -> None:
        """Nothing stands beside it."""

    def close(self) -> None:
        """Ends the connection."""
        self.base.close()


def _begun(base: JournalDatabase) -> str:
    """A new chain, which is this connection's to write."""
    chain = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{os.urandom(4).hex()}"
    base.lock(chain)
    base.run("INSERT INTO ledgeragent_chains (chain) VALUES (%s)", chain)
    return chain
