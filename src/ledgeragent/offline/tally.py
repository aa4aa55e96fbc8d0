"""The counts of a replay: one `ReplayResult`, whatever the number of runs, files and processes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypeAlias

from ledgeragent.offline.caselist import CaseList
from ledgeragent.offline.intake import Intake
from ledgeragent.offline.neutral import NeutralCalls
from ledgeragent.offline.rows import (
    NearMiss,
    PredicateError,
    SolvedAsked,
    SolvedRejection,
    StoppedCall,
)
from ledgeragent.offline.unlisted import UnlistedCalls

ClauseTask: TypeAlias = tuple[str, str, str]
"""A clause, and the benchmark and task of runs that it is about."""


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


def _add_up(mine: dict[str, Counter[str]], theirs: dict[str, Counter[str]]) -> None:
    for key, counts in theirs.items():
        counts_of(mine, key).update(counts)


def counts_of(table: dict[str, Counter[str]], key: str) -> Counter[str]:
    """The counts under a key, of which there are none so far where it is new."""
    counts = table.get(key)
    if counts is None:
        counts = table[key] = Counter()
    return counts
