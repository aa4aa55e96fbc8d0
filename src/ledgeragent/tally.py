"""What a replay found, counted: one `Result`, whatever the number of runs, files and processes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict

from ledgeragent.domain import Domain
from ledgeragent.effects import Write
from ledgeragent.errors import DataError
from ledgeragent.gate import MALFORMED, UNKNOWN_TOOL
from ledgeragent.judging import ALLOW, BLOCK, REVISE_EVIDENCE, REVISE_VIOLATION, Judged
from ledgeragent.traces import Trace
from ledgeragent.types import Json, Reply, ToolCall
from ledgeragent.verdict import Decision, Enforcement, Evidence, Finding, Kind

BROKEN = "broken"
MOST_PROBLEMS = 100
_SOLVED = 1 - 1e-6
_OWN_RULES = (MALFORMED, UNKNOWN_TOOL)


class Run(TypedDict):
    """Which recorded run a row speaks of."""

    run: str
    benchmark: str | None
    task_id: str | None
    reward: float | None


class RejectedWrite(Run):
    """One executed write and one predicate whose observed facts speak against it."""

    call: Json
    predicate: str
    clause: str | None
    decision: str
    reason: str
    evidence: list[Json]


class NearMiss(Run):
    """One executed write that was allowed although a record that decides it was never read.

    `unread` are the records it changes, if none of them was read; `undecided` the predicates whose
    record could not be had.
    """

    call: Json
    unread: list[str]
    undecided: list[str]


class PredicateError(Run):
    """A predicate that failed on a call."""

    call: Json
    predicate: str
    error: str


class SolvedRejection(TypedDict):
    """How many solved runs of a task contain an executed write that a clause rejects."""

    clause: str
    benchmark: str
    task_id: str
    runs: int


class Problem(TypedDict):
    """A record that could not be read, and where it stands."""

    file: str
    line: int | None
    problem: str


@dataclass(slots=True, kw_only=True)
class Result:
    """What a replay found; results of different runs add up.

    `calls` counts the agent's tool calls in the judged runs, `skipped` the records that were not
    judged by reason; `problems` are the first of the broken ones. `writes` counts judged calls by
    outcome, `by_predicate` the same for each predicate. `by_reward` counts runs for "1", "0" and
    "unscored". `asked_by_clause` counts those of them in which the rules of a clause asked for a
    read, `halted_by_clause` those in which they did so before a write that really executed.
    """

    runs: int = 0
    calls: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    writes: Counter[str] = field(default_factory=Counter)
    clauses: dict[str, str | None] = field(default_factory=dict)
    by_predicate: dict[str, Counter[str]] = field(default_factory=dict)
    by_reward: dict[str, Counter[str]] = field(default_factory=dict)
    asked_by_clause: dict[str, Counter[str]] = field(default_factory=dict)
    halted_by_clause: dict[str, Counter[str]] = field(default_factory=dict)
    rejected: list[RejectedWrite] = field(default_factory=list)
    near_misses: list[NearMiss] = field(default_factory=list)
    errors: list[PredicateError] = field(default_factory=list)

    def add(self, other: Result) -> None:
        """Counts `other` in, after everything so far."""
        self.runs += other.runs
        self.calls += other.calls
        self.skipped.update(other.skipped)
        self.problems += other.problems[: MOST_PROBLEMS - len(self.problems)]
        self.writes.update(other.writes)
        self.clauses |= other.clauses
        _add_up(self.by_predicate, other.by_predicate)
        _add_up(self.by_reward, other.by_reward)
        _add_up(self.asked_by_clause, other.asked_by_clause)
        _add_up(self.halted_by_clause, other.halted_by_clause)
        self.rejected += other.rejected
        self.near_misses += other.near_misses
        self.errors += other.errors

    def rejected_solved(self) -> list[SolvedRejection]:
        """The solved runs with a rejected executed write, by clause, benchmark and task.

        Some tasks are themselves at odds with the written policy; this tells them from the rest.
        """
        rows = [row for row in self.rejected if reward_class(row["reward"]) == "1"]
        runs = {(_clause_of(r), r["benchmark"] or "", r["task_id"] or "", r["run"]) for r in rows}
        groups = Counter(key[:3] for key in runs)
        return [
            SolvedRejection(clause=clause, benchmark=benchmark, task_id=task, runs=number)
            for (clause, benchmark, task), number in sorted(groups.items())
        ]

    def skip(self, why: str) -> None:
        """Counts a record that was not judged."""
        self.skipped[why] += 1

    def broken(self, error: DataError) -> None:
        """Counts a record that could not be read."""
        self.skipped[BROKEN] += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(Problem(file=error.file, line=error.line, problem=error.problem))

    def count(self, trace: Trace, judged: list[Judged], domain: Domain) -> None:
        """Counts a judged run."""
        self.runs += 1
        self.calls += sum(len(m.calls) for m in trace.messages if type(m) is Reply)
        self._register(domain)
        run = Run(
            run=trace.run,
            benchmark=trace.benchmark,
            task_id=trace.task_id,
            reward=trace.reward,
        )
        rejected = len(self.rejected)
        for one in judged:
            self._count_call(one, domain)
            if one.executed:
                self._list_executed(run, one, domain)
            self.errors += [
                PredicateError(
                    **run, call=call_json(one.call), predicate=f.predicate, error=f.error or ""
                )
                for f in one.verdict.errors
            ]
        self._count_run(reward_class(trace.reward), judged, len(self.rejected) > rejected)

    def _register(self, domain: Domain) -> None:
        """Lists every predicate, so that one which never had anything to say is seen too."""
        if not all(rule.id in self.by_predicate for rule in domain.predicates):
            for rule in domain.predicates:
                self.by_predicate.setdefault(rule.id, Counter())
                self.clauses[rule.id] = rule.clause

    def _count_call(self, one: Judged, domain: Domain) -> None:
        self.writes["judged"] += 1
        self.writes[one.outcome] += 1
        self.writes["executed"] += one.executed
        found = {f.predicate: f for f in (*one.verdict.findings, *one.verdict.shadow)}
        guard = domain.guard(one.call.name)
        ran = guard.predicates if guard is not None and MALFORMED not in found else ()
        for rule in ran:
            self._count_finding(rule.id, found.get(rule.id))
        for name in _OWN_RULES:
            if name in found:
                self.clauses[name] = None
                self._count_finding(name, found[name])

    def _count_finding(self, predicate: str, finding: Finding | None) -> None:
        counts = self.by_predicate.get(predicate)
        if counts is None:
            counts = self.by_predicate[predicate] = Counter()
        counts["judged"] += 1
        counts[_answer(finding)] += 1
        if finding is not None:
            counts["undecided"] += finding.kind is Kind.UNDECIDED
            counts["errors"] += finding.kind is Kind.ERROR

    def _list_executed(self, run: Run, one: Judged, domain: Domain) -> None:
        for finding in one.verdict.violations:
            self.rejected.append(_rejected(run, one.call, finding))
        if not one.verdict.allowed:
            return
        undecided = [f.predicate for f in one.verdict.shadow if f.kind is Kind.UNDECIDED]
        unread = _never_read(one, domain)
        if undecided or unread:
            call = call_json(one.call)
            self.near_misses.append(NearMiss(**run, call=call, unread=unread, undecided=undecided))

    def _count_run(self, reward: str, judged: list[Judged], rejected: bool) -> None:
        asked = _asking(judged)
        halted = _asking(one for one in judged if one.executed)
        counts = self.by_reward.setdefault(reward, Counter())
        counts["runs"] += 1
        counts["runs_with_executed_write"] += any(one.executed for one in judged)
        counts["runs_with_rejected_executed_write"] += rejected
        counts["runs_asked_for_a_read"] += bool(asked)
        counts["runs_asked_before_an_executed_write"] += bool(halted)
        for clause in asked:
            self.asked_by_clause.setdefault(clause, Counter())[reward] += 1
        for clause in halted:
            self.halted_by_clause.setdefault(clause, Counter())[reward] += 1


def reward_class(reward: float | None) -> str:
    """How a run counts: "1" if it solved its task, "0" if not, "unscored" if nobody said."""
    if reward is None:
        return "unscored"
    return "1" if reward >= _SOLVED else "0"


def call_json(call: ToolCall) -> Json:
    """A call as JSON; arguments that were no object are given as the text they were."""
    given = call.malformed if call.malformed is not None else dict(call.arguments)
    return {"name": call.name, "arguments": given}


def evidence_json(evidence: Iterable[Evidence]) -> list[Json]:
    """The facts read, each path once, with the read that supplied it and when."""
    facts = {fact.path: fact for fact in evidence}
    return [
        {"path": path, "value": fact.value, "read": call_json(fact.source), "turn": fact.turn}
        for path, fact in facts.items()
    ]


def _asking(judged: Iterable[Judged]) -> set[str]:
    """The clauses whose rules asked for a read before one of these calls."""
    return {f.clause or f.predicate for one in judged for f in one.verdict.missing}


def _add_up(mine: dict[str, Counter[str]], theirs: dict[str, Counter[str]]) -> None:
    for key, counts in theirs.items():
        mine.setdefault(key, Counter()).update(counts)


def _answer(finding: Finding | None) -> str:
    """What one predicate alone would have done to the call."""
    if finding is None or finding.decision is Decision.ALLOW:
        return ALLOW
    if finding.enforcement is not Enforcement.ENFORCE:
        return ALLOW
    if finding.decision is Decision.BLOCK:
        return BLOCK
    return REVISE_EVIDENCE if finding.kind is Kind.EVIDENCE else REVISE_VIOLATION


def _clause_of(row: RejectedWrite) -> str:
    return row["clause"] or row["predicate"]


def _rejected(run: Run, call: ToolCall, finding: Finding) -> RejectedWrite:
    return RejectedWrite(
        **run,
        call=call_json(call),
        predicate=finding.predicate,
        clause=finding.clause,
        decision=finding.decision.name.lower(),
        reason=finding.reason,
        evidence=evidence_json(finding.evidence),
    )


def _never_read(one: Judged, domain: Domain) -> list[str]:
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
