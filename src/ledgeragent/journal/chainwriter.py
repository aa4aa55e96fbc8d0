"""The writer of a chain: seals each record behind the last one, and takes heads on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeAlias

from ledgeragent.errors import UsageError
from ledgeragent.journal.checkpoints import Checkpoints
from ledgeragent.journal.heads import Head
from ledgeragent.journal.resuming import resumed
from ledgeragent.journal.sealing import GENESIS, JOURNAL_VERSION, sealed
from ledgeragent.journal.stores import ChainMovedError, SeveralChains, Store
from ledgeragent.types import Json

Hear: TypeAlias = Callable[[Mapping[str, Json], str], None]
"""Is told of a record once it is written: as data, and as the line that stands in the journal."""


def record_of(
    seq: int,
    time: str,
    event: str,
    session: str,
    stamp: Mapping[str, Json],
    data: Mapping[str, Json],
) -> Mapping[str, Json]:
    """A record without its place in the chain."""
    return {
        "journal": JOURNAL_VERSION,
        "seq": seq,
        "time": time,
        "session": session,
        "event": event,
        "pack": stamp,
        **data,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """What a record tells, but for its place: `stamp` is the pack's, `hear` is told once it is written."""

    event: str
    stamp: Mapping[str, Json]
    data: Mapping[str, Json]
    session: str = ""
    hear: Hear | None = None

    def other(self, event: str, data: Mapping[str, Json]) -> Happening:
        """What the journal tells of itself meanwhile."""
        return Happening(event=event, stamp=self.stamp, data=data, hear=self.hear)


@dataclass(slots=True)
class _ChainEnd:
    """Where the chain goes on; `covered` records of it stood before the last checkpoint."""

    head: str = GENESIS
    count: int = 0
    time: str = ""
    covered: int = 0
    origin: str = ""


class ChainWriter:
    """Writes on the chain of a store, from where it ends. UsageError for one that cannot be continued.

    Not for several threads at once. `stamp` is that of the first pack whose verdicts it holds.
    """

    def __init__(self, store: Store, checkpoints: Checkpoints, stamp: Mapping[str, Json]) -> None:
        self.store = store
        self._checkpoints = checkpoints
        self._chain = _name_of(store)
        buried = store.erased() if isinstance(store, SeveralChains) else ()
        chain = resumed(store, checkpoints.own, buried)
        if not chain.intact:
            raise UsageError(f"the journal cannot be continued: {chain.problem}")
        covered = checkpoints.covered
        self._end = _ChainEnd(chain.head, chain.records, chain.time, covered, chain.origin)
        if checkpoints.signer and covered < chain.records:
            data = {"unsigned": chain.records - covered}
            self.write(Happening(event="unsigned", stamp=stamp, data=data))
        if chain.torn:
            store.drop_torn()
            data = {"torn_bytes": chain.torn}
            self.write(Happening(event="recovered", stamp=stamp, data=data))

    def write(self, happening: Happening) -> None:
        """Adds a record; returns once it is with the operating system. OSError where it could not be."""
        time, before = utc_now(), self._end.time
        if time < before:
            self._append(happening.other("clock", {"was": before}), time)
        self._append(happening, time)
        if self._checkpoints.sync == "always":
            self.store.sync()
        if self._end.count - self._end.covered >= self._checkpoints.every:
            self.checkpoint("count")
        if 0 < self._checkpoints.rotate <= self._end.count:
            self._rotate(happening)

    def checkpoint(self, occasion: str) -> Head:
        """Takes the head, signs it if there is a key, and sends it to where heads are kept."""
        if self._checkpoints.sync != "never":
            self.store.sync()
        head = Head(
            records=self._end.count,
            hash=self._end.head,
            time=utc_now(),
            origin=self._end.origin,
            occasion=occasion,
        )
        self._end.covered = head.records
        return self._checkpoints.keep(head)

    def close(self) -> int:
        """Takes the last head and releases the store; how many heads were not taken by their places."""
        try:
            if self._end.count > self._end.covered:
                self.checkpoint("close")
            return self._checkpoints.close()
        finally:
            self.store.close()

    def _rotate(self, happening: Happening) -> None:
        """Goes on in a new chain, where the store has several."""
        if not isinstance(self.store, SeveralChains):
            return
        self._append(happening.other("rotated", {}), utc_now())
        self.checkpoint("rotate")
        self.store.end()
        self.store.begin()
        self._begin(happening, utc_now())

    def _append(self, happening: Happening, time: str) -> None:
        try:
            self._put(happening, time)
        except ChainMovedError:
            self._begin(happening, time)
            self._put(happening, time)

    def _begin(self, happening: Happening, time: str) -> None:
        """The first record of a new chain, which tells what it goes on from."""
        before, chain = self._end, self._chain
        self._end, self._chain = _ChainEnd(time=before.time), _name_of(self.store)
        if before.count:
            link = {"chain": chain, "records": before.count, "head": before.head}
            self._put(happening.other("continued", link), time)

    def _put(self, happening: Happening, time: str) -> None:
        end = self._end
        record = record_of(
            end.count + 1,
            time,
            happening.event,
            happening.session,
            happening.stamp,
            happening.data,
        )
        line, digest = sealed(record, end.head)
        self.store.append(line)
        end.head, end.time = digest, time
        end.origin = end.origin or digest
        end.count += 1
        if happening.hear is not None:
            happening.hear(record, line)


def _name_of(store: Store) -> str:
    return store.chain if isinstance(store, SeveralChains) else ""


def utc_now() -> str:
    """The time as records have it, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
