"""The world as a conversation showed it: each look at a record, and what had changed since the last."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ledgeragent.mining.callhistory import AnsweredCall, CallHistory
from ledgeragent.mining.evidence import FieldChange, RunCount
from ledgeragent.mining.families import Family, MinedRoute, keys_in
from ledgeragent.mining.naming import scalars, way_to
from ledgeragent.types import Json, ToolCall

Address = tuple[str, tuple[str, ...]]
"""A family's name and the keys of one of its records."""

WHOLE = ""
"""Stands for all of a record that has no fields."""

_LEAST_ALIKE = 0.6
_MOST_DOUBTFUL = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """A record as it was seen after so many executed writes; `by` is the write that answered with it."""

    record: Json
    writes: int
    by: str = ""


@dataclass(slots=True)
class WriteAnswer:
    """What a write answers with: records of `family`, in `fitting` of its answers.

    `wrong` counts, by field, the reads right after an answer that contradict it; `checked` all of them.
    """

    family: Family
    fitting: RunCount
    checked: int
    wrong: Counter[str]


class World:
    """What changed in all conversations so far.

    `changes` holds the evidence by (tool, family, field). `looks` counts the conversations that looked
    at a record of a family before and after a write alone. `entries` are calls that named an entry of
    a table of numbers in a record that was seen, `tested` those of them that it was looked at again
    after. `drifts` are fields that changed with no write between.
    """

    def __init__(self, routes: Iterable[MinedRoute], writes: Iterable[str]) -> None:
        self.changes: defaultdict[tuple[str, str, str], FieldChange] = defaultdict(FieldChange)
        self.looks: defaultdict[tuple[str, str], RunCount] = defaultdict(RunCount)
        self.answers: dict[str, dict[str, WriteAnswer]] = {tool: {} for tool in writes}
        self.entries: defaultdict[tuple[str, str, str], RunCount] = defaultdict(RunCount)
        self.tested: defaultdict[tuple[str, str, str], RunCount] = defaultdict(RunCount)
        self.drifts: Counter[tuple[str, str]] = Counter()
        self.executed: Counter[str] = Counter()
        self._routes: dict[str, list[MinedRoute]] = {}
        for route in routes:
            self._routes.setdefault(route.tool, []).append(route)
        families = {id(route.family): route.family for route in routes if not route.lookup}
        self._families = {f.name: f for f in families.values() if f.keys}
        self._answering = [f for f in self._families.values() if f.holds_objects]
        self._tables = {f.name: [*_tables_of_numbers(f)] for f in self._answering}
        self._doubtful: list[tuple[tuple[str, ...], str, str, int]] = []

    def add(self, history: CallHistory) -> None:
        """Goes through a conversation."""
        seen: dict[Address, Look] = {}
        writes: list[ToolCall] = []
        for step in history.steps:
            if step.failure is not None:
                continue
            if step.tool in self.answers:
                writes.append(step.call)
                self.executed[step.tool] += 1
                self._note_entries(step.call, seen, history.number)
            for family, keys, record in self.records(step):
                by = step.tool if step.tool in self.answers else ""
                if by:
                    self._answered(by, family).fitting.add(history.number)
                look = Look(record=record, writes=len(writes), by=by)
                before = seen.get((family.name, keys))
                if before is not None:
                    self._compare(before, look, family, keys, writes, history.number)
                seen[family.name, keys] = look

    def _note_entries(self, call: ToolCall, seen: Mapping[Address, Look], run: int) -> None:
        """Notes the tables of numbers, in records that were seen, of which the call names an entry."""
        for (family, _), look in seen.items():
            for field in self._tables.get(family, ()):
                if names_number(call, look.record, field):
                    self.entries[call.name, family, field].add(run)

    def records(self, step: AnsweredCall) -> Iterator[tuple[Family, tuple[str, ...], Json]]:
        """The records that a return shows: of a read by its routes, of a write by what it looks like."""
        for route in self._routes.get(step.tool, ()):
            for keys, record in route.records(step) if not route.lookup else ():
                yield route.family, keys, record
        if step.tool in self.answers and type(step.value) is dict:
            for family in self._answering:
                own = keys_in(family, step.value, step.call, {})
                if own is not None and is_one_of(family, step.value):
                    yield family, own, step.value
                    return

    def _compare(
        self,
        before: Look,
        after: Look,
        family: Family,
        keys: tuple[str, ...],
        writes: Sequence[ToolCall],
        run: int,
    ) -> None:
        between = writes[before.writes : after.writes]
        fields = changed(before.record, after.record)
        if not between:
            self._check(before, family, fields)
            return
        tools = tuple(dict.fromkeys(call.name for call in between))
        if len(tools) == 1:
            self.looks[tools[0], family.name].add(run)
            for field in self._tables.get(family.name, ()):
                if any(names_number(call, before.record, field) for call in between):
                    self.tested[tools[0], family.name, field].add(run)
        for field in fields:
            if len(tools) > 1 and len(self._doubtful) < _MOST_DOUBTFUL:
                self._doubtful.append((tools, family.name, field, run))
            elif len(tools) == 1:
                change = self.changes[tools[0], family.name, field]
                change.alone.add(run)
                change.after[before.by] += 1
                change.ways.update(way_to(keys, family.keys, c.arguments) for c in between)

    def _check(self, before: Look, family: Family, fields: Sequence[str]) -> None:
        """Compares a read with the answer of the write right before it, or with another read."""
        if not before.by:
            self.drifts.update((family.name, field) for field in fields)
            return
        reply = self._answered(before.by, family)
        reply.checked += 1
        reply.wrong.update(fields)

    def _answered(self, tool: str, family: Family) -> WriteAnswer:
        return self.answers[tool].setdefault(
            family.name, WriteAnswer(family, RunCount(), 0, Counter())
        )

    def settle(self) -> None:
        """Gives changes with several writes before them to these, unless one is known to make them."""
        known_changes = {key for key, change in self.changes.items() if change.runs}
        for tools, family, field, run in self._doubtful:
            if not any((tool, family, field) in known_changes for tool in tools):
                for tool in tools:
                    self.changes[tool, family, field].shared.add(run)
        self._doubtful = []


