"""Which questions there are about a tool: equality, membership, order, status, counts, required reads."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from ledgeragent.compiler.shapes import Choice, Field, ListOf, MapOf, Object, Scalar, Shape
from ledgeragent.mining.conduct import Conduct
from ledgeragent.mining.draft import Draft
from ledgeragent.mining.families import Family
from ledgeragent.mining.kindred import KeysOf
from ledgeragent.mining.rules.question import Question
from ledgeragent.types import Arguments, Json

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


def questions(conduct: Conduct, draft: Draft, records: list[NamedRecord]) -> Iterator[Question]:
    """Every question about the calls of a write."""
    asker = _Asker(conduct.tool)
    shapes = {n: p.shape(n) for n, p in conduct.arguments.items() if n.isidentifier()}
    for record in records:
        if record.key[0] == "args":
            yield asker.observed(record)
        for field, member in record.fields.items():
            if isinstance(member.shape, Choice):
                yield asker.status(record, field)
        for argument, shape in shapes.items():
            if argument != record.key[1]:
                yield from asker.against(record, argument, shape)
        for family in lookups_of(draft):
            key = family.name.rpartition(".")[2]
            if key in record.fields:
                yield asker.located(record, family, key)
    for argument, profile in conduct.arguments.items():
        if profile.listed() and len(profile.listed() or ()) > 1 and argument.isidentifier():
            yield asker.one_of(argument)
    lists = [n for n, shape in shapes.items() if isinstance(shape, ListOf)]
    for number, one in enumerate(lists):
        for other in lists[number + 1 :]:
            yield asker.alike(one, other)


@dataclass(frozen=True, slots=True)
class _Asker:
    tool: str

    def observed(self, record: NamedRecord) -> Question:
        return Question(
            tool=self.tool,
            slug=f"{record.name}-observed",
            about=f"The {record.name} that the call names was read before.",
            requires=record.requires,
            check="",
            answer=lambda args, records: record.name in records,
        )

    def status(self, record: NamedRecord, field: str) -> Question:
        return Question(
            tool=self.tool,
            slug=f"{record.name}-{field}",
            about=f"The {field} of the {record.name} is one that right calls met.",
            requires=record.requires,
            check=f"{record.name}.{field} in {{values}}",
            answer=lambda args, records: _scalar(_field(records, record.name, field)),
        )

    def located(self, record: NamedRecord, family: Family, key: str) -> Question:
        return Question(
            tool=self.tool,
            slug=f"{record.name}-of-{LOCATED}",
            about=f"The {record.name} belongs to whom the latest lookup found.",
            requires={**record.requires, LOCATED: family.name},
            check=f"{record.name}.{key} == {LOCATED}",
            answer=lambda args, records: _equal(
                _field(records, record.name, key), records.get(family.name)
            ),
        )

    def one_of(self, argument: str) -> Question:
        return Question(
            tool=self.tool,
            slug=f"{argument}-listed",
            about=f"The argument {argument} is one that right calls had.",
            requires={},
            check=f"args.{argument} in {{values}}",
            answer=lambda args, records: _scalar(args.get(argument)),
            swaps=argument,
        )

    def alike(self, one: str, other: str) -> Question:
        return Question(
            tool=self.tool,
            slug=f"{one}-and-{other}-alike",
            about=f"There are as many {one} as {other}.",
            requires={},
            check=f"size(args.{one}) == size(args.{other})",
            answer=lambda args, records: _equal(_size(args.get(one)), _size(args.get(other))),
            swaps=other,
        )

    def against(self, record: NamedRecord, argument: str, shape: Shape) -> Iterator[Question]:
        for field, member in record.fields.items():
            match shape, member.shape:
                case Scalar("str"), Scalar("str") if argument == field:
                    yield self._equal(record, argument, field)
                case Scalar("int" | "float"), Scalar("int" | "float"):
                    yield self._at_most(record, argument, field)
                case Scalar("str"), ListOf(Scalar("str")) | MapOf():
                    yield self._among(record, argument, field)
                case ListOf(Scalar("str")), ListOf(Object(_, inner)):
                    for name, inside in inner.items():
                        if inside.certain and inside.shape == Scalar("str") and name.isidentifier():
                            yield self._all_among(record, argument, field, name)
                case ListOf(), ListOf():
                    yield self._as_many(record, argument, field)

    def _equal(self, record: NamedRecord, argument: str, field: str) -> Question:
        return Question(
            tool=self.tool,
            slug=f"{argument}-of-{record.name}",
            about=f"The argument {argument} is the {field} of the {record.name}.",
            requires=record.requires,
            check=f"args.{argument} == {record.name}.{field}",
            answer=lambda args, records: _equal(
                args.get(argument), _field(records, record.name, field)
            ),
            swaps=argument,
        )

    def _at_most(self, record: NamedRecord, argument: str, field: str) -> Question:
        def answer(args: Arguments, records: Mapping[str, Json]) -> Hashable:
            number, most = args.get(argument), _field(records, record.name, field)
            return None if not (_is_number(number) and _is_number(most)) else number <= most

        return Question(
            tool=self.tool,
            slug=f"{argument}-at-most-{record.name}-{field}",
            about=f"The argument {argument} is at most the {field} of the {record.name}.",
            requires=record.requires,
            check=f"args.{argument} <= {record.name}.{field}",
            answer=answer,
            swaps=argument,
        )

    def _among(self, record: NamedRecord, argument: str, field: str) -> Question:
        def answer(args: Arguments, records: Mapping[str, Json]) -> Hashable:
            value, among = args.get(argument), _field(records, record.name, field)
            return value in among if isinstance(value, str) and among is not None else None

        return Question(
            tool=self.tool,
            slug=f"{argument}-among-{record.name}-{field}",
            about=f"The argument {argument} is among the {field} of the {record.name}.",
            requires=record.requires,
            check=f"args.{argument} in {record.name}.{field}",
            answer=answer,
            swaps=argument,
        )

    def _all_among(self, record: NamedRecord, argument: str, field: str, name: str) -> Question:
        def answer(args: Arguments, records: Mapping[str, Json]) -> Hashable:
            values, among = args.get(argument), _field(records, record.name, field)
            if not isinstance(values, list) or not isinstance(among, list):
                return None
            present = {item.get(name) for item in among if isinstance(item, dict)}
            return all(isinstance(v, str) and v in present for v in values)

        return Question(
            tool=self.tool,
            slug=f"{argument}-among-{record.name}-{field}-{name}",
            about=f"All {argument} are a {name} among the {field} of the {record.name}.",
            requires=record.requires,
            check=f"args.{argument}.all(v, {record.name}.{field}.exists(e, e.{name} == v))",
            answer=answer,
            swaps=argument,
        )

    def _as_many(self, record: NamedRecord, argument: str, field: str) -> Question:
        return Question(
            tool=self.tool,
            slug=f"{argument}-as-many-as-{record.name}-{field}",
            about=f"There are as many {argument} as {field} of the {record.name}.",
            requires=record.requires,
            check=f"size(args.{argument}) == size({record.name}.{field})",
            answer=lambda args, records: _equal(
                _size(args.get(argument)), _size(_field(records, record.name, field))
            ),
            swaps=argument,
        )


def _field(records: Mapping[str, Json], record: str, field: str) -> Json:
    value = records.get(record)
    return value.get(field) if isinstance(value, dict) else None


def _scalar(value: Json) -> Hashable:
    return value if isinstance(value, str) else None


def _equal(one: Json, other: Json) -> Hashable:
    return None if one is None or other is None else one == other


def _size(value: Json) -> Json:
    return len(value) if isinstance(value, list) else None


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
