"""The answers of a gate to the judged calls of a run, without the records: to be compared and stored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypedDict

from ledgeragent.journal.verdicts import FindingRow, finding_row, plain_call
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.intake import Intake
from ledgeragent.offline.judging import ALLOW, JudgedCall, judge
from ledgeragent.offline.piece import Piece
from ledgeragent.offline.replay import wanted
from ledgeragent.offline.rows import RunRow, run_row
from ledgeragent.offline.traces import Trace
from ledgeragent.types import Json
from ledgeragent.verdict import Finding, Kind


class RecordedAnswer(TypedDict):
    """The outcome for a call, the findings behind it, and those of rules that are not enforced."""

    outcome: str
    findings: list[FindingRow]
    shadow: list[FindingRow]


class CallAnswer(TypedDict):
    """The answer to one judged call: the number `judged` of its run, in the message at `message`."""

    judged: int
    message: int
    call: Json
    answer: RecordedAnswer


class RunAnswers(RunRow):
    """The answers to all judged calls of a run."""

    calls: list[CallAnswer]


@dataclass(slots=True, kw_only=True)
class Answered(Intake):
    """The answers of some recorded runs, in their order."""

    answers: list[RunAnswers] = field(default_factory=list)


def answer_piece(piece: Piece, binding: Binding, nonstandard: bool) -> Answered:
    """The answers to the conversations in one piece of a file."""
    result = Answered()
    for trace in wanted(piece, binding, nonstandard, result):
        result.runs += 1
        result.answers.append(RunAnswers(**run_row(trace), calls=answers_of(trace, binding)))
    return result


def answers_of(trace: Trace, binding: Binding) -> list[CallAnswer]:
    """The answers to the judged calls of a run."""
    return [_call(one) for one in judge(trace, binding.gate_for(trace))]


def unasked() -> RecordedAnswer:
    """The answer to a call that is not judged."""
    return RecordedAnswer(outcome=ALLOW, findings=[], shadow=[])


def _call(one: JudgedCall) -> CallAnswer:
    verdict = one.verdict
    return CallAnswer(
        judged=one.number,
        message=one.message,
        call=plain_call(one.call),
        answer=RecordedAnswer(
            outcome=one.outcome, findings=_said(verdict.findings), shadow=_said(verdict.shadow)
        ),
    )


def _said(findings: Iterable[Finding]) -> list[FindingRow]:
    """The findings, without those of rules that could not decide: they are against nothing."""
    return [finding_row(finding) for finding in findings if finding.kind is not Kind.UNDECIDED]
