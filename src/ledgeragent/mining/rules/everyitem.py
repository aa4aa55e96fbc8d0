"""Questions about every record that a list names: all were read, are in a state, belong together."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ledgeragent.compiler.shapes import Choice, Field, Object, Scalar
from ledgeragent.mining.rules.answers import field_of
from ledgeragent.mining.rules.leads import ListedRecords, NamedRecord
from ledgeragent.mining.rules.question import Circumstances, Question, Required
from ledgeragent.types import Json


def every_item(
    tool: str, listed: ListedRecords, records: Sequence[NamedRecord]
) -> Iterator[Question]:
    """What may be true of every record that a list among the arguments names."""
    asker = _Asker(tool, listed)
    yield asker.observed()
    for field, member in _fields(listed).items():
        if isinstance(member.shape, Choice):
            yield asker.status(field)
        elif member.shape == Scalar("bool"):
            yield asker.flag(field, True)
            yield asker.flag(field, False)
        elif member.shape == Scalar("str"):
            for record in records:
                own = record.fields.get(field)
                if own is not None and own.shape == member.shape:
                    yield asker.together(field, record)


def _fields(listed: ListedRecords) -> Mapping[str, Field]:
    """The fields that these records always have."""
    shape = listed.family.shape
    fields = shape.fields.items() if isinstance(shape, Object) else ()
    return {n: f for n, f in fields if f.certain and n.isidentifier()}


@dataclass(frozen=True, slots=True)
class _Asker:
    tool: str
    listed: ListedRecords

    def observed(self) -> Question:
        name, argument = self.listed.name, self.listed.argument
        return Question(
            tool=self.tool,
            slug=f"{argument}-observed",
            about=f"What every item of {argument} names was read before.",
            requires=self.listed.requires,
            check="",
            answer=lambda moment: (
                name in moment.records if moment.arguments.get(argument) else None
            ),
        )

    def status(self, field: str) -> Question:
        def answer(items: Sequence[Mapping[str, Json]], moment: Circumstances) -> Hashable:
            values = {item.get(field) for item in items if isinstance(item.get(field), str)}
            return values.pop() if len(values) == 1 else tuple(sorted(map(str, values)))

        about = f"the {field} is one that right calls met"
        return self._question(f"{field}-listed", about, f"{field} in {{values}}", answer)

    def flag(self, field: str, value: bool) -> Question:
        def answer(items: Sequence[Mapping[str, Json]], moment: Circumstances) -> Hashable:
            return all(item.get(field) is value for item in items)

        word = str(value).lower()
        return self._question(f"{field}-{word}", f"{field} is {word}", f"{field} == {word}", answer)

    def together(self, field: str, record: NamedRecord) -> Question:
        def answer(items: Sequence[Mapping[str, Json]], moment: Circumstances) -> Hashable:
            own = field_of(moment.records, record.name, field)
            return None if own is None else all(item.get(field) == own for item in items)

        return self._question(
            f"{field}-of-{record.name}",
            f"the {field} is that of the {record.name}",
            f"{field} == {record.name}.{field}",
            answer,
            record.requires,
        )

    def _question(
        self,
        slug: str,
        about: str,
        check: str,
        answer: Callable[[Sequence[Mapping[str, Json]], Circumstances], Hashable],
        requires: Mapping[str, Required] | None = None,
    ) -> Question:
        name, argument = self.listed.name, self.listed.argument

        def answered(moment: Circumstances) -> Hashable:
            by_key = moment.records.get(name)
            items = [*by_key.values()] if isinstance(by_key, Mapping) else []
            objects = [item for item in items if isinstance(item, Mapping)]
            return answer(objects, moment) if objects and len(objects) == len(items) else None

        return Question(
            tool=self.tool,
            slug=f"every-{argument}-{slug}",
            about=f"For every item of {argument}, {about}.",
            requires={**(requires or {}), **self.listed.requires},
            check=f"args.{argument}.all(item, {name}[item].{check})",
            answer=answered,
            swaps=argument,
            kin=self.listed.family.name,
        )
