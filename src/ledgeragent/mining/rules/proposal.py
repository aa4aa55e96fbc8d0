"""Proposals: questions that right calls answer alike, with the evidence that it is no accident."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass

from ledgeragent.mining.rules.question import Question
from ledgeragent.mining.rules.trial import CutSample, Outcomes, Trial

LEAST_SITUATIONS = 50
"""No rule is drafted on fewer different situations of a tool than this, unless one asks for it."""

_LEAST_SHARE = 0.02
_LEAST_OF_VALUE = 2
_MOST_BROKEN = 0.01
_LIKELY = 0.95
_LEAST_EXPLAINED = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRule:
    """A drafted rule with its evidence, in distinct situations.

    `satisfied` and `broken` are situations of right calls, `explained` refused calls that it would have
    rejected, `unexplained` refused calls that it allows. `chance` is the share of swapped calls that
    satisfy it, None where nothing could be swapped. `words` are the environment's for such refusals.
    """

    question: Question
    values: tuple[str, ...]
    satisfied: int
    broken: int
    chance: float | None
    explained: int
    unexplained: int
    words: str
    allowed: CutSample
    rejected: CutSample

    @property
    def evidence(self) -> str:
        """The evidence in one line."""
        chance = "chance unknown" if self.chance is None else f"by chance {self.chance:.0%}"
        parts = [
            f"held in {self.satisfied:,} of {self.satisfied + self.broken:,} different situations",
            chance,
        ]
        if self.explained:
            refused = self.explained + self.unexplained
            parts.append(f"explains {self.explained:,} of {refused:,} refused calls")
        else:
            parts.append("the tools never refused a call for it")
        return "; ".join(parts)


def proposals(trial: Trial, least: int = LEAST_SITUATIONS) -> list[DraftRule]:
    """The proposals with the best evidence first, from tools with at least so many situations."""
    candidates = _asked(trial, least)
    drafted = (p for question in candidates for p in _proposed(question, trial, least))
    return sorted(
        drafted, key=lambda p: (-p.explained, p.chance or 0.0, -p.satisfied, p.question.slug)
    )


def thin_tools(trial: Trial, least: int = LEAST_SITUATIONS) -> dict[str, int]:
    """The writes with too few different situations for any rule, with how many they have."""
    counts = {tool: len(situations) for tool, situations in trial.situations.items()}
    return {tool: count for tool, count in sorted(counts.items()) if count < least}


def _asked(trial: Trial, least: int) -> Iterator[Question]:
    thin = thin_tools(trial, least)
    for tool, listed in sorted(trial.questions.items()):
        yield from listed if tool not in thin else ()


def _proposed(question: Question, trial: Trial, least: int) -> Iterator[DraftRule]:
    outcomes = trial.outcomes.get((question.tool, question.slug))
    if outcomes is None:
        return
    situations = len(set().union(*outcomes.right.values()))
    usual = _usual(question, outcomes, situations)
    broken = len(set().union(*(s for a, s in outcomes.right.items() if a not in usual)))
    if situations < least or not usual or broken > _MOST_BROKEN * situations:
        return
    swapped = outcomes.swapped.total()
    chance = sum(outcomes.swapped[a] for a in usual) / swapped if swapped else None
    explained = sum(n for a, n in outcomes.refused.items() if a not in usual)
    if explained < _LEAST_EXPLAINED and (chance is None or chance > _LIKELY) and question.check:
        return
    allowed, rejected = _samples(question, outcomes, usual)
    if allowed is None or rejected is None:
        return
    yield DraftRule(
        question=question,
        values=tuple(sorted(map(str, usual))) if question.is_open else (),
        satisfied=situations - broken,
        broken=broken,
        chance=chance,
        explained=explained,
        unexplained=outcomes.refused.total() - explained,
        words=_words(outcomes, usual),
        allowed=allowed,
        rejected=rejected,
    )


def _usual(question: Question, outcomes: Outcomes, situations: int) -> frozenset[Hashable]:
    """The answers of right calls."""
    if not question.is_open:
        return frozenset({True}) if True in outcomes.right else frozenset()
    least = max(_LEAST_OF_VALUE, _LEAST_SHARE * situations)
    return frozenset(
        answer
        for answer, situations in outcomes.right.items()
        if len(situations) >= least and not isinstance(answer, tuple)  # several values at once
    )


def _samples(
    question: Question, outcomes: Outcomes, usual: Iterable[Hashable]
) -> tuple[CutSample | None, CutSample | None]:
    allowed = next((s for (a, ok), s in outcomes.samples.items() if a in usual and ok), None)
    rejected = next((s for (a, _), s in outcomes.samples.items() if a not in usual), None)
    if rejected is None and allowed is not None and not question.check:
        rejected = CutSample(arguments=allowed.arguments, records={})
    return allowed, rejected


def _words(outcomes: Outcomes, usual: Iterable[Hashable]) -> str:
    """What the environment says most to calls that the rule would reject, \"\" for nothing."""
    counts: dict[str, int] = {}
    for answer, words in outcomes.words.items():
        for text, times in words.items():
            counts[text] = counts.get(text, 0) + (times if answer not in usual else -times)
    best = max(counts, key=lambda text: counts[text], default="")
    return best.removeprefix("Error: ") if best and counts[best] >= _LEAST_EXPLAINED else ""
