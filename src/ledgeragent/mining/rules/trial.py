"""The trial of questions: what right calls answer, what refused ones do, and what chance would."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ledgeragent.mining.callhistory import AnsweredCall, CallHistory
from ledgeragent.mining.conduct import subject
from ledgeragent.mining.draft import Draft
from ledgeragent.mining.kindred import KeysOf
from ledgeragent.mining.rules.leads import NamedRecord, listed_records_of, lookups_of, records_of
from ledgeragent.mining.rules.question import Circumstances, Question
from ledgeragent.mining.rules.questions import questions
from ledgeragent.types import Arguments, Json

Seen = dict[tuple[str, tuple[str, ...]], Json]
"""The records of a conversation so far, by family and keys."""

Paths = Mapping[str, Sequence[tuple[tuple[str, ...], Json]]]
"""The paths and records that stand behind a name."""

_MOST_SWAPS = 4
_POOL = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class CutSample:
    """A real call (or one with something swapped) with what it was judged by.

    `records` are by path; `earlier` are the calls of the tool before it, where they count.
    """

    arguments: Arguments
    records: Mapping[tuple[str, ...], Json]
    earlier: Sequence[Arguments] = ()


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
        writes = draft.named("write")
        self._records = {c.tool: records_of(c, draft, keys) for c in writes}
        self._listed = {c.tool: [*listed_records_of(c, draft, keys)] for c in writes}
        self.questions = {
            c.tool: [*questions(c, draft, self._records[c.tool], self._listed[c.tool])]
            for c in writes
        }
        self.outcomes: dict[tuple[str, str], Outcomes] = {}
        self.situations: dict[str, set[int]] = {tool: set() for tool in self.questions}
        self._lookups = {f.name for f in lookups_of(draft)}
        self._routes = [route for route in draft.routes if route.lookup]
        self._pools: dict[tuple[str, str], deque[Json]] = {}

    def add(self, history: CallHistory) -> None:
        """Goes through a conversation. Without a reward it counts as right."""
        is_right = history.reward is None or history.reward > 0
        seen: Seen = {}
        earlier_calls: dict[str, list[Arguments]] = {}
        for step in history.steps:
            if step.tool in self.questions:
                self._ask(step, seen, earlier_calls.setdefault(step.tool, []), is_right)
                if step.failure is None:
                    earlier_calls[step.tool].append(step.call.arguments)
            if step.failure is None:
                for family, keys, record in self._world.records(step):
                    seen[family.name, keys] = record
                for route in self._routes:
                    if route.tool == step.tool:
                        for keys, record in route.records(step):
                            seen[route.family.name, keys] = record

    def _ask(
        self, step: AnsweredCall, seen: Seen, earlier: Sequence[Arguments], is_right: bool
    ) -> None:
        moment, paths = self._known(step.tool, step.call.arguments, seen, earlier)
        situation = subject(step.call)
        if step.failure is None and is_right:
            self.situations[step.tool].add(situation)
        for question in self.questions[step.tool]:
            answer = question.answer(moment)
            if answer is None:
                continue
            outcomes = self.outcomes.setdefault((step.tool, question.slug), Outcomes())
            sample = _cut(question, moment, paths)
            if step.failure is not None:
                outcomes.refused[answer] += 1
                outcomes.words.setdefault(answer, Counter())[step.failure] += 1
                outcomes.samples.setdefault((answer, False), sample)
            elif is_right:
                outcomes.right.setdefault(answer, set()).add(situation)
                whole = dict(pair for pairs in paths.values() for pair in pairs)
                outcomes.samples.setdefault((answer, True), replace(sample, records=whole))
                self._swap(question, outcomes, moment, seen)
        for name, value in step.call.arguments.items():
            self._pools.setdefault((step.tool, name), deque(maxlen=_POOL)).append(value)

    def _swap(
        self, question: Question, outcomes: Outcomes, moment: Circumstances, seen: Seen
    ) -> None:
        """Notes what the same call would answer with one thing otherwise."""
        for arguments in self._swaps(question, moment, seen):
            other, paths = self._known(question.tool, arguments, seen, moment.earlier)
            answer = question.answer(other)
            if answer is not None:
                outcomes.swapped[answer] += 1
                cut = _cut(question, other, paths)
                outcomes.samples.setdefault((answer, False), cut)

    def _known(
        self, tool: str, arguments: Arguments, seen: Seen, earlier: Sequence[Arguments]
    ) -> tuple[Circumstances, Paths]:
        """(a call with the records that it leads to; these by name, each with its path)."""
        by_name: dict[str, Json] = {}
        paths: dict[str, list[tuple[tuple[str, ...], Json]]] = {}
        for record in self._records[tool]:
            key = _key(record, arguments, by_name)
            if key is not None and (record.family.name, (key,)) in seen:
                by_name[record.name] = seen[record.family.name, (key,)]
                path = (*record.family.name.split("."), key)
                paths[record.name] = [(path, by_name[record.name])]
        for listed in self._listed[tool]:
            items = arguments.get(listed.argument)
            keys = [str(item) for item in items] if isinstance(items, list) else []
            if keys and all((listed.family.name, (key,)) in seen for key in keys):
                records_of_items = {key: seen[listed.family.name, (key,)] for key in keys}
                by_name[listed.name] = records_of_items
                parts = listed.family.name.split(".")
                paths[listed.name] = [
                    ((*parts, key), record) for key, record in records_of_items.items()
                ]
        for name in self._lookups:
            if (name, ()) in seen:
                by_name[name] = seen[name, ()]
                paths[name] = [(tuple(name.split(".")), by_name[name])]
        return Circumstances(arguments=arguments, records=by_name, earlier=tuple(earlier)), paths

    def _swaps(self, question: Question, moment: Circumstances, seen: Seen) -> Iterator[Arguments]:
        """The same call with one argument otherwise: that of another call, or another record's key."""
        arguments, name = moment.arguments, question.swaps
        if question.kin:
            own = arguments.get(name)
            keys = [key for family, (key, *_) in _keyed(seen) if family == question.kin]
            keys += [key for before in moment.earlier if isinstance(key := before.get(name), str)]
            for key in [*dict.fromkeys(keys)][-_MOST_SWAPS:]:
                value: Json = [key] if isinstance(own, list) else key
                if value != own:
                    yield {**arguments, name: value}
            return
        if name:
            pool = self._pools.get((question.tool, name), ())
            others = [value for value in pool if value != arguments.get(name)][-_MOST_SWAPS:]
            yield from ({**arguments, name: value} for value in others)
            return
        records = [r for r in self._records[question.tool] if r.key[0] == "args"]
        for record in records[:1] if question.check else ():
            other_keys = [key for family, (key, *_) in _keyed(seen) if family == record.family.name]
            for key in other_keys[-_MOST_SWAPS:]:
                if key != str(arguments.get(record.key[1])):
                    yield {**arguments, record.key[1]: key}


def _keyed(seen: Seen) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The records that were seen and have one key."""
    return ((family, keys) for family, keys in seen if len(keys) == 1)


def _key(record: NamedRecord, arguments: Arguments, by_name: Mapping[str, Json]) -> str | None:
    holder, name = record.key
    source = arguments if holder == "args" else by_name.get(holder)
    value = source.get(name) if isinstance(source, Mapping) else None
    return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None


def _cut(question: Question, moment: Circumstances, paths: Paths) -> CutSample:
    """The call with the records that a question requires, by path."""
    required = question.requires.values()
    names: Sequence[str] = [*question.requires, *(r for r in required if isinstance(r, str))]
    records = dict(pair for name in names for pair in paths.get(name, ()))
    earlier = moment.earlier if "writes." in question.check else ()
    return CutSample(arguments=moment.arguments, records=records, earlier=earlier)