def _tables_of_numbers(family: Family) -> Iterator[str]:
    """The fields that hold entries by id, each with a number: balances, stocks, seats."""
    for name, field in family.profile.fields.items():
        if field.is_map and any(
            {"int", "float"} & f.kinds.keys() for f in field.inner.fields.values()
        ):
            yield name


def names_number(call: ToolCall, record: Json, field: str) -> bool:
    """True if a value of the call is a name in this table, and a number stands there."""
    table = record.get(field) if type(record) is dict else None
    if type(table) is not dict:
        return False
    entries = (table.get(value) for _, value in scalars(call.arguments))
    return any(
        isinstance(number, int | float) and not isinstance(number, bool)
        for entry in entries
        if type(entry) is dict
        for number in entry.values()
    )


def is_one_of(family: Family, record: Mapping[str, Json]) -> bool:
    """True if an object has most of the fields that the family's records always have."""
    profile = family.profile
    always = [n for n, f in profile.fields.items() if f.count == profile.kinds["dict"]]
    common = sum(name in record for name in always)
    own = [n for n in record if n in profile.fields]
    return common >= _LEAST_ALIKE * len(always) > 0 and len(own) >= _LEAST_ALIKE * len(record)


def changed(before: Json, after: Json) -> list[str]:
    """The fields in which two looks at a record differ. A field that one look leaves out tells nothing.

    Unless it is there afterwards with a value: then the write may have added it.
    """
    if before == after:
        return []
    if type(before) is not dict or type(after) is not dict:
        return [WHOLE]
    return [n for n, v in after.items() if v != before.get(n) and (n in before or v is not None)]
