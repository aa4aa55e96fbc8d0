"""Rules beside one another: the same one twice, and two that no call can satisfy together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

from ledgeragent.check.worlds import Worlds
from ledgeragent.compiler.cel.engine import CelError
from ledgeragent.compiler.cel.programs import Program
from ledgeragent.compiler.cel.rule import CelCheck
from ledgeragent.compiler.outline import Outline, RulePart
from ledgeragent.compiler.samples import run
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError
from ledgeragent.predicates import Predicate
from ledgeragent.types import Json
from ledgeragent.verdict import Enforcement

TRIALS = 600
_MEETINGS = 8
"""How many of the random values would satisfy both of two rules that have nothing to do with each other."""


class _CelRule(NamedTuple):
    """A rule in CEL with its part of the outline."""

    rule: Predicate
    check: CelCheck
    part: RulePart

    @property
    def records(self) -> dict[str, tuple[str, ...]]:
        """The paths of the records that it names."""
        return {r.name: (r.at.text, *map(str, r.keys)) for r in self.check.requires}

    @property
    def words(self) -> object:
        """What it decides, however it is laid out."""
        test = self.check.test
        text = "".join(test.source.text.split()) if test is not None else ""
        return tuple(sorted(self.rule.guards)), text, tuple(sorted(self.records.items()))


def check_pairs(outline: Outline) -> None:
    """Adds rules that say what another says, and pairs that contradict one another."""
    domain = outline.domain or outline.trial
    if domain is None:
        return
    parts = {part.id: part for part in outline.rules if part.sound}
    rules = [
        _CelRule(rule, rule.check, parts[rule.id])
        for rule in domain.predicates
        if isinstance(rule.check, CelCheck) and rule.id in parts
    ]
    _find_the_same(rules, outline)
    proven = _tools_with_an_allowed_call(outline, domain)
    for tool in sorted(outline.judged - proven):
        for first, second in _contradicting([r for r in rules if tool in r.rule.guards], domain):
            text = (
                f"no call of {tool} was found that satisfies both {second.rule.id} and "
                f"{first.rule.id}, at {first.part.place}"
            )
            outline.findings.add("contradiction", second.part.place, text, second.rule.id)


def _find_the_same(rules: Sequence[_CelRule], outline: Outline) -> None:
    by_words: dict[object, _CelRule] = {}
    for second in rules:
        first = by_words.setdefault(second.words, second)
        if first is not second:
            text = f"{second.rule.id} says what {first.rule.id} says, at {first.part.place}"
            outline.findings.add("same-rule", second.part.place, text, second.rule.id)


def _tools_with_an_allowed_call(outline: Outline, domain: Domain) -> set[str]:
    """The tools of which a sample shows a call that the whole pack allows."""
    rules = {rule.id for rule in domain.predicates}
    tools: set[str] = set()
    for sample in outline.samples:
        if sample.side == "allowed" and sample.rule in rules and sample.call.name not in tools:
            try:
                allowed = run(sample, domain).verdict.allowed
            except DataError:  # a sample that is none, which is told elsewhere
                continue
            tools |= {sample.call.name} if allowed else set()
    return tools


def _contradicting(
    rules: Sequence[_CelRule], domain: Domain
) -> Iterator[tuple[_CelRule, _CelRule]]:
    """The pairs of which either is satisfied by some values, and both by none.

    Of random values so many have to satisfy each that some would satisfy both if that were possible.
    """
    tested = [(r, r.check.test) for r in rules if r.rule.enforcement is Enforcement.ENFORCE]
    programs = [(r, test) for r, test in tested if test is not None]
    if len(programs) < 2:
        return
    worlds = Worlds([test for _, test in programs], domain.parameters)
    answers: list[set[int]] = [set() for _ in programs]
    for number, values in enumerate(worlds.every() if worlds.finite else worlds.some(TRIALS)):
        for (_, test), own in zip(programs, answers, strict=True):
            if _answer(test, values):
                own.add(number)
    least = 1 if worlds.finite else _MEETINGS * TRIALS
    for (first, left), (second, right) in combinations(
        zip((r for r, _ in programs), answers, strict=True), 2
    ):
        if not left & right and len(left) * len(right) >= least and _read_alike(first, second):
            yield first, second


def _read_alike(first: _CelRule, second: _CelRule) -> bool:
    """True if names that both rules give to records stand for the same ones."""
    left, right = first.records, second.records
    return all(left[name] == right[name] for name in left.keys() & right.keys())


def _answer(test: Program, values: dict[str, Json]) -> bool:
    try:
        return test(dict(values)) is True
    except CelError:
        return False
