"""Tally of runs: what each judged run adds to the counts of a replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from ledgeragent.domain import Domain, Guard
from ledgeragent.effects import Effect, Write
from ledgeragent.findings import UNKNOWN_ARGUMENT
from ledgeragent.gate import MALFORMED, UNKNOWN_TOOL
from ledgeragent.offline.judging import ALLOW, BLOCK, REVISE_EVIDENCE, REVISE_VIOLATION, JudgedCall
from ledgeragent.offline.rows import (
    NearMiss,
    RunRow,
    call_row,
    error_rows,
    reward_class,
    run_row,
    stopped_row,
)
from ledgeragent.offline.tally import ClauseTask, ReplayResult, counts_of
from ledgeragent.offline.traces import Trace
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind

_OWN_RULES = (MALFORMED, UNKNOWN_ARGUMENT, UNKNOWN_TOOL)


class _GuardTally(NamedTuple):
    """A guard with the counts of its rules."""

    guard: Guard
    rules: Sequence[Counter[str]]


class RunTally:
    """What counts judged runs into a result.

    The guards of a domain are looked up once for all runs that it judges.
    """

    def __init__(self, result: ReplayResult) -> None:
        self._result = result
        # With the domain, so that nothing else can have its identity.
        self._guards: dict[int, tuple[Domain, Mapping[str, _GuardTally]]] = {}

    def count(self, trace: Trace, calls: Sequence[JudgedCall], domain: Domain) -> None:
        """Counts a judged run."""
        result, run = self._result, run_row(trace)
        _, guards = self._guards.get(id(domain)) or self._begin(domain)
        result.runs += 1
        result.calls += len(trace.calls)
        writes: list[JudgedCall] = []
        others: list[JudgedCall] = []
        unlisted: list[JudgedCall] = []
        for one in calls:
            tally = guards.get(one.call.name)
            if tally is None:
                unlisted.append(one)
            else:
                (others if tally.guard.effect is Effect.NEUTRAL else writes).append(one)
            self._count_call(run, one, tally)
        result.unlisted.count(trace, unlisted, domain)
        for one in writes:
            result.writes["judged"] += 1
            result.writes[one.outcome] += 1
            if one.executed:
                result.writes["executed"] += 1
                self._list_executed(run, one, domain)
        if others:
            intents = {one.call.intent for one in writes if one.executed}
            result.neutral.count(trace, others, domain, intents)
        self._count_run(run, [*writes, *others], writes)

    def _begin(self, domain: Domain) -> tuple[Domain, Mapping[str, _GuardTally]]:
        """The guards of a domain, all of whose rules are listed: also those that never say anything."""
        result = self._result
        for rule in domain.predicates:
            if rule.id not in result.by_predicate:
                result.by_predicate[rule.id] = Counter()
                result.clauses[rule.id] = rule.clause
                result.levels[rule.id] = rule.enforcement.value
        guards = {
            tool.tool: _GuardTally(guard, [result.by_predicate[r.id] for r in guard.predicates])
            for tool in domain.tools
            if (guard := domain.guard(tool.tool)) is not None
        }
        self._guards[id(domain)] = domain, guards
        return domain, guards

    def _count_call(self, run: RunRow, one: JudgedCall, tally: _GuardTally | None) -> None:
        verdict = one.verdict
        if tally is not None and not verdict.findings and not verdict.shadow:
            for counts in tally.rules:
                counts["judged"] += 1
                counts[ALLOW] += 1
            return
        result = self._result
        findings = {f.predicate: f for f in (*verdict.findings, *verdict.shadow)}
        if tally is not None and MALFORMED not in findings:
            for rule, counts in zip(tally.guard.predicates, tally.rules, strict=True):
                _count_finding(counts, findings.get(rule.id))
        for name in _OWN_RULES:
            if name in findings:
                result.clauses[name] = None
                result.levels[name] = findings[name].enforcement.value
                _count_finding(counts_of(result.by_predicate, name), findings[name])
        result.errors.extend(error_rows(run, one))

    def _list_executed(self, run: RunRow, one: JudgedCall, domain: Domain) -> None:
        result, verdict = self._result, one.verdict
        if verdict.findings or verdict.shadow:
            in_shadow = [f for f in verdict.shadow if f.kind is Kind.VIOLATION]
            result.rejected.extend(stopped_row(run, one, f) for f in verdict.violations)
            result.shadow.extend(stopped_row(run, one, f) for f in in_shadow)
        if not verdict.allowed:
            return
        undecided = [f.predicate for f in verdict.shadow if f.kind is Kind.UNDECIDED]
        unread = never_read(one, domain)
        if undecided or unread:
            row = call_row(run, one)
            result.near_misses.extend([NearMiss(**row, unread=unread, undecided=undecided)])

    def _count_run(
        self, run: RunRow, calls: Iterable[JudgedCall], writes: Iterable[JudgedCall]
    ) -> None:
        result, reward = self._result, reward_class(run["reward"])
        executed = [one.verdict for one in writes if one.executed]
        counts = counts_of(result.by_reward, reward)
        counts["runs"] += 1
        counts["runs_with_executed_write"] += bool(executed)
        objected = [one for one in calls if one.verdict.findings]
        if not objected:  # as most have not
            return
        asking = _asking(objected)
        halted = _asking([one for one in objected if one.executed])
        rejecting = {_clause_of(f) for v in executed if v.findings for f in v.violations}
        counts["runs_with_rejected_executed_write"] += bool(rejecting)
        counts["runs_asked_for_a_read"] += bool(asking)
        counts["runs_asked_before_an_executed_write"] += bool(halted)
        for clause in asking:
            counts_of(result.asked_by_clause, clause)[reward] += 1
        for clause in halted:
            counts_of(result.halted_by_clause, clause)[reward] += 1
        if reward == "1":
            result.asked_solved.update(_tasks(asking, run))
            result.halted_solved.update(_tasks(halted, run))
            result.stopped_solved.update(_tasks(rejecting, run))


def _count_finding(counts: Counter[str], finding: Finding | None) -> None:
    counts["judged"] += 1
    if finding is None:
        counts[ALLOW] += 1
        return
    in_shadow = _in_shadow(finding)
    counts[_answer(finding)] += 1
    counts["undecided"] += finding.kind is Kind.UNDECIDED
    counts["errors"] += finding.kind is Kind.ERROR
    counts["shadow"] += in_shadow
    counts["shadow_evidence"] += in_shadow and finding.kind is Kind.EVIDENCE


def _asking(calls: Iterable[JudgedCall]) -> set[str]:
    """The clauses whose rules asked for a read before one of these calls, if that was the answer.

    A call that was rejected for a violation too would not have been made after the read either.
    """
    verdicts = [one.verdict for one in calls if one.outcome == REVISE_EVIDENCE]
    return {_clause_of(finding) for verdict in verdicts for finding in verdict.missing}


def _tasks(clauses: Iterable[str], run: RunRow) -> Iterator[ClauseTask]:
    return ((clause, run["benchmark"] or "", run["task_id"] or "") for clause in clauses)


def _answer(finding: Finding) -> str:
    """The outcome of the call if this predicate were alone."""
    if finding.decision is Decision.ALLOW or finding.enforcement is not Enforcement.ENFORCE:
        return ALLOW
    if finding.decision is Decision.BLOCK:
        return BLOCK
    return REVISE_EVIDENCE if finding.kind is Kind.EVIDENCE else REVISE_VIOLATION


def _in_shadow(finding: Finding) -> bool:
    """True if only its level keeps the finding from stopping the call."""
    return finding.enforcement is not Enforcement.ENFORCE and finding.decision is not Decision.ALLOW


def _clause_of(finding: Finding) -> str:
    return finding.clause or finding.predicate


def never_read(one: JudgedCall, domain: Domain) -> list[str]:
    """The records that a call changes, if it names some and none of them was ever read."""
    tool = domain.tool(one.call.name)
    if not isinstance(tool, Write):
        return []
    unread: dict[str, None] = {}
    try:
        for touches in tool.touches:
            for touch in touches(one.call.arguments, one.ledger):
                if one.ledger.get(touch.path) is not None:
                    return []
                unread[str(touch.path)] = None
    except Exception:  # a pack's own account of odd arguments may fail; then it names no record
        return []
    return list(unread)
