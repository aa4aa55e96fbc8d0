"""Guarded calls that write nothing, such as handing a conversation over: which of them a rule stops.

Whether it should have is told by how the run ended and by the task's reference solution.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.offline.caselist import CaseList
from ledgeragent.offline.judging import JudgedCall
from ledgeragent.offline.rows import StoppedCall, reward_class, run_row, stopped_row
from ledgeragent.offline.traces import Trace
from ledgeragent.predicates import Predicate
from ledgeragent.verdict import Kind

PREMATURE, CORRECT, SOLVED = "premature", "correct", "solved"
STOPPED = "stopped"


@dataclass(slots=True, kw_only=True)
class NeutralCalls:
    """The neutral calls by what became of them; those of different runs add up.

    `outcomes` counts the calls. `by_predicate` counts, for each rule that guards one, the runs with
    such a call that were PREMATURE, CORRECT or SOLVED, and of each those in which the rule speaks
    against it (`premature_stopped`); `tools` are what the rule guards. `stopped` lists the calls that
    a rule speaks against, enforced or not.
    """

    outcomes: Counter[str] = field(default_factory=Counter)
    by_predicate: dict[str, Counter[str]] = field(default_factory=dict)
    tools: dict[str, tuple[str, ...]] = field(default_factory=dict)
    stopped: CaseList[StoppedCall] = field(default_factory=CaseList)

    def add(self, other: NeutralCalls) -> None:
        """Counts `other` in, after everything so far."""
        self.outcomes.update(other.outcomes)
        for rule, counts in other.by_predicate.items():
            self.by_predicate.setdefault(rule, Counter()).update(counts)
        self.tools |= other.tools
        self.stopped.add(other.stopped)

    def count(
        self,
        trace: Trace,
        calls: Iterable[JudgedCall],
        domain: Domain,
        intents: Collection[tuple[str, str]],
    ) -> None:
        """Counts the calls of one run; `intents` are those of its executed writes."""
        stops: dict[Predicate, bool] = {}
        for one in calls:
            self.outcomes.update(("judged", one.outcome))
            self.outcomes["executed"] += one.executed
            against = self._list(trace, one)
            guard = domain.guard(one.call.name)
            for rule in guard.predicates if guard is not None else ():
                stops[rule] = stops.get(rule, False) or rule.id in against
        for rule, stopped in stops.items():
            self.tools[rule.id] = rule.guards
            counts = self.by_predicate.setdefault(rule.id, Counter())
            for group in _groups(trace, rule, domain, intents):
                counts[group] += 1
                counts[f"{group}_{STOPPED}"] += stopped

    def _list(self, trace: Trace, one: JudgedCall) -> set[str]:
        """The rules that speak against a call; what they say is listed."""
        findings = (*one.verdict.findings, *one.verdict.shadow)
        violations = [finding for finding in findings if finding.kind is Kind.VIOLATION]
        self.stopped.extend(stopped_row(run_row(trace), one, finding) for finding in violations)
        return {finding.predicate for finding in violations}


def _groups(
    trace: Trace, rule: Predicate, domain: Domain, intents: Collection[tuple[str, str]]
) -> Iterator[str]:
    """How a run with one of the rule's calls ended, in which these writes executed.

    SOLVED; CORRECT if the reference solution makes such a call; PREMATURE if the run failed and the
    reference solution makes none, but a write that was not made: something was left to do.
    """
    reward = reward_class(trace.reward)
    if reward == "1":
        yield SOLVED
    gold = trace.gold
    if gold is None:
        return
    if any(call.name in rule.guards for call in gold):
        yield CORRECT
    elif reward == "0" and any(
        call.intent not in intents and _is_write(call.name, domain) for call in gold
    ):
        yield PREMATURE


def _is_write(tool: str, domain: Domain) -> bool:
    guard = domain.guard(tool)
    return guard is not None and guard.effect is Effect.WRITE
