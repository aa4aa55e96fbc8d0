"""Which questions there are about a tool: equality, membership, order, status, counts, required reads."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from ledgeragent.compiler.shapes import Choice, ListOf, MapOf, Object, Scalar, Shape
from ledgeragent.mining.conduct import Conduct
from ledgeragent.mining.draft import Draft
from ledgeragent.mining.families import Family
from ledgeragent.mining.rules.answers import equal, field_of, is_number, scalar, size
from ledgeragent.mining.rules.everyitem import every_item
from ledgeragent.mining.rules.leads import LOCATED, ListedRecords, NamedRecord, lookups_of
from ledgeragent.mining.rules.question import Circumstances, Question
from ledgeragent.mining.rules.repeats import repeats
from ledgeragent.mining.rules.sums import sums


def questions(
    conduct: Conduct, draft: Draft, records: list[NamedRecord], listed: Sequence[ListedRecords]
) -> Iterator[Question]:
    """Every question about the calls of a write."""
    asker = _Asker(conduct.tool)
    shapes = {n: p.shape(n) for n, p in conduct.arguments.items() if n.isidentifier()}
    for record in records:
        if record.key[0] == "args":
            yield asker.observed(record)
        for field, member in record.fields.items():
            if isinstance(member.shape, Choice):
                yield asker.status(record, field)
            elif member.shape == Scalar("bool"):
                yield from (asker.flag(record, field, value) for value in (True, False))
        for argument, shape in shapes.items():
            if argument != record.key[1]:
                yield from asker.against(record, argument, shape)
        for family in lookups_of(draft):
            key = family.name.rpartition(".")[2]
            if key in record.fields:
                yield asker.located(record, family, key)
    yield from sums(conduct.tool, records, shapes)
    yield from repeats(conduct.tool, records, shapes)
    for each in listed:
        yield from every_item(conduct.tool, each, records)
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
            answer=lambda moment: record.name in moment.records,
        )

    def status(self, record: NamedRecord, field: str) -> Question:
        return Question(
            tool=self.tool,
            slug=f"{record.name}-{field}",
            about=f"The {field} of the {record.name} is one that right calls met.",
            requires=record.requires,
            check=f"{record.name}.{field} in {{values}}",
            answer=lambda moment: scalar(field_of(moment.records, record.name, field)),
        )

    def flag(self, record: NamedRecord, field: str, value: bool) -> Question:
        def answer(moment: Circumstances) -> Hashable:
            value = field_of(moment.records, record.name, field)
            return value is value if isinstance(value, bool) else None

        word = str(value).lower()
        return Question(
            tool=self.tool,
            slug=f"{record.name}-{field}-{word}",
            about=f"The {field} of the {record.name} is {word}.",
            requires=record.requires,
            check=f"{record.name}.{field} == {word}",
            answer=answer,
        )

    def located(self, record: NamedRecord, family: Family, key: str) -> Question:
        return Question(
            tool=self.tool,
            slug=f"{record.name}-of-{LOCATED}",
            about=f"The {record.name} belongs to whom the latest lookup found.",
            requires={**record.requires, LOCATED: family.name},
            check=f"{record.name}.{key} == {LOCATED}",
            answer=lambda moment: equal(
                field_of(moment.records, record.name, key), moment.records.get(family.name)
            ),
        )

    def one_of(self, argument: str) -> Question:
        return Question(
            tool=self.tool,
            slug=f"{argument}-listed",
            about=f"The argument {argument} is one that right calls had.",
            requires={},
            check=f"args.{argument} in {{values}}",
            answer=lambda moment: scalar(moment.arguments.get(argument)),
            swaps=argument,
        )

    def alike(self, one: str, other: str) -> Question:
        return Question(
            tool=self.tool,
            slug=f"{one}-and-{other}-alike",
            about=f"There are as many {one} as {other}.",
            requires={},
            check=f"size(args.{one}) == size(args.{other})",
            answer=lambda moment: equal(
                size(moment.arguments.get(one)), size(moment.arguments.get(other))
            ),
            swaps=other,
        )

    def against(self, record: NamedRecord, argument: str, shape: Shape) -> Iterator[Question]:
        for field, member in record.fields.items():
            match shape, member.shape:
                case Scalar("str"), Scalar("str") if argument == field:
                    yield self._equal(record, argument, field)
                case Scalar("int" | "float"), Scalar("int" | "float"):
                    alike = shape == member.shape
                    yield self._at_most(record, argument, field, alike)
                    yield self._same_number(record, argument, field, alike)
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
            answer=lambda moment: equal(
                moment.arguments.get(argument), field_of(moment.records, record.name, field)
            ),
            swaps=argument,
        )

    def _at_most(self, record: NamedRecord, argument: str, field: str, alike: bool) -> Question:
        def answer(moment: Circumstances) -> Hashable:
            number = moment.arguments.get(argument)
            most = field_of(moment.records, record.name, field)
            return number <= most if is_number(number) and is_number(most) else None

        return Question(
            tool=self.tool,
            slug=f"{argument}-at-most-{record.name}-{field}",
            about=f"The argument {argument} is at most the {field} of the {record.name}.",
            requires=record.requires,
            check=_compared(f"args.{argument}", "<=", f"{record.name}.{field}", alike),
            answer=answer,
            swaps=argument,
        )

    def _same_number(self, record: NamedRecord, argument: str, field: str, alike: bool) -> Question:
        def answer(moment: Circumstances) -> Hashable:
            number = moment.arguments.get(argument)
            own = field_of(moment.records, record.name, field)
            return number == own if is_number(number) and is_number(own) else None

        return Question(
            tool=self.tool,
            slug=f"{argument}-is-{record.name}-{field}",
            about=f"The argument {argument} is the {field} of the {record.name}.",
            requires=record.requires,
            check=_compared(f"args.{argument}", "==", f"{record.name}.{field}", alike),
            answer=answer,
            swaps=argument,
        )

    def _among(self, record: NamedRecord, argument: str, field: str) -> Question:
        def answer(moment: Circumstances) -> Hashable:
            value, among = (
                moment.arguments.get(argument),
                field_of(moment.records, record.name, field),
            )
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
        def answer(moment: Circumstances) -> Hashable:
            values, among = (
                moment.arguments.get(argument),
                field_of(moment.records, record.name, field),
            )
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
            answer=lambda moment: equal(
                size(moment.arguments.get(argument)),
                size(field_of(moment.records, record.name, field)),
            ),
            swaps=argument,
        )


def _compared(one: str, sign: str, other: str, alike: bool) -> str:
    """A comparison of numbers, which have to be of one type."""
    return f"{one} {sign} {other}" if alike else f"double({one}) {sign} double({other})"
