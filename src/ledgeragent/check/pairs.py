"""Rules beside one another: the same one twice, and two that no call can satisfy together."""

from __future__ import annotations

from itertools import combinations
from math import prod

from ledgeragent.check.worlds import Worlds
from ledgeragent.compiler.cel.engine import CelError
from ledgeragent.compiler.cel.programs import Program
from ledgeragent.compiler.cel.rule import CelCheck
from ledgeragent.compiler.outline import Outline, RulePart
from ledgeragent.compiler.samples import run
from ledgeragent.domain import Domain
from ledgeragent.predicates import Predicate
from ledgeragent.types import Json
from ledgeragent.verdict import Enforcement

TRIALS = 600
_MEETINGS = 8
"""How many of the random values would satisfy both of two rules that have nothing to do with each other."""


def check_pairs(outline: Outline) -> None:
    """Adds rules that say what another says, and pairs that contradict one another."""
    domain = outline.domain or outline.trial
    if domain is None:
        return
    rules = [rule for rule in domain.predicates if isinstance(rule.check, CelCheck)]
    places = {part.id: part for part in outline.rules if part.sound}
    passing = _tools_with_an_allowed_call(outline, domain)
    for first, second in combinations(rules, 2):
        if first.id not in places or second.id not in places:
            continue
        shared = [tool for tool in first.guards if tool in second.guards]
        if not shared or not _read_alike(first, second):
            continue
        if _words(first) == _words(second):
            text = f"{second.id} says what {first.id} says, at {places[first.id].place}"
            _find("same-rule", places[second.id], text, outline)
        elif not passing.intersection(shared) and _contradict(first, second, domain):
            text = (
                f"no call of {shared[0]} was found that satisfies both {second.id} and {first.id}, "
                f"at {places[first.id].place}"
            )
            _find("contradiction", places[second.id], text, outline)


def _find(code: str, part: RulePart, text: str, outline: Outline) -> None:
    outline.findings.add(code, part.place, text, part.id)


def _tools_with_an_allowed_call(outline: Outline, domain: Domain) -> set[str]:
    """The tools of which a sample shows a call that the whole pack allows."""
    rules = {rule.id for rule in domain.predicates}
    allowed = (s for s in outline.samples if s.side == "allowed" and s.rule in rules)
    return {sample.call.name for sample in allowed if run(sample, domain).verdict.allowed}


def _read_alike(first: Predicate, second: Predicate) -> bool:
    """True if names that both rules give to records stand for the same ones."""
    left, right = _records(first), _records(second)
    return all(left[name] == right[name] for name in left.keys() & right.keys())


def _records(rule: Predicate) -> dict[str, tuple[str, ...]]:
    assert isinstance(rule.check, CelCheck)
    return {
        requirement.name: (requirement.at.text, *map(str, requirement.keys))
        for requirement in rule.check.requires
    }


def _words(rule: Predicate) -> tuple[object, ...]:
    """What a rule decides, however it is laid out."""
    assert isinstance(rule.check, CelCheck)
    test = rule.check.test
    text = "".join(test.source.text.split()) if test is not None else ""
    return sorted(rule.guards), text, sorted(_records(rule).items())


def _contradict(first: Predicate, second: Predicate, domain: Domain) -> bool:
    """True if values that satisfy either of the two were found, and none that satisfy both.

    Of random values so many have to satisfy each that some would satisfy both if that were possible.
    """
    tests = [test for test in map(_test, (first, second)) if test is not None]
    if len(tests) < 2:
        return False
    worlds = Worlds(tests, domain.parameters)
    alone = [0, 0]
    for values in worlds.every() if worlds.finite else worlds.some(TRIALS):
        answers = [_answer(test, values) for test in tests]
        if all(answers):
            return False
        alone = [count + answer for count, answer in zip(alone, answers, strict=True)]
    return all(alone) if worlds.finite else prod(alone) >= _MEETINGS * TRIALS


def _test(rule: Predicate) -> Program | None:
    enforced = rule.enforcement is Enforcement.ENFORCE
    return rule.check.test if enforced and isinstance(rule.check, CelCheck) else None


def _answer(test: Program, values: dict[str, Json]) -> bool:
    try:
        return test(dict(values)) is True
    except CelError:
        return False
