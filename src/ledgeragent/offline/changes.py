"""The changes that one step of a conversation makes in the ledger."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from ledgeragent.ledger import Entry, Ledger, Stale
from ledgeragent.paths import quote
from ledgeragent.types import Json

NEW, CHANGED, CONFIRMED, STALE = "new", "changed", "confirmed", "stale"
_MOST_DIFFERENCES = 20


class FieldDifference(NamedTuple):
    """One field that a later read found otherwise; "" for a side on which it is absent."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A stale mark: which fields ("" for all) and by which call (None: by the customer)."""

    fields: str
    by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerChange:
    """The effect of one step on one record.

    `kind` is `new`, `changed` (read again, other values), `confirmed` (read again, the same) or
    `stale`. `value` is None where it is as it was before.
    """

    path: str
    kind: str
    value: str | None
    source: str
    turn: int
    typed: bool = True
    stale: tuple[Mark, ...] = ()
    differences: tuple[FieldDifference, ...] = ()


def changes(before: Ledger, after: Ledger) -> Iterator[LedgerChange]:
    """The records in which two ledgers differ, the later one as it is."""
    for entry in after:
        earlier = before.get(entry.path)
        if earlier is not entry:
            yield _change(earlier, entry)


def _change(earlier: Entry | None, entry: Entry) -> LedgerChange:
    differences = () if earlier is None else tuple(differing(earlier.value, entry.value))
    if earlier is None:
        kind = NEW
    elif differences:
        kind = CHANGED
    else:
        kind = STALE if len(entry.stale) > len(earlier.stale) else CONFIRMED
    return LedgerChange(
        path=str(entry.path),
        kind=kind,
        value=shown(entry.value) if kind in (NEW, CHANGED) else None,
        source=str(entry.source),
        turn=entry.turn,
        typed=entry.typed,
        stale=tuple(map(_mark, entry.stale_kinds.values())),
        differences=differences[:_MOST_DIFFERENCES],
    )


def _mark(stale: Stale) -> Mark:
    return Mark(fields=_dotted(stale.fields), by=stale.by.name if stale.by is not None else None)


def differing(before: Json, after: Json, at: tuple[str, ...] = ()) -> Iterator[FieldDifference]:
    """Every field in which two values differ, objects compared field by field."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in dict.fromkeys((*before, *after)):
            here = (*at, str(name))
            if name not in after:
                yield FieldDifference(_dotted(here), shown(before[name]), "")
            elif name not in before:
                yield FieldDifference(_dotted(here), "", shown(after[name]))
            else:
                yield from differing(before[name], after[name], here)
    elif before != after:
        yield FieldDifference(_dotted(at), shown(before), shown(after))


def _dotted(names: Iterable[str]) -> str:
    return ".".join(map(quote, names))


def shown(value: Json) -> str:
    """A value as indented JSON text."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)
