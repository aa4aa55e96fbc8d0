"""Profiles: what values stood in one place over all conversations, and the type that fits them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from ledgeragent.compiler.day import is_day
from ledgeragent.compiler.recordlines import NotedField
from ledgeragent.compiler.shapes import ANY, SCALARS, Choice, ListOf, MapOf, Object, Shape
from ledgeragent.mining.sketch import Sketch
from ledgeragent.types import Json

MOST_LISTED = 8
"""A list of values is drafted for at most this many."""

_MOST_VALUES = 24
_MOST_FIELDS = 600
_LEAST_RECORDS = 3
_MANY_KEYS = 12
_WORD = re.compile(r"[^\W\d][^\n]{0,39}")
_NAME = re.compile(r"[A-Za-z_]\w*")
_MONEY = re.compile("amount|price|cost|fee|balance|total$|sum$|rate", re.IGNORECASE)
_KINDS = {bool: "bool", int: "int", float: "float", str: "str", list: "list", dict: "dict"}


class Profile:
    """The values seen in one place.

    `count` is how many, `runs` in how many conversations; `kinds` counts them by kind (`null` among
    them). `values` are the texts, each with up to three records that held it, None once there are too
    many; `sketch` is a sample of all. `fields` are the members of objects, `item` the items of lists.
    """

    __slots__ = (
        "_days",
        "_named_alike",
        "_run",
        "count",
        "fields",
        "is_cut",
        "item",
        "kinds",
        "runs",
        "sketch",
        "values",
    )

    def __init__(self) -> None:
        self.count = self.runs = 0
        self.kinds: Counter[str] = Counter()
        self.values: dict[str, tuple[int, ...]] | None = {}
        self.fields: dict[str, Profile] = {}
        self.item: Profile | None = None
        self.sketch = Sketch()
        self.is_cut = False
        self._run = self._days = self._named_alike = 0

    def add(self, value: Json, run: int, record: int) -> None:
        """Counts a value of this conversation; `record` is a number of the record that it stands in."""
        self.count += 1
        if run != self._run:
            self._run = run
            self.runs += 1
        kind = "null" if value is None else _KINDS.get(type(value), "other")
        self.kinds[kind] += 1
        if kind == "str":
            self._add_text(value, record)
        elif kind == "dict":
            self._add_object(value, run, record)
        elif kind == "list":
            if self.item is None:
                self.item = Profile()
            for item in value:
                self.item.add(item, run, record)

    def _add_text(self, text: str, record: int) -> None:
        self._days += is_day(text)
        self.sketch.add(text)
        if self.values is None:
            return
        holders = self.values.get(text, ())
        if len(holders) < _LEAST_RECORDS and record not in holders:
            self.values[text] = (*holders, record)
            if len(self.values) > _MOST_VALUES:
                self.values = None

    def _add_object(self, value: dict[str, Json], run: int, record: int) -> None:
        for name, child in value.items():
            field = self.fields.get(name)
            if field is None:
                if len(self.fields) >= _MOST_FIELDS:
                    self.is_cut = True
                    continue
                field = self.fields[name] = Profile()
            field.add(child, run, record)
            if type(child) is dict and name in child.values():
                self._named_alike += 1

    def merge(self, other: Profile) -> None:
        """Adds what another place held: both hold one kind of thing."""
        self.count += other.count
        self.runs = max(self.runs, other.runs)
        self.kinds.update(other.kinds)
        self._days += other._days
        self._named_alike += other._named_alike
        self.is_cut = self.is_cut or other.is_cut
        self.sketch.merge(other.sketch)
        self._merge_values(other)
        for name, field in other.fields.items():
            self.fields.setdefault(name, Profile()).merge(field)
        if other.item is not None:
            self.item = self.item or Profile()
            self.item.merge(other.item)

    def _merge_values(self, other: Profile) -> None:
        if self.values is None or other.values is None:
            self.values = None
            return
        for text, holders in other.values.items():
            both = dict.fromkeys((*self.values.get(text, ()), *holders))
            self.values[text] = (*both,)[:_LEAST_RECORDS]
        if len(self.values) > _MOST_VALUES:
            self.values = None

    # ── What the values are ─────────────────────────────────────────────────────────────────────

    @property
    def is_always_day(self) -> bool:
        """True if every value is the text of a day or a moment."""
        return 0 < self._days == self.kinds["str"] == self.count - self.kinds["null"]

    @property
    def is_map(self) -> bool:
        """True if these objects are tables whose keys are data: ids, names."""
        objects, names = self.kinds["dict"], len(self.fields)
        if not objects or not names:
            return False
        entries = sum(field.count for field in self.fields.values())
        if self.is_cut or self._named_alike >= 0.9 * entries:
            return True
        kinds = {kind for field in self.fields.values() for kind in field.kinds}
        if names <= _MANY_KEYS or len(kinds - {"null", "float"} | ({"int"} & kinds)) > 1:
            return False
        seldom = 3 * entries < names * objects and all(
            2 * field.count < objects for field in self.fields.values()
        )
        odd = sum(_NAME.fullmatch(name) is None or name.isupper() for name in self.fields)
        return seldom or 2 * odd > names

    def without(self, *kinds: str) -> Profile:
        """The same place without what was of these kinds."""
        rest = Profile()
        rest.merge(self)
        for kind in kinds:
            rest.count -= rest.kinds.pop(kind, 0)
        rest.runs = max((field.runs for field in rest.fields.values()), default=rest.runs)
        return rest

    @property
    def inner(self) -> Profile:
        """The values of these tables, whatever their keys."""
        inner = Profile()
        for field in self.fields.values():
            inner.merge(field)
        return inner

    def listed(self) -> tuple[str, ...] | None:
        """The few words that are all that ever stood here; None where others are to be expected.

        Each stands in several records: what one record alone has is its own, and others have others.
        """
        values = self.values
        if not values or len(values) > MOST_LISTED or self.kinds["str"] < 5 * len(values):
            return None
        if len(values) == 1 and not self.kinds["null"]:
            return None
        if not all(_WORD.fullmatch(text) for text in values):
            return None
        shared = all(len(holders) >= _LEAST_RECORDS for holders in values.values())
        return tuple(sorted(values)) if shared else None

    def shape(self, name: str) -> Shape:
        """The type that fits all values; `any` where they are of several kinds."""
        kinds = self.kinds.keys() - {"null"}
        if kinds == {"int", "float"} or (kinds == {"int"} and _MONEY.search(name)):
            return SCALARS["float"]
        if len(kinds) != 1:
            return ANY
        (kind,) = kinds
        match kind:
            case "str":
                return self._text_shape()
            case "list":
                item = self.item
                return ListOf(item.shape(_singular(name)) if item is not None else ANY)
            case "dict":
                return (
                    MapOf(self.inner.shape(_singular(name))) if self.is_map else self._object(name)
                )
            case "bool" | "int" | "float":
                return SCALARS[kind]
            case _:
                return ANY

    def _text_shape(self) -> Shape:
        if self.is_always_day:
            return SCALARS["date"]
        listed = self.listed()
        return Choice(listed) if listed is not None else SCALARS["str"]

    def _object(self, name: str) -> Shape:
        objects = self.kinds["dict"]
        return Object(name, dict(self._noted(name, objects)))

    def _noted(self, name: str, objects: int) -> Iterator[tuple[str, NotedField]]:
        for key, field in self.fields.items():
            shape = field.shape(key)
            always = field.count == objects
            support = f"in {field.runs:,} of {self.runs:,} conversations"
            if not always:
                support = f"in {field.count:,} of {objects:,} records, {support}"
            if field.kinds["null"]:
                support += f", null {field.kinds['null']:,} times"
            guessed = not always or isinstance(shape, Choice | MapOf) or shape in (ANY, _DATE)
            note = f"review: {support}" if guessed else support
            yield (
                key,
                NotedField(shape, required=always, nullable=bool(field.kinds["null"]), note=note),
            )


_DATE = SCALARS["date"]


def _singular(name: str) -> str:
    return name[:-1] if name.endswith("s") and len(name) > 1 else f"{name}_item"
