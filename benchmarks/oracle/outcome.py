"""The outcome of one run: what SOPBench's oracle says of it, and what the gate does."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.oracle.pack import Pack
from benchmarks.oracle.runs import trace
from ledgeragent.domain import Domain
from ledgeragent.offline.judging import JudgedCall, gate_of_records, judge
from ledgeragent.offline.traces import Trace


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """One run. `solved` and `broken` are the oracle's words, the rest is of the gate.

    A run `wrote` if it did an action, no read, for which the prompt states a condition. It is
    `stopped` if the gate rejects one of these; `violated` are the rules that records contradict
    there. `looked` if a read came before its own condition was met, `tried` if the gate rejects a
    write that the tool refused.
    """

    goal: str
    solved: bool
    broken: bool
    wrote: bool
    stopped: bool
    violated: frozenset[str]
    looked: bool
    tried: bool


def outcome(record: dict[str, Any], pack: Pack) -> Outcome:
    """What oracle and gate say of one run."""
    task, evaluation, run = record["task"], record["evaluations"][0], trace(record)
    judged = _judged(run, pack.stating(task))
    done = [call for call in judged if call.executed]
    stopped = [call for call in done if not call.verdict.allowed]
    return Outcome(
        goal=task["user_goal"],
        solved=bool(evaluation["success"]),
        broken=not evaluation["constraint_not_violated"],
        wrote=bool(done),
        stopped=bool(stopped),
        violated=frozenset(f.predicate for call in stopped for f in call.verdict.violations),
        looked=any(not c.verdict.allowed for c in _judged(run, pack.watching(task))),
        tried=any(not c.executed and not c.verdict.allowed for c in judged),
    )


def _judged(run: Trace, domain: Domain) -> list[JudgedCall]:
    """The calls of a run that a rule guards, judged."""
    calls = judge(run, gate_of_records(domain, unknown="ignore"))
    return [c for c in calls if (guard := domain.guard(c.call.name)) and guard.predicates]


def counts(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """How often gate and oracle agree, and how."""
    wrote = [one for one in outcomes if one.wrote]
    left = [one for one in outcomes if one.broken and not one.stopped]
    return {
        "runs": len(outcomes),
        "solved": sum(one.solved for one in outcomes),
        "broken": sum(one.broken for one in outcomes),
        "wrote": len(wrote),
        "broken_and_stopped": sum(one.broken and one.stopped for one in wrote),
        "broken_and_passed": sum(one.broken and not one.stopped for one in wrote),
        "kept_and_stopped": sum(not one.broken and one.stopped for one in wrote),
        "kept_and_violated": sum(not one.broken and bool(one.violated) for one in wrote),
        "kept_and_passed": sum(not one.broken and not one.stopped for one in wrote),
        "broken_without_a_write": sum(one.broken and not one.wrote for one in outcomes),
        "left_by_a_read": sum(one.looked for one in left),
        "left_by_a_refused_write": sum(one.tried and not one.looked for one in left),
    }


def reasons(outcomes: Sequence[Outcome]) -> dict[str, dict[str, int]]:
    """The rules that contradict runs which kept all; the goals of those that broke one and passed."""
    contradicting = (rule for one in outcomes if not one.broken for rule in one.violated)
    passed = (o.goal for o in outcomes if o.broken and o.wrote and not o.stopped and not o.looked)
    return {
        "contradicting": dict(sorted(Counter(contradicting).items())),
        "passed": dict(sorted(Counter(passed).items())),
    }
