"""Families of records, and the routes by which reads fill them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ledgeragent.compiler.shapes import SCALARS, ListOf, Shape
from ledgeragent.mining.callhistory import AnsweredCall
from ledgeragent.mining.conduct import elements
from ledgeragent.mining.profile import Profile
from ledgeragent.types import Json, ToolCall


@dataclass(slots=True, eq=False, kw_only=True)
class Family:
    """Records of one kind under paths of one form: `orders.{order_id}`.

    `keys` are the names of its placeholders, `profile` what reads showed of its records, `answers` what
    writes answered with. `written` is what texts among its records write: numbers, truth values, or
    just text. `lists` is the family whose records this one holds lists of, `nested` if these
    are lists of lists.
    """

    name: str
    keys: tuple[str, ...]
    noun: str
    profile: Profile = field(default_factory=Profile)
    answers: Profile = field(default_factory=Profile)
    lists: Family | None = None
    nested: bool = False
    written: set[str] = field(default_factory=set)

    @property
    def path(self) -> str:
        """The path as a pack writes it."""
        return ".".join((self.name, *(f"{{{key}}}" for key in self.keys)))

    @property
    def holds_objects(self) -> bool:
        """True if its records are objects with fields of their own."""
        return self.profile.kinds.keys() == {"dict"} and not self.profile.is_map

    @property
    def shape(self) -> Shape:
        """The type of its records."""
        if self.lists is not None:
            item = self.lists.shape
            return ListOf(ListOf(item) if self.nested else item)
        if len(self.written) == 1 and "str" not in self.written:
            (kind,) = self.written
            return SCALARS[kind]
        return self.whole.shape(self.noun)

    @property
    def whole(self) -> Profile:
        """What is known of its records, from reads and from writes."""
        whole = Profile()
        whole.merge(self.profile)
        whole.merge(self.answers)
        return whole


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class MinedRoute:
    """The way of what a read returns into a family.

    `renames` are arguments by the placeholder that they fill; `inside` is the field of the return that
    holds the records, `each` if these are several. `own` is what this route alone was seen to give.
    `lookup` is the family whose key it answers with, \"\" for none; `why` says how it was told.
    """

    tool: str
    family: Family
    own: Profile
    parameters: tuple[str, ...]
    renames: Mapping[str, str] = field(default_factory=dict)
    inside: str = ""
    each: bool = False
    lookup: str = ""
    why: str = ""

    @property
    def is_partial(self) -> bool:
        """True if it leaves out fields that other reads of the family give."""
        return self.family.holds_objects and bool(
            self.family.profile.fields.keys() - self.own.fields.keys()
        )

    def records(self, step: AnsweredCall) -> Iterator[tuple[tuple[str, ...], Json]]:
        """The records of a return, each with its keys; none where the return holds something else."""
        value = step.value
        if self.inside:
            value = value.get(self.inside) if type(value) is dict else None
        items = elements(value) if self.each else [value]
        kinds = self.family.profile.kinds
        for item in items:
            if item is None or (type(item) is str) != ("str" in kinds):
                continue
            keys = self.keys_of(item, step.call)
            if keys is not None:
                yield keys, item

    def keys_of(self, record: Json, call: ToolCall) -> tuple[str, ...] | None:
        """The keys of a record, from itself or else from the call."""
        return keys_in(self.family, record, call, self.renames)


def keys_in(
    family: Family, record: Json, call: ToolCall, renames: Mapping[str, str]
) -> tuple[str, ...] | None:
    """The keys of a record of this family, as the core would take them; None where one is missing."""
    keys: list[str] = []
    for name in family.keys:
        value = record.get(name) if type(record) is dict else None
        if value is None:
            value = call.arguments.get(renames.get(name, name))
        if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
            return None
        keys.append(str(value))
    return tuple(keys)
