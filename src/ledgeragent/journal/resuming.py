"""Resuming: where a journal that is opened again goes on, checked from its last head on.

What stands before is proven by `verify`, which reads all of it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ledgeragent.errors import DataError
from ledgeragent.journal.chain import Chain, continued, verify
from ledgeragent.journal.heads import Head
from ledgeragent.journal.sealing import JOURNAL_VERSION, Event, is_genuine, parsed
from ledgeragent.journal.stores import Store

LEAST = 1_000
"""Records that are checked at the end of a journal, whatever its heads cover."""


def resumed(store: Store, heads: Sequence[Head] = (), buried: Collection[int] = ()) -> Chain:
    """The end of the chain, checked from the last of `heads` on, and over its last records.

    The whole chain where it is no longer than that, is in an older format, or its end cannot be read.
    `buried` are the numbers of records that another chain tells were erased.
    """
    last = _place(_first(store, 1))
    covered = max((head.records for head in heads), default=0)
    if last <= LEAST or covered > last:
        return verify(store, heads=heads, buried=buried)
    count = max(LEAST, last - covered + 1) if covered else LEAST
    anchor = _first(store, count)
    if anchor is None or _place(anchor) != last - count + 1:
        return verify(store, heads=heads, buried=buried)
    lines = store.recent(count)
    next(lines)
    first = Chain(
        records=_place(anchor),
        head=str(anchor["hash"]),
        time=str(anchor["time"]),
        origin=_origin(store, heads),
    )
    return continued(store, first, lines, heads, buried)


def _origin(store: Store, heads: Sequence[Head]) -> str:
    if heads:
        return heads[-1].origin
    try:
        return str(parsed(next(store.lines())).get("hash", ""))
    except (ValueError, DataError, StopIteration):
        return ""


def _first(store: Store, count: int) -> Event | None:
    """The first of the last `count` records; None for one that cannot stand for what is before it."""
    try:
        line = next(store.recent(count))
        record = parsed(line)
    except (ValueError, DataError, StopIteration):
        return None
    is_sound = record.get("journal") == JOURNAL_VERSION and is_genuine(line)
    return record if is_sound and isinstance(record.get("time"), str) else None


def _place(record: Event | None) -> int:
    number = record.get("seq") if record is not None else 0
    return number if type(number) is int else 0
