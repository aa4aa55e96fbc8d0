"""One observed record: its value, the read it came from, and which parts are no longer known."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from ledgeragent.paths import Path, quote
from ledgeragent.persistent import PersistentList, PersistentMap
from ledgeragent.shape import Shape
from ledgeragent.text import visible
from ledgeragent.types import Json, ToolCall, canonical

Fields = tuple[str, ...]
"""A way into a record, () for all of it."""

# A rule reads many facts: this costs a third of what the class's own constructor does.
_evidence = tuple.__new__


class Stale(NamedTuple):
    """A mark on a record: `fields` (a prefix inside the record, () for all) may have changed.

    `by` is the write that changed them, None for a turn of the user, who can change them too.
    """

    fields: Fields
    by: ToolCall | None

    def covers(self, fields: Fields) -> bool:
        """True if reading `fields` would read something this mark calls unknown."""
        return fields[: len(self.fields)] == self.fields


UNMARKED: PersistentList[Stale] = PersistentList()
MarkKinds = PersistentMap[tuple[Fields, str | None], Stale]
"""The first mark for each field and tool."""

_NO_KINDS: MarkKinds = PersistentMap({})
_NO_ORIGINS: PersistentMap[str, Origin] = PersistentMap({})


class Touch(NamedTuple):
    """What a write changes: `fields` of the record at `path` (() for the whole record)."""

    path: Path[Json]
    fields: Fields = ()


class Evidence(NamedTuple):
    """One observed fact: the record it stands in, the field inside it (() for all), the value.

    `source` is the read that supplied it, `turn` how many user messages came before that read.
    """

    record: Path[Any]
    fields: Fields
    value: Json
    source: ToolCall
    turn: int

    @property
    def path(self) -> str:
        """The full path of the fact, e.g. `orders.#W1.status`."""
        return ".".join((str(self.record), *map(quote, self.fields)))


class Origin(NamedTuple):
    """The read that supplied a value, and how many user messages came before it."""

    source: ToolCall
    turn: int


Facts: TypeAlias = dict[str | Fields, Evidence]


# Frozen, one of many would take four times as long to make.
@dataclass(slots=True)
class Entry:
    """One observed record. What it says of that is never changed.

    `source` is the read it came from, `turn` how many user messages came before that read.
    `typed` is False for text that the route's parser could not turn into a record. `stale` are its
    marks, the oldest first, and `stale_kinds` the first for each field and tool. `inherited`
    names, for records merged by field, the fields that an earlier read supplied. Entries of one value
    may share what is `sound` in it: by place, the shape that it was seen to have.

    Once a rule has opened it, `shape` is what the domain declares of the value, `holds_fields` if a
    rule reads it field by field, `facts` what rules have read of it, by name, or by place where a whole
    object is one fact, and `inner_facts` the same of objects inside it. Most records of a long list are
    opened by none.
    """

    path: Path[Json]
    value: Json
    source: ToolCall
    turn: int
    typed: bool = True
    sound: dict[Fields, Shape] | None = field(default=None, repr=False, compare=False)
    stale: PersistentList[Stale] = UNMARKED
    stale_kinds: MarkKinds = field(default=_NO_KINDS, repr=False, compare=False)
    inherited: Mapping[str, Origin] = _NO_ORIGINS
    shape: Shape | None = field(default=None, init=False, repr=False, compare=False)
    holds_fields: bool = field(init=False, repr=False, compare=False)
    facts: Facts = field(init=False, repr=False, compare=False)
    inner_facts: dict[Fields, Facts] = field(init=False, repr=False, compare=False)
    _shown: str = field(default="", init=False, repr=False, compare=False)

    def opened(self, shape: Shape) -> Shape:
        """The shape of the value, kept from here on: it is looked up once for each observation."""
        self.shape, self.facts, self.inner_facts = shape, {}, {}
        self.holds_fields = type(self.value) is dict and shape.holds_objects
        return shape

    @property
    def shown(self) -> str:
        """The value as the model sees it: JSON on one line. Computed once per observation."""
        return self.shown_by(canonical)

    def shown_by(self, write: Callable[[Json], str]) -> str:
        """The same, where another writer of the canonical text is at hand."""
        if not self._shown:
            self._shown = visible(write(self.value))
        return self._shown

    def stale_at(self, fields: Fields) -> Stale | None:
        """The mark that makes `fields` unknown, if one does."""
        return next((mark for mark in self.stale_kinds.values() if mark.covers(fields)), None)

    def marked(self, fresh: Iterable[Stale]) -> Entry:
        """This entry with more of it called unknown."""
        stale, kinds = self.stale, self.stale_kinds
        for mark in fresh:
            stale = stale.append(mark)
            kind = (mark.fields, mark.by.name if mark.by is not None else None)
            kinds = kinds if kinds.get(kind) is not None else kinds.put(kind, mark)
        own = (self.path, self.value, self.source, self.turn, self.typed, self.sound)
        return Entry(*own, stale, kinds, self.inherited)

    def having(self, value: Json, stale: Sequence[Stale], inherited: Mapping[str, Origin]) -> Entry:
        """This entry with another value, other marks and other fields of an earlier read."""
        entry = Entry(self.path, value, self.source, self.turn, self.typed, inherited=inherited)
        return entry.marked(stale) if stale else entry

    def origin(self, fields: Fields) -> Origin:
        """The read that supplied `fields`: this entry's own unless it inherited them."""
        own = Origin(self.source, self.turn)
        return self.inherited.get(fields[0], own) if fields else own

    def fact(self, fields: Fields, value: Json) -> Evidence:
        """`value`, found at `fields` of this record, as evidence."""
        if self.inherited is not _NO_ORIGINS:
            return Evidence(self.path, fields, value, *self.origin(fields))
        return _evidence(Evidence, (self.path, fields, value, self.source, self.turn))
