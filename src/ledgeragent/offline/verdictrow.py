"""Rows of verdicts: one for each judged call, flat enough for SQL, with all that speaks against it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Protocol, TypedDict

from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.journal.verdicts import finding_row
from ledgeragent.ledger import Evidence
from ledgeragent.offline.judging import JudgedCall
from ledgeragent.offline.runtally import never_read
from ledgeragent.offline.traces import Trace
from ledgeragent.types import Json
from ledgeragent.verdict import Finding

_TIMES = ("time", "timestamp", "created_at", "started_at", "start_time")
_LABELS = ("labels", "metadata")
_MILLISECONDS_FROM = 1e11  # seconds until the year 5138


class FactRow(TypedDict):
    """A fact that a rule read. `value` is JSON, `tool` the read that supplied it."""

    path: str
    value: str
    tool: str
    turn: int


class FindingOfCall(TypedDict):
    """What one rule has against a call, enforced or not."""

    rule: str
    clause: str | None
    kind: str
    decision: str
    enforcement: str
    reason: str
    reads: list[str]
    evidence: list[FactRow]


class VerdictRow(TypedDict):
    """One judged call of a recorded run, and the verdict on it.

    `number` counts the judged calls of the run from 1, `message` is the place of its reply from 0.
    `rules` and `clauses` are those of the enforced findings. `unread` are the records that a write
    changes, where none of them was ever read. `time` and `labels` are as the record has them.
    """

    file: str
    run: str
    benchmark: str | None
    task_id: str | None
    reward: float | None
    time: datetime | None
    labels: dict[str, str]
    number: int
    message: int
    tool: str
    effect: str
    arguments: str
    executed: bool
    decision: str
    outcome: str
    rules: list[str]
    clauses: list[str]
    findings: list[FindingOfCall]
    unread: list[str]
    pack: str
    pack_version: str
    pack_digest: str


class PartWriter(Protocol):
    """Writes the rows of a partition, where it is worked on, as a part of a table.

    It is told the name of the partition, and of those that it is a part of.
    """

    def __call__(self, name: str, wholes: Sequence[str], rows: Sequence[VerdictRow], /) -> None:
        """Writes them."""
        ...


def verdict_row(file: str, trace: Trace, one: JudgedCall, domain: Domain) -> VerdictRow:
    """The row of a judged call."""
    verdict, call = one.verdict, one.call
    effect = domain.effect(call.name)
    rules = list(dict.fromkeys(_text(f.predicate) for f in verdict.findings))
    return VerdictRow(
        file=_text(file),
        run=_text(trace.run),
        benchmark=_optional(trace.benchmark),
        task_id=_optional(trace.task_id),
        reward=trace.reward,
        time=time_of(trace.extras),
        labels=labels_of(trace.extras),
        number=one.number,
        message=one.message,
        tool=_text(call.name),
        effect=effect.value if domain.tool(call.name) is not None else "unlisted",
        arguments=_json(dict(call.arguments) if call.malformed is None else call.malformed),
        executed=one.executed,
        decision=verdict.decision.name.lower(),
        outcome=one.outcome,
        rules=rules,
        clauses=list(dict.fromkeys(_text(f.clause) for f in verdict.findings if f.clause)),
        findings=[_finding(finding) for finding in (*verdict.findings, *verdict.shadow)],
        unread=[*map(_text, never_read(one, domain))] if effect is Effect.WRITE else [],
        pack=domain.name,
        pack_version=domain.version,
        pack_digest=domain.digest,
    )


def time_of(record: Mapping[str, Json]) -> datetime | None:
    """When a run was, in UTC: ISO 8601 text, or seconds or milliseconds since 1970; else None."""
    for name in _TIMES:
        value = record.get(name)
        try:
            if isinstance(value, str):
                moment = datetime.fromisoformat(value)
                return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
            if isinstance(value, int | float) and not isinstance(value, bool):
                seconds = value / 1000 if abs(value) >= _MILLISECONDS_FROM else value
                return datetime.fromtimestamp(seconds, UTC)
        except (ValueError, OverflowError, OSError):
            continue
    return None


def labels_of(record: Mapping[str, Json]) -> dict[str, str]:
    """The record's `labels` and `metadata` that are plain values, as text."""
    return {
        _text(str(name)): _text(str(value))
        for place in _LABELS
        if isinstance(named := record.get(place), Mapping)
        for name, value in named.items()
        if isinstance(value, str | int | float)
    }


def _finding(finding: Finding) -> FindingOfCall:
    row = finding_row(finding)
    return FindingOfCall(
        rule=_text(row["predicate"]),
        clause=_optional(row["clause"]),
        kind=row["kind"],
        decision=row["decision"],
        enforcement=row["enforcement"],
        reason=_text(row["reason"]),
        reads=[_text(str(call)) for call in finding.reads],
        evidence=[_fact(fact) for fact in finding.facts],
    )


def _fact(fact: Evidence) -> FactRow:
    return FactRow(
        path=_text(fact.path), value=_json(fact.value), tool=_text(fact.source.name), turn=fact.turn
    )


def _json(value: Json) -> str:
    """JSON in ASCII: what is no text in any encoding, a lone surrogate, stays an escape."""
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except RecursionError:
        return '"(nested too deep to be shown)"'


def _text(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def _optional(text: str | None) -> str | None:
    return None if text is None else _text(text)
