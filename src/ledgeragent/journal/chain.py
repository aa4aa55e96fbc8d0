"""The hash chain over the records of a journal: each holds the hash of the one before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ledgeragent.journal.stores import Store
from ledgeragent.types import Json, canonical

JOURNAL_VERSION = 1
GENESIS = "0" * 64

Event: TypeAlias = dict[str, Json]


def chained(record: Mapping[str, Json], previous: str) -> Event:
    """The record with its place in the chain: the hash of the one before it, and its own."""
    linked = {**record, "prev": previous}
    return {**linked, "hash": hashlib.sha256(line_of(linked).encode()).hexdigest()}


def line_of(record: Mapping[str, Json]) -> str:
    """The record on one line; half a character is written as its JSON escape."""
    return canonical(record).encode("utf-8", "backslashreplace").decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The result of a check: `records` intact ones, `torn` bytes after them, a `problem`.

    `problem` names the first record that was changed, removed or reordered; None if there is none.
    """

    records: int
    head: str
    torn: int = 0
    problem: str | None = None

    @property
    def intact(self) -> bool:
        """True if no record was changed, removed or reordered."""
        return self.problem is None


def verify(store: Store) -> Chain:
    """Recomputes the chain; stops at the first record that does not belong where it stands."""
    previous, count = GENESIS, 0
    for line in store.lines():
        try:
            record = json.loads(line)
            digest = record.pop("hash")
        except (ValueError, KeyError, AttributeError):
            return Chain(records=count, head=previous, problem=f"record {count + 1} is unreadable")
        if record.get("prev") != previous:
            problem = f"record {count + 1} does not follow the one before it"
            return Chain(records=count, head=previous, problem=problem)
        expected = hashlib.sha256(line_of(record).encode()).hexdigest()
        if digest != expected:
            problem = f"record {count + 1} was changed after it was written"
            return Chain(records=count, head=previous, problem=problem)
        previous, count = digest, count + 1
    return Chain(records=count, head=previous, torn=len(store.torn()))


def read(store: Store) -> Iterator[Event]:
    """Every whole record, oldest first, without checking the chain."""
    return (json.loads(line) for line in store.lines())
