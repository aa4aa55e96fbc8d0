"""Questions about what was done before in a conversation: once for a record, no more than it has."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from ledgeragent.compiler.shapes import Shape
from ledgeragent.mining.rules.answers import field_of, is_number
from ledgeragent.mining.rules.leads import NamedRecord
from ledgeragent.mining.rules.question import Circumstances, Question
from ledgeragent.mining.rules.sums import is_numeric


def repeats(
    tool: str, records: list[NamedRecord], arguments: Mapping[str, Shape]
) -> Iterator[Question]:
    """Whether a tool is used once for each record, and whether its amounts stay within a number of it."""
    for record in records:
        if record.key[0] != "args" or not tool.isidentifier():
            continue
        yield _once(tool, record)
        for amount in (name for name, shape in arguments.items() if is_numeric(shape)):
            for most, member in record.fields.items():
                if is_numeric(member.shape):
                    yield _within(tool, record, amount, most)


def _once(tool: str, record: NamedRecord) -> Question:
    key = record.key[1]

    def answer(moment: Circumstances) -> Hashable:
        own = moment.arguments.get(key)
        if not moment.earlier or own is None:
            return None
        return all(before.get(key) != own for before in moment.earlier)

    return Question(
        tool=tool,
        slug=f"once-for-{record.name}",
        about=f"{tool} is used once for each {record.name} in a conversation.",
        requires={},
        check=f"!writes.{tool}.exists(w, w.{key} == args.{key})",
        answer=answer,
        swaps=key,
        kin=record.family.name,
    )


def _within(tool: str, record: NamedRecord, amount: str, most: str) -> Question:
    key = record.key[1]

    def answer(moment: Circumstances) -> Hashable:
        own, limit = moment.arguments.get(amount), field_of(moment.records, record.name, most)
        same = [b for b in moment.earlier if b.get(key) == moment.arguments.get(key)]
        before = [number for b in same if is_number(number := b.get(amount))]
        if not before or not is_number(own) or not is_number(limit):
            return None
        return sum(before) + own <= limit

    amounts = f"writes.{tool}.filter(w, w.{key} == args.{key}).map(w, double(w.{amount}))"
    return Question(
        tool=tool,
        slug=f"{amount}-in-all-at-most-{record.name}-{most}",
        about=f"All {amount} for one {record.name} in a conversation are at most its {most}.",
        requires=record.requires,
        check=f"sum({amounts}) + double(args.{amount}) <= double({record.name}.{most})",
        answer=answer,
        swaps=amount,
    )
