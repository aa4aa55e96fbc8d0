"""The gate's answer to a call as it is shown: from a verdict, or from what a journal recorded of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ledgeragent.domain import Domain
from ledgeragent.ledger import Evidence
from ledgeragent.offline.changes import shown
from ledgeragent.offline.judging import JudgedCall
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Decision, Finding, Verdict

ASKED = "evidence"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFact:
    """A value that a rule read: its full path, and the read it came from."""

    path: str
    value: str
    source: str
    turn: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFinding:
    """The objection of one rule to a call. `enforced` is False where it changed nothing."""

    rule: str
    clause: str | None
    kind: str
    decision: str
    reason: str
    enforced: bool
    reads: tuple[str, ...] = ()
    facts: tuple[ShownFact, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownAnswer:
    """The gate's answer to one call: `allow`, `revise`, `evidence` or `block`, and why."""

    outcome: str
    executed: bool
    findings: tuple[ShownFinding, ...] = ()
    facts: tuple[ShownFact, ...] = ()
    checked: tuple[str, ...] = ()
    note: str = ""


def answer_of(one: JudgedCall, domain: Domain) -> ShownAnswer:
    """The answer that the gate gives to a call."""
    verdict = one.verdict
    guard = domain.guard(one.call.name)
    return ShownAnswer(
        outcome=_outcome(verdict),
        executed=one.executed,
        findings=(
            *(_finding(finding, enforced=True) for finding in verdict.findings),
            *(_finding(finding, enforced=False) for finding in verdict.shadow),
        ),
        facts=_facts(verdict.evidence),
        checked=tuple(rule.id for rule in guard.predicates) if guard is not None else (),
        note=verdict.note,
    )


def _outcome(verdict: Verdict) -> str:
    only_asks = verdict.decision is Decision.REVISE and not verdict.violations
    return ASKED if only_asks else verdict.decision.name.lower()


def _finding(finding: Finding, *, enforced: bool) -> ShownFinding:
    return ShownFinding(
        rule=finding.predicate,
        clause=finding.clause,
        kind=finding.kind.value,
        decision=finding.decision.name.lower(),
        reason=finding.reason,
        enforced=enforced,
        reads=tuple(map(str, finding.reads)),
        facts=_facts(finding.evidence),
        error=finding.error,
    )


def _facts(evidence: Iterable[Evidence]) -> tuple[ShownFact, ...]:
    return tuple({fact.path: _fact(fact) for fact in evidence}.values())


def _fact(evidence: Evidence) -> ShownFact:
    return ShownFact(
        path=evidence.path,
        value=shown(evidence.value),
        source=str(evidence.source),
        turn=evidence.turn,
    )


def recorded_answer(verdict: Mapping[str, Json], executed: bool) -> ShownAnswer:
    """The answer that a journal holds."""
    findings = tuple(
        _recorded_finding(finding, enforced=part == "findings")
        for part in ("findings", "shadow")
        for finding in verdict[part]
    )
    decision = verdict["decision"].lower()
    kinds = {finding.kind for finding in findings if finding.enforced}
    outcome = ASKED if decision == "revise" and kinds == {ASKED} else decision
    return ShownAnswer(outcome=outcome, executed=executed, findings=findings)


def _recorded_finding(finding: Mapping[str, Json], *, enforced: bool) -> ShownFinding:
    return ShownFinding(
        rule=finding["predicate"],
        clause=finding["clause"],
        kind=finding["kind"],
        decision=finding["decision"].lower(),
        reason=finding["reason"],
        enforced=enforced,
        reads=tuple(
            str(ToolCall(name=c["name"], arguments=c["arguments"])) for c in finding["reads"]
        ),
        facts=tuple({f["path"]: _recorded_fact(f) for f in finding["evidence"]}.values()),
        error=finding["error"],
    )


def _recorded_fact(fact: Mapping[str, Json]) -> ShownFact:
    return ShownFact(
        path=fact["path"],
        value=shown(fact["value"]),
        source=fact["source"],
        turn=fact["turn"],
    )
