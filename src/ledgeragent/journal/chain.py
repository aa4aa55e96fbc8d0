"""The hash chain over the records of a journal, checked: each holds the hash of the one before it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import attrgetter

from ledgeragent.errors import DataError
from ledgeragent.journal.heads import Head
from ledgeragent.journal.sealing import (
    FIRST_VERSION,
    GENESIS,
    JOURNAL_VERSION,
    Event,
    is_genuine,
    is_genuine_old,
    parsed,
    tombstone,
)
from ledgeragent.journal.stores import Store
from ledgeragent.types import Json

BIRTH = datetime(2026, 1, 1, tzinfo=UTC)
"""No journal is older than this package."""

_SKEW = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """The result of a check: `records` intact ones, `torn` bytes after them, a `problem`.

    `problem` names the first record that was changed, removed or reordered; None if there is none.
    `origin` is the hash of the first one, `time` that of the last. `doubts` are what is odd though the
    hashes fit, such as a clock that went back; `notes` what the journal itself tells of. `old` records
    are in the format of 0.1.0, `erased` ones are tombstones.
    """

    records: int
    head: str
    torn: int = 0
    problem: str | None = None
    doubts: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    old: int = 0
    erased: int = 0
    time: str = ""
    origin: str = ""

    @property
    def intact(self) -> bool:
        """True if no record was changed, removed or reordered."""
        return self.problem is None


class _BrokenChain(Exception):
    """A record that does not belong where it stands."""


@dataclass(slots=True)
class _Walk:
    """What is known of the chain up to a record; `marks` are the heads to come past, by their place.

    The first `unchecked` records are taken as they stand; `since` is known where no head tells them.
    """

    marks: Mapping[int, tuple[Head, ...]]
    since: datetime | None = None
    previous: str = GENESIS
    count: int = 0
    time: str = ""
    origin: str = ""
    old: int = 0
    unchecked: int = 0
    stones: set[int] = field(default_factory=set)
    buried: set[int] = field(default_factory=set)
    doubts: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def step(self, line: str) -> None:
        """Goes on by one record; raises _BrokenChain where it does not follow."""
        number = self.count + 1
        try:
            record = parsed(line)
        except ValueError as problem:
            raise _BrokenChain(f"record {number} is unreadable: {problem}") from None
        digest = record.get("hash")
        if record.get("prev") != self.previous:
            raise _BrokenChain(f"record {number} does not follow the one before it")
        if record.get("tombstone") is True:
            self._bury(number, line, digest)
        else:
            self._check(number, line, record)
        if type(record.get("seq")) is not int or record["seq"] != number:
            raise _BrokenChain(f"record {number} has the number {record.get('seq')!r:.40}")
        self.previous, self.count = str(digest), number
        self.origin = self.origin or self.previous
        self.meet()

    def meet(self) -> None:
        """Compares with the heads that were taken here."""
        for head in self.marks.get(self.count, ()):
            if head.hash != self.previous:
                raise _BrokenChain(
                    f"record {self.count} is not the one that stood there at {head.time}, when a head "
                    "was taken: the journal was written anew"
                )

    def _bury(self, number: int, line: str, digest: Json) -> None:
        # All of a tombstone follows from its place, so that nothing can be hidden in one.
        if not isinstance(digest, str) or line != tombstone(number, self.previous, digest):
            raise _BrokenChain(f"record {number} is no tombstone as this package writes them")
        self.stones.add(number)

    def _check(self, number: int, line: str, record: Event) -> None:
        version = record.get("journal")
        if version == FIRST_VERSION and self.count == self.old + len(self.stones):
            self.old += 1
            genuine = is_genuine_old(line, record)
        elif version == JOURNAL_VERSION:
            genuine = self._is_earlier(number, record) or is_genuine(line)
        else:
            raise _BrokenChain(
                f"record {number} is of a format {version!r:.20} that belongs not here"
            )
        if not genuine:
            raise _BrokenChain(f"record {number} was changed after it was written")
        self._tell_time(number, record)
        if record.get("event") == "erased" and isinstance(record.get("seqs"), list):
            self.buried.update(seq for seq in record["seqs"] if type(seq) is int)
            self.notes.append(f"record {number} tells that {len(record['seqs'])} were erased")
        if record.get("event") == "unsigned":
            self.notes.append(
                f"record {number} tells that {record.get('unsigned')!r:.20} before it were not covered by "
                "a signed head when they were found"
            )

    def _is_earlier(self, number: int, record: Event) -> bool:
        # Behind the first that is later, an earlier time was put there by somebody, or by a clock.
        if self.since is not None and self.unchecked == self.count:
            moment = _moment(record.get("time"))
            self.unchecked += moment is not None and moment < self.since
        return number <= self.unchecked

    def _tell_time(self, number: int, record: Event) -> None:
        moment, before = _moment(record.get("time")), _moment(self.time)
        if moment is None:
            raise _BrokenChain(f"record {number} has no time that could be read")
        self.time = record["time"]
        if moment < BIRTH:
            self.doubts.append(f"record {number} is dated {self.time}, before there were journals")
        elif moment > datetime.now(UTC) + _SKEW:
            self.doubts.append(f"record {number} is dated {self.time}, which is yet to come")
        if before is None or moment >= before:
            return
        if record.get("event") == "clock":
            self.notes.append(f"record {number} tells that the clock was set back then")
        else:
            self.doubts.append(f"record {number} is dated before the one that stands before it")


def verify(
    store: Store,
    *,
    heads: Iterable[Head] = (),
    since: datetime | None = None,
    buried: Iterable[int] = (),
) -> Chain:
    """Recomputes the chain; stops at the first record that does not belong where it stands.

    It has to come past each of `heads`. Records from before `since` are not recomputed: those that the
    last head from before then covers, or, without heads, those in front that say so of themselves.
    `buried` are the numbers of records that another chain tells were erased.
    """
    marks = _marks(heads)
    walk = _Walk(marks, None if marks else since, buried=set(buried))
    if since is not None:
        walk.unchecked = _covered_before(since, marks)
    return _walked(walk, store, store.lines(), is_told=since is not None)


def continued(
    store: Store,
    first: Chain,
    lines: Iterator[str],
    heads: Iterable[Head],
    buried: Iterable[int],
) -> Chain:
    """The chain from behind `first` on, which is taken as it stands; `lines` are the rest of it."""
    walk = _Walk(_marks(heads), None, first.head, first.records, first.time, first.origin)
    walk.buried.update(buried)
    return _walked(walk, store, lines)


def _covered_before(since: datetime, marks: Mapping[int, tuple[Head, ...]]) -> int:
    """How many records stood there when the last head from before `since` was taken."""
    heads = (head for same in marks.values() for head in same)
    times = ((head.records, _moment(head.time)) for head in heads)
    return max((records for records, time in times if time and time < since), default=0)


def _marks(heads: Iterable[Head]) -> Mapping[int, tuple[Head, ...]]:
    place = attrgetter("records")
    return {n: tuple(same) for n, same in groupby(sorted(heads, key=place), key=place)}


def _walked(walk: _Walk, store: Store, lines: Iterator[str], *, is_told: bool = False) -> Chain:
    problem = None
    try:
        for line in lines:
            walk.step(line)
        _end(walk)
    except _BrokenChain as broken:
        problem = str(broken)
    except DataError as broken:
        problem = broken.problem
    if is_told and problem is None:
        walk.notes.append(f"{walk.unchecked} records from before then were taken as they stand")
    return Chain(
        records=walk.count,
        head=walk.previous,
        torn=len(store.torn()) if problem is None else 0,
        problem=problem,
        doubts=tuple(walk.doubts),
        notes=tuple(walk.notes),
        old=walk.old,
        erased=len(walk.stones),
        time=walk.time,
        origin=walk.origin,
    )


def _end(walk: _Walk) -> None:
    last = max(walk.marks, default=0)
    if last > walk.count:
        time = walk.marks[last][0].time
        raise _BrokenChain(
            f"there are {walk.count} records, and a head of {time} tells of {last}: the last are gone"
        )
    for number in sorted(walk.stones - walk.buried):
        raise _BrokenChain(f"record {number} is gone, and no later record tells that it was erased")


def read(store: Store) -> Iterator[Event]:
    """Every whole record that was not erased, oldest first, without checking the chain.

    ValueError for one that is none.
    """
    records = (parsed(line) for line in store.lines())
    return (record for record in records if record.get("tombstone") is not True)


def _moment(time: Json) -> datetime | None:
    try:
        moment = datetime.fromisoformat(time)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo is not None else None
