"""Rows of a replay's lists: which run, which call, what speaks against it. Ready to be JSON."""

from __future__ import annotations

from typing import TypedDict

from ledgeragent.journal.verdicts import FindingRow, evidence_json, finding_row, plain_call
from ledgeragent.offline.judging import JudgedCall
from ledgeragent.offline.traces import Trace
from ledgeragent.types import Json
from ledgeragent.verdict import Finding, Kind

_SOLVED = 1 - 1e-6


class RunRow(TypedDict):
    """Which recorded run a row speaks of."""

    run: str
    benchmark: str | None
    task_id: str | None
    reward: float | None


class CallRow(RunRow):
    """Which judged call of the run a row speaks of; `judged` is its number there, from 1."""

    judged: int
    call: Json


class StoppedCall(CallRow, FindingRow):
    """One call and one predicate whose observed facts speak against it.

    Unless its `enforcement` is `enforce` it stops nothing.
    """

    evidence: list[Json]


class NearMiss(CallRow):
    """One executed write that was allowed although a record that decides it was never read.

    `unread` are the records it changes, if none of them was read; `undecided` the predicates whose
    record could not be had.
    """

    unread: list[str]
    undecided: list[str]


class PredicateError(CallRow):
    """A predicate that failed on a call."""

    predicate: str
    enforcement: str
    error: str


class SolvedRejection(TypedDict):
    """How many solved runs of a task contain an executed write that a clause rejects."""

    clause: str
    benchmark: str
    task_id: str
    runs: int


class SolvedAsked(TypedDict):
    """How many solved runs of a task a clause asked for a read.

    `before_an_executed_write`: those of them in which the call that it held back executed.
    """

    clause: str
    benchmark: str
    task_id: str
    runs: int
    before_an_executed_write: int


def run_row(trace: Trace) -> RunRow:
    """The row of a recorded run."""
    return RunRow(
        run=trace.run, benchmark=trace.benchmark, task_id=trace.task_id, reward=trace.reward
    )


def call_row(run: RunRow, one: JudgedCall) -> CallRow:
    """The row of a judged call."""
    return CallRow(**run, judged=one.number, call=plain_call(one.call))


def stopped_row(run: RunRow, one: JudgedCall, finding: Finding) -> StoppedCall:
    """The row of one violation."""
    return StoppedCall(
        **call_row(run, one), **finding_row(finding), evidence=evidence_json(finding.evidence)
    )


def error_rows(run: RunRow, one: JudgedCall) -> list[PredicateError]:
    """The predicates that failed on a call, enforced or not."""
    findings = (*one.verdict.findings, *one.verdict.shadow)
    failed = [finding for finding in findings if finding.kind is Kind.ERROR]
    return [
        PredicateError(
            **call_row(run, one),
            predicate=row["predicate"],
            enforcement=row["enforcement"],
            error=row["reason"],
        )
        for row in map(finding_row, failed)
    ]


def reward_class(reward: float | None) -> str:
    """How a run counts: "1" if it solved its task, "0" if not, "unscored" if nobody said."""
    if reward is None:
        return "unscored"
    return "1" if reward >= _SOLVED else "0"
