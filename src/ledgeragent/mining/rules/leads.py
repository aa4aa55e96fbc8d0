"""Leads: the records that a call names, by arguments, by fields of other records, or for each item."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ledgeragent.compiler.shapes import Field, Object
from ledgeragent.mining.conduct import Conduct
from ledgeragent.mining.draft import Draft
from ledgeragent.mining.families import Family
from ledgeragent.mining.kindred import KeysOf
from ledgeragent.mining.rules.question import ForEach

LOCATED = "located"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRecord:
    """A record that a call leads to: `path` as a rule requires it, after the records in `through`.

    `family` is None for what a lookup answered with. `key` is the argument, or (record, field), that
    names it.
    """

    name: str
    path: str
    family: Family
    key: tuple[str, str]
    through: Mapping[str, str]

    @property
    def requires(self) -> dict[str, str]:
        """All records that have to be required for it, in order."""
        return {**self.through, self.name: self.path}

    @property
    def fields(self) -> dict[str, Field]:
        """Its fields that always have a value."""
        shape = self.family.shape
        fields = shape.fields.items() if isinstance(shape, Object) else ()
        return {n: f for n, f in fields if f.certain and n.isidentifier()}


def records_of(conduct: Conduct, draft: Draft, keys: KeysOf) -> list[NamedRecord]:
    """The records that a call names by an argument, and those that these name by a field."""
    named: dict[str, NamedRecord] = {}
    for family in draft.families:
        if len(family.keys) != 1 or not family.holds_objects:
            continue
        key = family.keys[0]
        renames = {r.renames.get(key, key) for r in draft.routes if r.family is family}
        argument = next((a for a in (key, *sorted(renames)) if a in conduct.arguments), None)
        if argument is not None and argument.isidentifier():
            name = family.noun
            named[name] = NamedRecord(
                name=name,
                path=f"{family.name}.{{{argument}}}",
                family=family,
                key=("args", argument),
                through={},
            )
    for record in [*named.values()]:
        for field, place in record.family.profile.fields.items():
            kin = keys.family_of(place.sketch, besides=record.family)
            other = next((f for f in draft.families if kin and f.name == kin[0]), None)
            if other is None or field not in record.fields or other.noun in named:
                continue
            named[other.noun] = NamedRecord(
                name=other.noun,
                path=f"{other.name}.{{{record.name}.{field}}}",
                family=other,
                key=(record.name, field),
                through=record.requires,
            )
    return [*named.values()]


def lookups_of(draft: Draft) -> list[Family]:
    """The families of one record, that a lookup fills with a key."""
    families = {r.family.name: r.family for r in draft.routes if r.lookup}
    return [f for f in families.values() if "str" in f.profile.kinds and not f.keys]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedRecords:
    """The records that the items of a list argument name; `name` stands for all of them."""

    name: str
    argument: str
    family: Family

    @property
    def requires(self) -> dict[str, ForEach]:
        """The record of each item."""
        return {
            self.name: ForEach(at=f"{self.family.name}.{{each}}", items=f"args.{self.argument}")
        }


def listed_records_of(conduct: Conduct, draft: Draft, keys: KeysOf) -> Iterator[ListedRecords]:
    """The records that lists among the arguments name."""
    families = {f.name: f for f in draft.families if len(f.keys) == 1 and f.holds_objects}
    for argument, profile in conduct.arguments.items():
        if profile.kinds.keys() != {"list"} or not argument.isidentifier():
            continue
        kin = keys.family_of(conduct.asked[argument]) if argument in conduct.asked else None
        if kin is not None and kin[0] in families:
            yield ListedRecords(name=f"listed_{kin[0]}", argument=argument, family=families[kin[0]])
