"""Judges labelled cases: a conversation, a proposed reply, and the verdicts that a policy calls for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict

from ledgeragent.dispatching import inner_reply
from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.journal.verdicts import evidence_json, plain_call
from ledgeragent.offline.labelled import ALLOW, REJECT, REVISE_READ, Case, Expected
from ledgeragent.offline.ownvalues import NO_VALUES, OwnValues
from ledgeragent.state import State
from ledgeragent.types import Json, Reply, ToolCall, canonical
from ledgeragent.verdict import Decision, Finding, Verdict

ERROR = "error"
_APART = ("dialogue", "mixed")


class Mismatch(TypedDict):
    """A call of a case that was judged otherwise than expected, with what was read for it.

    `shadow` are the predicates that spoke against the call without being enforced.
    """

    id: str
    kind: str
    note: str
    call: Json
    expected: Json
    decision: str
    predicates: list[str]
    shadow: list[str]
    reads: list[Json]
    reason: str
    evidence: list[Json]


@dataclass(slots=True, kw_only=True)
class Score:
    """How many cases there were, how many judged as expected, and what was wrong in the others."""

    cases: int = 0
    correct: int = 0
    mismatches: list[Mismatch] = field(default_factory=list)


class CaseOutcome(NamedTuple):
    """What came of one case. `skipped`: it is of another domain; `apart`: what was said decides it.

    `values` are those of parameters that it records, and that it was judged with.
    """

    id: str
    file: str
    kind: str
    mismatches: list[Mismatch]
    skipped: bool = False
    apart: bool = False
    values: OwnValues = NO_VALUES


@dataclass(slots=True, kw_only=True)
class CasesResult:
    """The score of the cases that records decide, in total, by kind and by file; `apart` the others'.

    `skipped` counts cases of another domain, `own_values` those that were judged with the values that
    they record of the pack's parameters, `lost_values` those that record one which cannot be used.
    """

    decided: Score = field(default_factory=Score)
    by_kind: dict[str, Score] = field(default_factory=dict)
    by_file: dict[str, Score] = field(default_factory=dict)
    apart: Score = field(default_factory=Score)
    skipped: int = 0
    own_values: int = 0
    lost_values: int = 0

    def count(self, one: CaseOutcome) -> None:
        """Counts a case."""
        self.own_values += bool(one.values.values)
        self.lost_values += bool(one.values.lost)
        if one.skipped:
            self.skipped += 1
        elif one.apart:
            _score(self.apart, one.mismatches)
        else:
            _score(self.decided, one.mismatches)
            _score(self.by_kind.setdefault(one.kind, Score()), one.mismatches)
            _score(self.by_file.setdefault(one.file, Score()), one.mismatches)


def judge_cases(cases: Iterable[Case], domain: Domain) -> CasesResult:
    """Judges every case, with the domain's parameters as they are.

    Those of a clause that depends on what was said are scored apart.
    """
    result = CasesResult()
    for case in cases:
        result.count(case_outcome(case, domain))
    return result


def case_outcome(case: Case, domain: Domain, values: OwnValues = NO_VALUES) -> CaseOutcome:
    """What comes of a case that is judged in a domain, which has these `values` that the case records."""
    if case.domain not in (None, domain.name):
        return CaseOutcome(case.id, case.file, case.kind, [], skipped=True)
    mismatches = judge_case(case, Gate(domain=domain))
    apart = any(c.id == case.clause and c.checkable in _APART for c in domain.clauses)
    return CaseOutcome(case.id, case.file, case.kind, mismatches, apart=apart, values=values)


def judge_case(case: Case, gate: Gate) -> list[Mismatch]:
    """Where the gate answers the reply of a case otherwise than expected, and what it answered."""
    verdicts = _verdicts(case, gate)
    pairs = list(zip(case.proposals, verdicts, strict=True))
    mismatches = [
        _mismatch(case, verdict, proposal.expected.label)
        for proposal, verdict in pairs
        if not is_right(verdict, proposal.expected, gate.domain)
    ]
    if case.not_all_allowed and all(verdict.allowed for verdict in verdicts):
        mismatches.append(_mismatch(case, verdicts[-1], {"not_all_allowed": True}))
    return mismatches


def _verdicts(case: Case, gate: Gate) -> tuple[Verdict, ...]:
    """The gate's verdict on each call where all of them are one reply."""
    state = State()
    for message in case.messages:
        state = state.observe(inner_reply(message, gate.domain), gate.domain)
    reply = Reply(calls=tuple(proposal.call for proposal in case.proposals))
    _, filtered = state.filter(inner_reply(reply, gate.domain), gate, "tool_result")
    return filtered.verdicts


def _mismatch(case: Case, verdict: Verdict, expected: Json) -> Mismatch:
    return Mismatch(
        id=case.id,
        kind=case.kind,
        note=case.note,
        call=plain_call(verdict.call),
        expected=expected,
        decision=decision(verdict),
        predicates=[finding.predicate for finding in verdict.findings],
        shadow=[finding.predicate for finding in verdict.shadow],
        reads=[plain_call(call) for finding in verdict.missing for call in finding.reads],
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
    """True if the verdict is an accepted one, for an accepted reason or naming an accepted read."""
    answer = decision(verdict)
    if answer not in expected.accept:
        return False
    if answer == REJECT:
        return any(_is_reason(finding, expected) for finding in verdict.violations)
    if answer == REVISE_READ and expected.reads:
        named = [call for finding in verdict.missing for call in finding.reads]
        return any(_supplies(n, accepted, domain) for n in named for accepted in expected.reads)
    return True


def _is_reason(finding: Finding, expected: Expected) -> bool:
    if expected.clauses and finding.clause not in expected.clauses:
        return False
    return not expected.rules or any(_names(name, finding.predicate) for name in expected.rules)


def _names(name: str, rule: str) -> bool:
    """True for the id of the rule, what follows its slash, or the last words of that."""
    return rule == name or rule.endswith((f"/{name}", f"-{name}"))


def _supplies(named: ToolCall, accepted: ToolCall, domain: Domain) -> bool:
    """The same tool with the same arguments; of a lookup, whose key nobody can know, the tool."""
    if named.name != accepted.name:
        return False
    return _is_lookup(named.name, domain) or canonical(named.arguments) == canonical(
        accepted.arguments
    )


def _is_lookup(tool: str, domain: Domain) -> bool:
    """True if no path that the tool supplies tells any of the arguments it takes."""
    routes = domain.routes(tool)
    keys = {route.rename.get(key, key) for route in routes for key in route.to.keys}
    needed = {name for route in routes for name in route.parameters}
    return bool(needed) and not needed & keys


def _score(score: Score, mismatches: list[Mismatch]) -> None:
    score.cases += 1
    score.correct += not mismatches
    score.mismatches += mismatches
