"""Judges labelled cases: a conversation, a proposed write, and the verdict that a policy calls for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict

from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.offline.labelled import ALLOW, REJECT, REVISE_READ, Case, Expected
from ledgeragent.offline.rows import call_json, evidence_json
from ledgeragent.state import State
from ledgeragent.types import Json, ToolCall, canonical
from ledgeragent.verdict import Decision, Verdict

ERROR = "error"
_APART = ("dialogue", "mixed")


class Mismatch(TypedDict):
    """A case that was judged otherwise than expected, with what was read for it.

    `shadow` are the predicates that spoke against the call without being enforced.
    """

    id: str
    kind: str
    expected: Json
    decision: str
    predicates: list[str]
    shadow: list[str]
    reads: list[Json]
    reason: str
    evidence: list[Json]


@dataclass(slots=True, kw_only=True)
class Score:
    """How many cases there were, how many judged as expected, and the others."""

    cases: int = 0
    correct: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)


@dataclass(slots=True, kw_only=True)
class CasesResult:
    """The score of the cases that records decide, in total and by kind, and `apart` that of others.

    `skipped` counts cases of another domain.
    """

    decided: Score = field(default_factory=Score)
    by_kind: dict[str, Score] = field(default_factory=dict)
    apart: Score = field(default_factory=Score)
    skipped: int = 0


def judge_cases(cases: Iterable[Case], domain: Domain) -> CasesResult:
    """Judges every case. Those of a clause that depends on what was said are scored apart."""
    result = CasesResult()
    gate = Gate(domain=domain)
    apart = {clause.id for clause in domain.clauses if clause.checkable in _APART}
    for case in cases:
        if case.domain not in (None, domain.name):
            result.skipped += 1
            continue
        mismatch = judge_case(case, gate)
        if case.clause in apart:
            _score(result.apart, mismatch)
        else:
            _score(result.decided, mismatch)
            _score(result.by_kind.setdefault(case.kind, Score()), mismatch)
    return result


def judge_case(case: Case, gate: Gate) -> Mismatch | None:
    """None if the gate answers as expected, else what it answered instead."""
    state = State()
    for message in case.messages:
        state = state.observe(message, gate.domain)
    verdict = gate.judge(case.call, state.ledger)
    if is_right(verdict, case.expected, gate.domain):
        return None
    return Mismatch(
        id=case.id,
        kind=case.kind,
        expected=case.expected.label,
        decision=decision(verdict),
        predicates=[finding.predicate for finding in verdict.findings],
        shadow=[finding.predicate for finding in verdict.shadow],
        reads=[call_json(read) for finding in verdict.missing for read in finding.reads],
        reason="; ".join(finding.error or finding.reason for finding in verdict.findings),
        evidence=evidence_json(verdict.evidence),
    )


def decision(verdict: Verdict) -> str:
    """The verdict in the words of the labels; `error` where a predicate failed, which none expects."""
    if verdict.errors:
        return ERROR
    if verdict.decision is Decision.ALLOW:
        return ALLOW
    return REJECT if verdict.violations else REVISE_READ


def is_right(verdict: Verdict, expected: Expected, domain: Domain) -> bool:
    """True if the verdict is an accepted one, by an accepted clause or naming an accepted read."""
    given = decision(verdict)
    if given not in expected.accept:
        return False
    if given == REJECT and expected.clauses:
        return any(finding.clause in expected.clauses for finding in verdict.violations)
    if given == REVISE_READ and expected.reads:
        named = [read for finding in verdict.missing for read in finding.reads]
        return any(_supplies(n, wanted, domain) for n in named for wanted in expected.reads)
    return True


def _supplies(named: ToolCall, wanted: ToolCall, domain: Domain) -> bool:
    """The same tool with the same arguments; of a lookup, whose key nobody can know, the tool."""
    if named.name != wanted.name:
        return False
    return _is_lookup(named.name, domain) or canonical(named.arguments) == canonical(
        wanted.arguments
    )


def _is_lookup(tool: str, domain: Domain) -> bool:
    """True if no path that the tool supplies tells any of the arguments it takes."""
    routes = domain.routes(tool)
    told = {route.rename.get(key, key) for route in routes for key in route.to.keys}
    needed = {name for route in routes for name in route.parameters}
    return bool(needed) and not needed & told


def _score(score: Score, mismatch: Mismatch | None) -> None:
    score.cases += 1
    if mismatch is None:
        score.correct += 1
    else:
        score.mismatches.append(mismatch)
