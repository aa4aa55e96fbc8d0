"""A session at rest, in rows: a head that is written every turn, and rows that stay as they are.

A record that was read, a write that was done and what was said are a row each. Who keeps a session that
was kept before writes only the rows that differ, so a long conversation costs what is new in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, TypeVar

from ledgeragent.entry import Entry
from ledgeragent.ledger import Ledger
from ledgeragent.paths import Path
from ledgeragent.stores.base import SavedSession
from ledgeragent.stores.codec import call_text, entry_text, head_text, utterance_text
from ledgeragent.types import Json

RowKind: TypeAlias = Literal["entry", "write", "utterance"]
_Item = TypeVar("_Item")


class SessionRow(NamedTuple):
    """One row of a session; `number` is its place among those of its kind."""

    kind: RowKind
    number: int
    body: str


@dataclass(frozen=True, slots=True)
class SessionRows:
    """Which rows a session has where it is kept. `places` are those of the records, by their paths."""

    saved: SavedSession
    places: Mapping[Path[Json], int] = field(default_factory=dict)


class RowChange(NamedTuple):
    """What keeps a session: its head, the rows to put, those that have `gone`, and what is there then.

    If it `is_whole` nothing is known of the rows that were there, and all but those to put have gone.
    """

    head: str
    put: Sequence[SessionRow]
    gone: Sequence[tuple[RowKind, int]]
    is_whole: bool
    rows: SessionRows


def change_to(saved: SavedSession, before: SessionRows | None) -> RowChange:
    """What keeps a session that was kept as `before`; None if that is not known."""
    ledger = saved.memory.state.ledger
    old = before.saved.memory.state.ledger if before is not None else Ledger()
    earlier = before.places if before is not None else {}
    places = _places(ledger, earlier)
    put, doubtful = _entries(ledger, old, earlier, places)
    put += [SessionRow("write", n, call_text(x)) for n, x in _added(old.writes, ledger.writes)]
    words = _added(old.utterances, ledger.utterances)
    put += [SessionRow("utterance", n, utterance_text(x)) for n, x in words]
    gone: list[tuple[RowKind, int]] = [("entry", places[entry.path]) for entry, _ in doubtful]
    gone += [("entry", n) for path, n in earlier.items() if places.get(path) != n]
    gone += [("write", n) for n in range(len(ledger.writes), len(old.writes))]
    gone += [("utterance", n) for n in range(len(ledger.utterances), len(old.utterances))]
    head = head_text(saved, [(places[entry.path], text) for entry, text in doubtful])
    return RowChange(head, put, gone, before is None, SessionRows(saved, places))


def _places(ledger: Ledger, earlier: Mapping[Path[Json], int]) -> dict[Path[Json], int]:
    """The number of each record: in the order of first observation among those of its kind."""
    places: dict[Path[Json], int] = {}
    top = max(earlier.values(), default=-1)
    last: dict[str, int] = {}
    for entry in ledger:
        path = entry.path
        number = earlier.get(path, -1)
        if number <= last.get(path[0], -1):
            number = top = top + 1
        places[path] = last[path[0]] = number
    return places


def _entries(
    ledger: Ledger,
    old: Ledger,
    earlier: Mapping[Path[Json], int],
    places: Mapping[Path[Json], int],
) -> tuple[list[SessionRow], list[tuple[Entry, str]]]:
    """The records that differ, as rows; those that go with the head, as long as they are in doubt.

    A mark by a write that may have happened is told by that write's place, which changes as others
    are decided.
    """
    rows: list[SessionRow] = []
    doubtful: list[tuple[Entry, str]] = []
    doubts = ledger.unconfirmed
    before = {id(doubt.call) for doubt in old.unconfirmed}
    for entry in ledger:
        number = places[entry.path]
        by = {id(mark.by) for mark in entry.stale} if entry.stale else set()
        if not by.isdisjoint(id(doubt.call) for doubt in doubts):
            doubtful.append((entry, entry_text(entry, doubts)))
        elif (
            earlier.get(entry.path) != number
            or old.get(entry.path) is not entry
            or not by.isdisjoint(before)  # It went with the head.
        ):
            rows.append(SessionRow("entry", number, entry_text(entry)))
    return rows, doubtful


def _added(old: Sequence[_Item], new: Sequence[_Item]) -> Iterator[tuple[int, _Item]]:
    """What a list has that the other has not; all of it, where it is no longer one."""
    length = len(old)
    is_longer = len(new) >= length and (not length or new[length - 1] is old[-1])
    start = length if is_longer else 0
    yield from enumerate(new[start:], start)
