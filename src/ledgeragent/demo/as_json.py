"""The demo as JSON: every event, verdict, fact and changed value, and the ledgers in full."""

from __future__ import annotations

import json
from collections.abc import Sequence

from ledgeragent.demo.play import Played, SceneCall, SceneEvent
from ledgeragent.demo.screen import Show, is_right
from ledgeragent.journal.verdicts import evidence_json, finding_row, plain_call
from ledgeragent.render import render
from ledgeragent.types import Json
from ledgeragent.verdict import Finding, Verdict


def as_json(shows: Sequence[Show]) -> str:
    """One JSON document; the same bytes every time."""
    return json.dumps({"scenarios": [_show(s) for s in shows]}, indent=2, ensure_ascii=False) + "\n"


def _show(show: Show) -> Json:
    scenario = show.scenario
    return {
        "number": scenario.number,
        "title": scenario.title,
        "clause": scenario.clause,
        "plain": _played(show, show.plain),
        "ledgeragent": _played(show, show.guarded),
    }


def _played(show: Show, played: Played) -> Json:
    return {
        "events": [_event(event) for event in played.events],
        "ledger": render(played.ledger) if played.ledger is not None else None,
        "changes": [change._asdict() for change in played.changes],
        "generations": played.generations,
        "as_the_policy_wants_it": is_right(show, played),
    }


def _event(event: SceneEvent) -> Json:
    if not isinstance(event, SceneCall):
        return {"speaker": event.speaker, "text": event.text}
    return {
        "call": str(event.call),
        "verdict": _verdict(event.verdict) if event.verdict is not None else None,
        "returned": event.returned.content if event.returned is not None else None,
        "stored": [str(entry.path) for entry in event.learned],
        "stale": [".".join((str(entry.path), *mark.fields)) for entry, mark in event.staled],
    }


def _verdict(verdict: Verdict) -> Json:
    return {
        "decision": verdict.decision.name,
        "findings": [_finding(finding) for finding in verdict.findings],
        "facts": evidence_json(verdict.evidence),
    }


def _finding(finding: Finding) -> Json:
    return {
        **finding_row(finding),
        "reads": [plain_call(call) for call in finding.reads],
        "facts": evidence_json(finding.evidence),
    }
