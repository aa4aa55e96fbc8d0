"""The telehealth pack as a whole: recorded texts, the labelled cases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path as File
from typing import Any

from ledgeragent.effects import Effect, Read
from ledgeragent.offline.traces import read_messages
from ledgeragent.state import State
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Verdict
from tests.packs.telehealth.talk import CLINIC, GATE, answer, asked, rows

# Recorded texts and labelled cases


def recorded(data_dir: File) -> Iterable[dict[str, Any]]:
    for part in ("gold", "fuzz"):
        for session in rows(data_dir / f"benchmarks/oracle/telehealth_{part}.jsonl.gz"):
            yield from session["calls"]


FAILED = ("Error", "No patient found", "Please provide ", "No medical record found for appointment")


def test_every_recorded_read_is_parsed(data_dir: File) -> None:
    seen: Counter[str] = Counter()
    for call in recorded(data_dir):
        if isinstance(CLINIC.tool(call["name"]), Read):
            after = answer(call)
            failed = call["content"].startswith(FAILED)
            assert bool(after.skipped) is failed, call["content"]
            assert all(entry.typed for entry in after.ledger), call["content"]
            seen[call["name"]] += not failed
    reads = {read.tool for read in CLINIC.tools if isinstance(read, Read)}
    assert {tool for tool, count in seen.items() if count} == reads


def test_recorded_details_are_parsed_to_their_end(data_dir: File) -> None:
    last = {"get_appointment_details": "meeting_link", "get_medical_record": "plan"}
    for call in recorded(data_dir):
        if call["name"] in last:
            for entry in answer(call).ledger:
                assert last[call["name"]] in entry.value or not entry.value["exists"]


def test_recorded_writes_are_done_exactly_where_the_database_changed(data_dir: File) -> None:
    for call in recorded(data_dir):
        if call["name"] in {"schedule_appointment", "cancel_appointment", "reschedule_appointment"}:
            assert bool(answer(call).ledger.writes) is call["db_changed"], call["content"]


def test_every_tool_of_the_environment_is_declared(data_dir: File) -> None:
    file = data_dir / "benchmarks/tau_trait/telehealth/tools.json"
    effects = {"read": Effect.READ, "write": Effect.WRITE}
    for tool in json.loads(file.read_text("utf-8")):
        assert CLINIC.tool(tool["name"]) is not None
        assert CLINIC.effect(tool["name"]) is effects.get(tool["type"], Effect.NEUTRAL)


def test_every_clause_is_in_the_clause_file(data_dir: File) -> None:
    policy = json.loads((data_dir / "benchmarks/policy/telehealth.json").read_text("utf-8"))
    ours = {clause.id: clause.checkable for clause in CLINIC.clauses}
    assert ours == {clause["id"]: clause["checkable"] for clause in policy}


def outcome(verdict: Verdict) -> str:
    if verdict.violations or verdict.errors:
        return "reject"
    return "revise_read" if verdict.missing else "allow"


def is_right(row: Mapping[str, Any], verdict: Verdict) -> bool:
    expect, got = row["expect"], outcome(verdict)
    if got not in (expect.get("accept") or [expect["decision"]]):
        return False
    if got == "reject":
        clauses = expect.get("clause_any") or [expect["clause"]]
        return any(finding.clause in clauses for finding in verdict.violations)
    named = [*expect.get("read_any", ()), *([expect["read"]] if expect.get("read") else ())]
    if got == "allow" or not named:
        return True
    wanted = {str(ToolCall(name=r["name"], arguments=r["arguments"])) for r in named}
    lookups = {f"{r['name']}()" for r in named if r["name"].startswith("find_")}
    return bool(asked(verdict) & (wanted | lookups))


def test_labelled_cases(data_dir: File) -> None:
    checkable = {clause.id: clause.checkable for clause in CLINIC.clauses}
    wrong, judged = [], 0
    for row in rows(data_dir / "benchmarks/cases/telehealth.jsonl.gz"):
        if checkable.get(row["clause"]) in ("dialogue", "mixed"):
            continue
        state = State()
        for message in read_messages(row["messages"]):
            state = state.observe(message, CLINIC)
        verdict = GATE.judge(ToolCall(**row["call"]), state.ledger)
        judged += 1
        if not is_right(row, verdict):
            wrong.append((row["id"], verdict.feedback))
    assert judged > 150
    assert wrong == []
