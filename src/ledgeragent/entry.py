"""One observed record: its value, the read it came from, and which parts are no longer known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

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


_UNMARKED: PersistentList[Stale] = PersistentList()
MarkKinds = PersistentMap[tuple[Fields, str | None], Stale]
"""The first mark for each field and tool."""

_NO_KINDS: MarkKinds = PersistentMap({})
_NO_ORIGINS: Mapping[str, Origin] = {}


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


@dataclass(frozen=True, kw_only=True)
class Entry:
    """One observed record.

    `source` is the read it came from, `turn` how many user messages came before that read.
    `typed` is False for text that the route's parser could not turn into a record. `stale` are its
    marks, the oldest first, and `stale_kinds` the first for each field and tool. `inherited`
    names, for records merged by field, the fields that an earlier read supplied. `shape` is what the
    domain declares of the value, once a rule has read it.
    """

    path: Path[Json]
    value: Json
    source: ToolCall
    turn: int
    typed: bool = True
    stale: PersistentList[Stale] = _UNMARKED
    stale_kinds: MarkKinds = field(default_factory=lambda: _NO_KINDS, repr=False, compare=False)
    inherited: Mapping[str, Origin] = field(default_factory=lambda: _NO_ORIGINS)
    shape: Shape | None = field(default=None, init=False, repr=False, compare=False)

    def shaped(self, shape: Shape) -> Shape:
        """The shape of the value, kept from here on: it is looked up once for each observation."""
        object.__setattr__(self, "shape", shape)
        return shape

    # Made when first used: most records of a long list are read by no rule.
    @cached_property
    def facts(self) -> dict[str | Fields, Evidence]:
        """What rules read of the record, by name, or by place where a whole object is one fact."""
        return {}

    @cached_property
    def inner_facts(self) -> dict[Fields, dict[str | Fields, Evidence]]:
        """The same of objects inside it: several calls and rules read the same few."""
        return {}

    @cached_property
    def is_marked(self) -> bool:
        """True if something of the record may have changed since it was read."""
        return bool(self.stale)

    def facts_at(self, fields: Fields) -> dict[str | Fields, Evidence]:
        """The facts that rules have read of the object at `fields`, by name."""
        return self.inner_facts.setdefault(fields, {})

    @cached_property
    def shown(self) -> str:
        """The value as the model sees it: JSON on one line. Computed once per observation."""
        return visible(canonical(self.value))

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
        return self._with(self.value, stale, kinds, self.inherited)

    def having(self, value: Json, stale: Iterable[Stale], inherited: Mapping[str, Origin]) -> Entry:
        """This entry with another value, other marks and other fields of an earlier read."""
        return self._with(value, _UNMARKED, _NO_KINDS, inherited).marked(stale)

    def _with(
        self,
        value: Json,
        stale: PersistentList[Stale],
        kinds: MarkKinds,
        inherited: Mapping[str, Origin],
    ) -> Entry:
        # Spelled out, since `dataclasses.replace` costs twice as much.
        return Entry(
            path=self.path,
            value=value,
            source=self.source,
            turn=self.turn,
            typed=self.typed,
            stale=stale,
            stale_kinds=kinds,
            inherited=inherited,
        )

    def origin(self, fields: Fields) -> Origin:
        """The read that supplied `fields`: this entry's own unless it inherited them."""
        own = Origin(self.source, self.turn)
        return self.inherited.get(fields[0], own) if fields else own

    def fact(self, fields: Fields, value: Json) -> Evidence:
        """`value`, found at `fields` of this record, as evidence."""
        if self.inherited:
            return Evidence(self.path, fields, value, *self.origin(fields))
        return _evidence(Evidence, (self.path, fields, value, self.source, self.turn))
