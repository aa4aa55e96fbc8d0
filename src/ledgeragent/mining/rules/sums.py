"""Questions about sums of observed numbers: a total that a call names, against lines that were read."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass

from ledgeragent.compiler.shapes import Field, ListOf, MapOf, Object, Scalar, Shape
from ledgeragent.mining.rules.answers import field_of, is_number
from ledgeragent.mining.rules.leads import NamedRecord
from ledgeragent.mining.rules.question import Circumstances, Question
from ledgeragent.types import Json


@dataclass(frozen=True, slots=True)
class Addend:
    """What is added up of each line: a number in it, or a number times how many there are."""

    number: str
    times: str = ""

    @property
    def slug(self) -> str:
        """Its name in an id."""
        return f"{self.number}-times-{self.times}" if self.times else self.number

    def text(self, line: str) -> str:
        """Its form in CEL for a line of this name."""
        number = f"double({line}.{self.number})"
        return f"{number} * double({line}.{self.times})" if self.times else number

    def of(self, line: Json) -> float | None:
        """Its value for a line, None where that has no such numbers."""
        if not isinstance(line, Mapping):
            return None
        factors = [line.get(self.number), line.get(self.times) if self.times else 1]
        numbers = [factor for factor in factors if is_number(factor)]
        return math.prod(map(float, numbers)) if len(numbers) == len(factors) else None


def sums(
    tool: str, records: list[NamedRecord], arguments: Mapping[str, Shape]
) -> Iterator[Question]:
    """Whether a number of the call is the sum of lines of a record, of all or of those it names."""
    numbers = [name for name, shape in arguments.items() if is_numeric(shape)]
    lists = [name for name, shape in arguments.items() if shape == ListOf(Scalar("str"))]
    for record in records:
        for field, member in record.fields.items():
            for addend in _addends(member.shape):
                for number in numbers:
                    yield _all_lines(tool, record, field, member, addend, number)
                    for names in lists:
                        yield from _named(tool, record, field, member, addend, number, names)
    for name, shape in arguments.items():
        for addend in _addends(shape) if isinstance(shape, ListOf) else ():
            yield from _against_records(tool, records, name, addend)


def is_numeric(shape: Shape) -> bool:
    """True for a number's type."""
    return shape in (Scalar("int"), Scalar("float"))


def _addends(shape: Shape) -> Iterator[Addend]:
    inner = shape.item if isinstance(shape, ListOf | MapOf) else None
    if not isinstance(inner, Object):
        return
    own = {n: f.shape for n, f in inner.fields.items() if f.certain and n.isidentifier()}
    for number in (name for name, kind in own.items() if is_numeric(kind)):
        yield Addend(number)
        for times in (name for name, kind in own.items() if kind == Scalar("int")):
            if times != number and own[number] == Scalar("float"):
                yield Addend(number, times)


def _all_lines(
    tool: str, record: NamedRecord, field: str, member: Field, addend: Addend, number: str
) -> Question:
    place = f"{record.name}.{field}"
    lines = f"{place}.map(e, {addend.text('e')})"
    if isinstance(member.shape, MapOf):
        lines = f"{place}.map(k, {addend.text(f'{place}[k]')})"

    def answer(moment: Circumstances) -> Hashable:
        listed = _lines(field_of(moment.records, record.name, field))
        return _same(moment.arguments.get(number), [addend.of(line) for line in listed.values()])

    return Question(
        tool=tool,
        slug=f"{number}-sum-of-{record.name}-{field}-{addend.slug}",
        about=f"The argument {number} is the sum of {addend.slug} over the {field} of the {record.name}.",
        requires=record.requires,
        check=_equation(f"sum({lines})", f"args.{number}"),
        answer=answer,
        swaps=number,
    )


def _named(
    tool: str,
    record: NamedRecord,
    field: str,
    member: Field,
    addend: Addend,
    number: str,
    names: str,
) -> Iterator[Question]:
    """Over the lines that a list among the arguments names, by key or by a field with their names."""
    place = f"{record.name}.{field}"
    if isinstance(member.shape, MapOf):
        lines = f"args.{names}.filter(k, k in {place}).map(k, {addend.text(f'{place}[k]')})"
        yield _of_named(tool, record, field, addend, number, names, "", lines)
        return
    assert isinstance(member.shape, ListOf) and isinstance(member.shape.item, Object)
    for key, inner in member.shape.item.fields.items():
        if inner.certain and inner.shape == Scalar("str") and key.isidentifier():
            lines = f"{place}.filter(e, e.{key} in args.{names}).map(e, {addend.text('e')})"
            yield _of_named(tool, record, field, addend, number, names, key, lines)


def _of_named(
    tool: str,
    record: NamedRecord,
    field: str,
    addend: Addend,
    number: str,
    names: str,
    key: str,
    lines: str,
) -> Question:
    def answer(moment: Circumstances) -> Hashable:
        listed, chosen_names = (
            _lines(field_of(moment.records, record.name, field)),
            moment.arguments.get(names),
        )
        if not isinstance(chosen_names, list):
            return None
        chosen = [
            line
            for name, line in listed.items()
            if (line.get(key) if key and isinstance(line, Mapping) else name) in chosen_names
        ]
        return _same(moment.arguments.get(number), [addend.of(line) for line in chosen])

    by = f"-by-{key}" if key else ""
    return Question(
        tool=tool,
        slug=f"{number}-sum-of-{names}-in-{record.name}-{field}{by}-{addend.slug}",
        about=f"The argument {number} is the sum of {addend.slug} over those {field} of the "
        f"{record.name} that {names} names.",
        requires=record.requires,
        check=_equation(f"sum({lines})", f"args.{number}"),
        answer=answer,
        swaps=number,
    )


def _against_records(
    tool: str, records: list[NamedRecord], name: str, addend: Addend
) -> Iterator[Question]:
    """A sum over a list among the arguments, against a number in a record."""
    for record in records:
        for total, member in record.fields.items():
            if is_numeric(member.shape):
                yield _against(tool, record, name, addend, total)


def _against(tool: str, record: NamedRecord, name: str, addend: Addend, total: str) -> Question:
    def answer(moment: Circumstances) -> Hashable:
        listed = _lines(moment.arguments.get(name))
        whole = field_of(moment.records, record.name, total)
        return _same(whole, [addend.of(line) for line in listed.values()])

    return Question(
        tool=tool,
        slug=f"{name}-{addend.slug}-sum-to-{record.name}-{total}",
        about=f"The {addend.slug} of all {name} add up to the {total} of the {record.name}.",
        requires=record.requires,
        check=_equation(f"sum(args.{name}.map(e, {addend.text('e')}))", f"{record.name}.{total}"),
        answer=answer,
        swaps=name,
    )


def _lines(value: Json) -> Mapping[str, Json]:
    """The lines of a list or a map, by place or key."""
    if isinstance(value, Mapping):
        return value
    return {str(n): line for n, line in enumerate(value)} if isinstance(value, list) else {}


def _same(total: Json, addends: list[float | None]) -> Hashable:
    """True where the total is the sum to the cent; None where one of them is no number."""
    numbers = [addend for addend in addends if addend is not None]
    if not is_number(total) or not numbers or len(numbers) < len(addends):
        return None
    return _cents(total) == _cents(sum(numbers))


def _cents(amount: float) -> int:
    return math.floor(amount * 100 + 0.5)


def _equation(one: str, other: str) -> str:
    """Two amounts that are the same to the cent."""
    return f"math.round({one} * 100.0) == math.round(double({other}) * 100.0)"
