"""The gate's answer to a call as it is shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ledgeragent.journal.verdicts import finding_row
from ledgeragent.ledger import Evidence
from ledgeragent.offline.changes import shown
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


def answer_of(verdict: Verdict, executed: bool, checked: Iterable[str] = ()) -> ShownAnswer:
    """The answer of a verdict, given now or read back from a journal, after these rules ran."""
    return ShownAnswer(
        outcome=_outcome(verdict),
        executed=executed,
        findings=(
            *(_finding(finding, enforced=True) for finding in verdict.findings),
            *(_finding(finding, enforced=False) for finding in verdict.shadow),
        ),
        facts=_facts(verdict.evidence),
        checked=tuple(checked),
        note=verdict.note,
    )


def _outcome(verdict: Verdict) -> str:
    only_asks = verdict.decision is Decision.REVISE and not verdict.violations
    return ASKED if only_asks else verdict.decision.name.lower()


def _finding(finding: Finding, *, enforced: bool) -> ShownFinding:
    row = finding_row(finding)
    return ShownFinding(
        rule=row["predicate"],
        clause=row["clause"],
        kind=row["kind"],
        decision=row["decision"],
        reason=finding.reason,
        enforced=enforced,
        reads=tuple(map(str, finding.reads)),
        facts=_facts(finding.evidence),
        error=finding.error,
    )


def _facts(evidence: Iterable[Evidence]) -> tuple[ShownFact, ...]:
    return tuple({fact.path: _fact(fact) for fact in evidence}.values())


def _fact(evidence: Evidence) -> ShownFact:
    call = evidence.source
    return ShownFact(
        path=evidence.path,
        value=shown(evidence.value),
        # A journal keeps of a read its name alone.
        source=str(call) if call.arguments else call.name,
        turn=evidence.turn,
    )
