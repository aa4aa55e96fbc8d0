"""The counts of a replay: one `ReplayResult`, whatever the number of runs, files and processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from ledgeragent.domain import Domain
from ledgeragent.effects import Effect, Write
from ledgeragent.findings import UNKNOWN_ARGUMENT
from ledgeragent.gate import MALFORMED, UNKNOWN_TOOL
from ledgeragent.offline.caselist import CaseList
from ledgeragent.offline.intake import Intake
from ledgeragent.offline.judging import ALLOW, BLOCK, REVISE_EVIDENCE, REVISE_VIOLATION, JudgedCall
from ledgeragent.offline.neutral import NeutralCalls
from ledgeragent.offline.rows import (
    NearMiss,
    PredicateError,
    RunRow,
    SolvedAsked,
    SolvedRejection,
    StoppedCall,
    call_row,
    error_rows,
    reward_class,
    run_row,
    stopped_row,
)
from ledgeragent.offline.traces import Trace
from ledgeragent.offline.unlisted import UnlistedCalls
from ledgeragent.verdict import Decision, Enforcement, Finding, Kind

ClauseTask: TypeAlias = tuple[str, str, str]
"""A clause, and the benchmark and task of runs that it is about."""

_OWN_RULES = (MALFORMED, UNKNOWN_ARGUMENT, UNKNOWN_TOOL)


@dataclass(slots=True, kw_only=True)
class ReplayResult(Intake):
    """The counts of a replay; results of different runs add up.

    `calls` counts the agent's tool calls in the judged runs. `writes` counts judged writes by
    outcome, `neutral` the other judged calls, `unlisted` those of tools that the pack does not list,
    `by_predicate` all of them for each predicate; what one that is not enforced would have done counts
    as `shadow` only, and the executed writes it speaks against are listed there. `by_reward` counts
    runs for "1", "0" and "unscored". `asked_by_clause` counts those of them in which the rules of a
    clause asked for a read, `halted_by_clause` those in which they did so before a write that
    really executed; `asked_solved` and `halted_solved` count the solved ones among them by clause,
    benchmark and task, and `stopped_solved` those with an executed write that would be rejected.
    """

    calls: int = 0
    writes: Counter[str] = field(default_factory=Counter)
    neutral: NeutralCalls = field(default_factory=NeutralCalls)
    unlisted: UnlistedCalls = field(default_factory=UnlistedCalls)
    clauses: dict[str, str | None] = field(default_factory=dict)
    levels: dict[str, str] = field(default_factory=dict)
    by_predicate: dict[str, Counter[str]] = field(default_factory=dict)
    by_reward: dict[str, Counter[str]] = field(default_factory=dict)
    asked_by_clause: dict[str, Counter[str]] = field(default_factory=dict)
    halted_by_clause: dict[str, Counter[str]] = field(default_factory=dict)
    asked_solved: Counter[ClauseTask] = field(default_factory=Counter)
    halted_solved: Counter[ClauseTask] = field(default_factory=Counter)
    stopped_solved: Counter[ClauseTask] = field(default_factory=Counter)
    rejected: CaseList[StoppedCall] = field(default_factory=CaseList)
    shadow: CaseList[StoppedCall] = field(default_factory=CaseList)
    near_misses: CaseList[NearMiss] = field(default_factory=CaseList)
    errors: CaseList[PredicateError] = field(default_factory=CaseList)

    def add(self, other: ReplayResult) -> None:
        """Counts `other` in, after everything so far."""
        self.take(other)
        self.calls += other.calls
        self.writes.update(other.writes)
        self.neutral.add(other.neutral)
        self.unlisted.add(other.unlisted)
        self.clauses |= other.clauses
        self.levels |= other.levels
        _add_up(self.by_predicate, other.by_predicate)
        _add_up(self.by_reward, other.by_reward)
        _add_up(self.asked_by_clause, other.asked_by_clause)
        _add_up(self.halted_by_clause, other.halted_by_clause)
        self.asked_solved.update(other.asked_solved)
        self.halted_solved.update(other.halted_solved)
        self.stopped_solved.update(other.stopped_solved)
        self.rejected.add(other.rejected)
        self.shadow.add(other.shadow)
        self.near_misses.add(other.near_misses)
        self.errors.add(other.errors)

    def rejected_solved(self) -> list[SolvedRejection]:
        """The solved runs with a rejected executed write, by clause, benchmark and task.

        Some tasks are themselves at odds with the written policy; this tells them from the rest.
        """
        return [
            SolvedRejection(clause=clause, benchmark=benchmark, task_id=task, runs=number)
            for (clause, benchmark, task), number in sorted(self.stopped_solved.items())
        ]

    def asked_reward_1(self) -> list[SolvedAsked]:
        """The solved runs that were asked for a read, by clause, benchmark and task."""
        return [
            SolvedAsked(
                clause=task[0],
                benchmark=task[1],
                task_id=task[2],
                runs=runs,
                before_an_executed_write=self.halted_solved[task],
            )
            for task, runs in sorted(self.asked_solved.items())
        ]

    def count(self, trace: Trace, calls: list[JudgedCall], domain: Domain) -> None:
        """Counts a judged run."""
        self.runs += 1
        self.calls += len(trace.calls)
        self._register(domain)
        run = run_row(trace)
        writes, others, unlisted = _parted(calls, domain)
        self.unlisted.count(trace, unlisted, domain)
        for one in calls:
            self._count_call(run, one, domain)
        for one in writes:
            self.writes["judged"] += 1
            self.writes[one.outcome] += 1
            self.writes["executed"] += one.executed
            if one.executed:
                self._list_executed(run, one, domain)
        if others:
            intents = {one.call.intent for one in writes if one.executed}
            self.neutral.count(trace, others, domain, intents)
        self._count_run(run, [*writes, *others], writes)

    def _register(self, domain: Domain) -> None:
        """Lists every predicate, so that one which never had anything to say is seen too."""
        for rule in domain.predicates:
            if rule.id not in self.by_predicate:
                self.by_predicate[rule.id] = Counter()
                self.clauses[rule.id] = rule.clause
                self.levels[rule.id] = rule.enforcement.value

    def _count_call(self, run: RunRow, one: JudgedCall, domain: Domain) -> None:
        guard = domain.guard(one.call.name)
        if guard is not None and not one.verdict.findings and not one.verdict.shadow:
            for rule in guard.predicates:
                counts = self.by_predicate[rule.id]
                counts["judged"] += 1
                counts[ALLOW] += 1
            return
        findings = {f.predicate: f for f in (*one.verdict.findings, *one.verdict.shadow)}
        ran = guard.predicates if guard is not None and MALFORMED not in findings else ()
        for rule in ran:
            self._count_finding(rule.id, findings.get(rule.id))
        for name in _OWN_RULES:
            if name in findings:
                self.clauses[name] = None
                self.levels[name] = findings[name].enforcement.value
                self._count_finding(name, findings[name])
        self.errors.extend(error_rows(run, one))

    def _count_finding(self, predicate: str, finding: Finding | None) -> None:
        counts = _counts(self.by_predicate, predicate)
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

    def _list_executed(self, run: RunRow, one: JudgedCall, domain: Domain) -> None:
        verdict = one.verdict
        if verdict.findings or verdict.shadow:
            in_shadow = [f for f in verdict.shadow if f.kind is Kind.VIOLATION]
            self.rejected.extend(stopped_row(run, one, f) for f in verdict.violations)
            self.shadow.extend(stopped_row(run, one, f) for f in in_shadow)
        if not verdict.allowed:
            return
        undecided = [f.predicate for f in verdict.shadow if f.kind is Kind.UNDECIDED]
        unread = never_read(one, domain)
        if undecided or unread:
            row = call_row(run, one)
            self.near_misses.extend([NearMiss(**row, unread=unread, undecided=undecided)])

    def _count_run(self, run: RunRow, calls: list[JudgedCall], writes: list[JudgedCall]) -> None:
        reward = reward_class(run["reward"])
        objected = [one for one in calls if one.verdict.findings]  # most have none
        asking = _asking(objected)
        halted = _asking([one for one in objected if one.executed])
        executed = [one.verdict for one in writes if one.executed]
        rejecting = {_clause_of(f) for v in executed if v.findings for f in v.violations}
        counts = _counts(self.by_reward, reward)
        counts["runs"] += 1
        counts["runs_with_executed_write"] += bool(executed)
        counts["runs_with_rejected_executed_write"] += bool(rejecting)
        counts["runs_asked_for_a_read"] += bool(asking)
        counts["runs_asked_before_an_executed_write"] += bool(halted)
        for clause in asking:
            _counts(self.asked_by_clause, clause)[reward] += 1
        for clause in halted:
            _counts(self.halted_by_clause, clause)[reward] += 1
        if reward == "1":
            self.asked_solved.update(_tasks(asking, run))
            self.halted_solved.update(_tasks(halted, run))
            self.stopped_solved.update(_tasks(rejecting, run))


def _asking(calls: Iterable[JudgedCall]) -> set[str]:
    """The clauses whose rules asked for a read before one of these calls, if that was the answer.

    A call that was rejected for a violation too would not have been made after the read either.
    """
    verdicts = [one.verdict for one in calls if one.outcome == REVISE_EVIDENCE]
    return {_clause_of(finding) for verdict in verdicts for finding in verdict.missing}


def _tasks(clauses: Iterable[str], run: RunRow) -> Iterator[ClauseTask]:
    return ((clause, run["benchmark"] or "", run["task_id"] or "") for clause in clauses)


def _add_up(mine: dict[str, Counter[str]], theirs: dict[str, Counter[str]]) -> None:
    for key, counts in theirs.items():
        _counts(mine, key).update(counts)


def _counts(table: dict[str, Counter[str]], key: str) -> Counter[str]:
    """The counts under a key, of which there are none so far where it is new."""
    counts = table.get(key)
    if counts is None:
        counts = table[key] = Counter()
    return counts


def _answer(finding: Finding) -> str:
    """The outcome of the call if this predicate were alone."""
    if finding.decision is Decision.ALLOW or finding.enforcement is not Enforcement.ENFORCE:
        return ALLOW
    if finding.decision is Decision.BLOCK:
        return BLOCK
    return REVISE_EVIDENCE if finding.kind is Kind.EVIDENCE else REVISE_VIOLATION


def _parted(
    calls: Iterable[JudgedCall], domain: Domain
) -> tuple[list[JudgedCall], list[JudgedCall], list[JudgedCall]]:
    """The writes, the calls of guarded tools that write nothing, and those of unlisted tools."""
    writes: list[JudgedCall] = []
    others: list[JudgedCall] = []
    unlisted: list[JudgedCall] = []
    for one in calls:
        guard = domain.guard(one.call.name)
        if guard is None:
            unlisted.append(one)
        else:
            (others if guard.effect is Effect.NEUTRAL else writes).append(one)
    return writes, others, unlisted


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
