"""Rows of a replay's lists: which run, which call, what speaks against it. Ready to be JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypedDict

from ledgeragent.ledger import Evidence
from ledgeragent.offline.judging import JudgedCall
from ledgeragent.offline.traces import Trace
from ledgeragent.types import Json, ToolCall
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


class RejectedWrite(CallRow):
    """One executed write and one predicate whose observed facts speak against it."""

    predicate: str
    clause: str | None
    decision: str
    reason: str
    evidence: list[Json]


class StoppedCall(RejectedWrite):
    """The same with how strictly the predicate is enforced; unless it is `enforce` it stops nothing."""

    enforcement: str


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
    return CallRow(**run, judged=one.number, call=call_json(one.call))


def rejected_row(run: RunRow, one: JudgedCall, finding: Finding) -> RejectedWrite:
    """The row of one violation."""
    return RejectedWrite(
        **call_row(run, one),
        predicate=finding.predicate,
        clause=finding.clause,
        decision=finding.decision.name.lower(),
        reason=finding.reason,
        evidence=evidence_json(finding.evidence),
    )


def stopped_row(run: RunRow, one: JudgedCall, finding: Finding) -> StoppedCall:
    """The row of one violation, with the level of its predicate."""
    return StoppedCall(**rejected_row(run, one, finding), enforcement=finding.enforcement.value)


def error_rows(run: RunRow, one: JudgedCall) -> list[PredicateError]:
    """The predicates that failed on a call, enforced or not."""
    return [
        PredicateError(
            **call_row(run, one),
            predicate=finding.predicate,
            enforcement=finding.enforcement.value,
            error=finding.error or "",
        )
        for finding in (*one.verdict.findings, *one.verdict.shadow)
        if finding.kind is Kind.ERROR
    ]


def reward_class(reward: float | None) -> str:
    """How a run counts: "1" if it solved its task, "0" if not, "unscored" if nobody said."""
    if reward is None:
        return "unscored"
    return "1" if reward >= _SOLVED else "0"


def call_json(call: ToolCall) -> Json:
    """A call as JSON; arguments that were no object are given as the text they were."""
    arguments = call.malformed if call.malformed is not None else dict(call.arguments)
    return {"name": call.name, "arguments": arguments}


def evidence_json(evidence: Iterable[Evidence]) -> list[Json]:
    """The facts read, each path once, with the read that supplied it and when."""
    facts = {fact.path: fact for fact in evidence}
    return [
        {"path": path, "value": fact.value, "read": call_json(fact.source), "turn": fact.turn}
        for path, fact in facts.items()
    ]
