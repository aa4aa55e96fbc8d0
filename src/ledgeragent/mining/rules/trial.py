"""The trial of questions: what right calls answer, what refused ones do, and what chance would."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ledgeragent.mining.callhistory import AnsweredCall, CallHistory
from ledgeragent.mining.conduct import subject
from ledgeragent.mining.draft import Draft
from ledgeragent.mining.kindred import KeysOf
from ledgeragent.mining.rules.question import Question
from ledgeragent.mining.rules.questions import NamedRecord, lookups_of, questions, records_of
from ledgeragent.types import Arguments, Json

_MOST_SWAPS = 4
_POOL = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class CutSample:
    """A real call (or one with something swapped) and the records, by path, that it was judged with."""

    arguments: Arguments
    records: Mapping[tuple[str, ...], Json]


@dataclass(slots=True)
class Outcomes:
    """The answers to a question: distinct situations of right calls, refused calls, swapped calls.

    `words` are what the environment said to refused calls, by answer. `samples` has one call for each
    answer, by whether it was right. Calls executed in failed runs are no evidence and not counted.
    """

    right: dict[Hashable, set[int]] = field(default_factory=dict)
    refused: Counter[Hashable] = field(default_factory=Counter)
    words: dict[Hashable, Counter[str]] = field(default_factory=dict)
    swapped: Counter[Hashable] = field(default_factory=Counter)
    samples: dict[tuple[Hashable, bool], CutSample] = field(default_factory=dict)


class Trial:
    """Asks every question about every call of every write."""

    def __init__(self, draft: Draft) -> None:
        keys = KeysOf(draft.routes, draft.conducts)
        self._world = draft.world
        self._records = {c.tool: records_of(c, draft, keys) for c in draft.named("write")}
        self.questions = {
            c.tool: [*questions(c, draft, self._records[c.tool])] for c in draft.named("write")
        }
        self.outcomes: dict[tuple[str, str], Outcomes] = {}
        self.situations: dict[str, set[int]] = {tool: set() for tool in self.questions}
        self._lookups = {f.name for f in lookups_of(draft)}
        self._routes = [route for route in draft.routes if route.lookup]
        self._pools: dict[tuple[str, str], deque[Json]] = {}

    def add(self, history: CallHistory) -> None:
        """Goes through a conversation. Without a reward it counts as right."""
        is_right = history.reward is None or history.reward > 0
        seen: dict[tuple[str, tuple[str, ...]], Json] = {}
        for step in history.steps:
            if step.tool in self.questions:
                self._ask(step, seen, is_right)
            if step.failure is None:
                for family, keys, record in self._world.records(step):
                    seen[family.name, keys] = record
                for route in self._routes:
                    if route.tool == step.tool:
                        for keys, record in route.records(step):
                            seen[route.family.name, keys] = record

    def _ask(
        self, step: AnsweredCall, seen: Mapping[tuple[str, tuple[str, ...]], Json], is_right: bool
    ) -> None:
        arguments = step.call.arguments
        by_name, paths = self._known(step.tool, arguments, seen)
        situation = subject(step.call)
        if step.failure is None and is_right:
            self.situations[step.tool].add(situation)
        for question in self.questions[step.tool]:
            answer = question.answer(arguments, by_name)
            if answer is None:
                continue
            outcomes = self.outcomes.setdefault((step.tool, question.slug), Outcomes())
            sample = CutSample(arguments=arguments, records=_of(question, paths))
            if step.failure is not None:
                outcomes.refused[answer] += 1
                outcomes.words.setdefault(answer, Counter())[step.failure] += 1
                outcomes.samples.setdefault((answer, False), sample)
            elif is_right:
                outcomes.right.setdefault(answer, set()).add(situation)
                outcomes.samples.setdefault((answer, True), sample)
                for other, others, their_paths in self._swaps(question, arguments, by_name, seen):
                    swapped = question.answer(other, others)
                    if swapped is not None:
                        outcomes.swapped[swapped] += 1
                        cut = CutSample(
                            arguments=other, records=_of(question, their_paths or paths)
                        )
                        outcomes.samples.setdefault((swapped, False), cut)
        for name, value in arguments.items():
            self._pools.setdefault((step.tool, name), deque(maxlen=_POOL)).append(value)

    def _known(
        self,
        tool: str,
        arguments: Arguments,
        seen: Mapping[tuple[str, tuple[str, ...]], Json],
    ) -> tuple[dict[str, Json], dict[str, tuple[tuple[str, ...], Json]]]:
        """(the records that a call leads to, by name; the same with their paths)."""
        by_name: dict[str, Json] = {}
        paths: dict[str, tuple[tuple[str, ...], Json]] = {}
        for record in self._records[tool]:
            key = _key(record, arguments, by_name)
            if key is not None and (record.family.name, (key,)) in seen:
                by_name[record.name] = seen[record.family.name, (key,)]
                paths[record.name] = (*record.family.name.split("."), key), by_name[record.name]
        for name in self._lookups:
            if (name, ()) in seen:
                by_name[name] = seen[name, ()]
                paths[name] = tuple(name.split(".")), by_name[name]
        return by_name, paths

    def _swaps(
        self,
        question: Question,
        arguments: Arguments,
        by_name: Mapping[str, Json],
        seen: Mapping[tuple[str, tuple[str, ...]], Json],
    ) -> Iterator[tuple[Arguments, Mapping[str, Json], dict[str, tuple[tuple[str, ...], Json]]]]:
        """The same call with one thing otherwise: an argument of another call, or another record."""
        if question.swaps:
            own = arguments.get(question.swaps)
            pool = self._pools.get((question.tool, question.swaps), ())
            others = [value for value in pool if value != own][-_MOST_SWAPS:]
            for value in others:
                yield {**arguments, question.swaps: value}, by_name, {}
            return
        records = [r for r in self._records[question.tool] if r.key[0] == "args"]
        for record in records[:1] if question.check else ():
            other_keys = [k for f, k in seen if f == record.family.name and len(k) == 1]
            for (key,) in other_keys[-_MOST_SWAPS:]:
                if key != str(arguments.get(record.key[1])):
                    other = {**arguments, record.key[1]: key}
                    yield other, *self._known(question.tool, other, seen)


def _key(record: NamedRecord, arguments: Arguments, by_name: Mapping[str, Json]) -> str | None:
    holder, name = record.key
    source = arguments if holder == "args" else by_name.get(holder)
    value = source.get(name) if isinstance(source, Mapping) else None
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _of(
    question: Question, paths: Mapping[str, tuple[tuple[str, ...], Json]]
) -> dict[tuple[str, ...], Json]:
    """The records that a question requires, by path."""
    names: Sequence[str] = [*question.requires, *question.requires.values()]
    return dict(paths[name] for name in names if name in paths)
