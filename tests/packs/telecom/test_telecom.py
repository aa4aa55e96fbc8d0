"""The telecom pack as a whole: samples, clauses, the labelled cases."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path as File
from typing import Any

import pytest

from ledgeragent.absorb import absorb
from ledgeragent.effects import Effect, Read, Write
from ledgeragent.ledger import Ledger
from ledgeragent.offline.traces import read_messages
from ledgeragent.state import State
from ledgeragent.testing import ledger_of
from ledgeragent.types import ToolCall, ToolReturn
from ledgeragent.verdict import Decision, Kind, Verdict
from tests.packs.telecom.talk import GATE, TELECOM, TelecomTalk

SAMPLES = json.loads((files("ledgeragent.packs.telecom") / "samples.json").read_text("utf-8"))


# Samples and clauses


def sample_ledger(sample: Mapping[str, Any]) -> Ledger:
    ledger = ledger_of(sample["ledger"], TELECOM)
    for write in sample.get("writes", ()):
        call = ToolCall(name=write["name"], arguments=write["arguments"])
        ledger = absorb(ledger, call, ToolReturn(call_id="", content="done"), TELECOM).ledger
    return ledger


def sample_cases() -> Iterable[Any]:
    for rule, sides in SAMPLES.items():
        for side, samples in sides.items():
            for number, sample in enumerate(samples):
                yield pytest.param(rule, side, sample, id=f"{rule}-{side}-{number}")


@pytest.mark.parametrize(("rule", "side", "sample"), list(sample_cases()))
def test_samples(rule: str, side: str, sample: Mapping[str, Any]) -> None:
    call = ToolCall(name=sample["call"]["name"], arguments=sample["call"]["arguments"])
    verdict = GATE.judge(call, sample_ledger(sample))
    if side == "allowed":
        assert verdict.decision is Decision.ALLOW
        assert not verdict.shadow
    else:
        assert rule in {f.predicate for f in (*verdict.findings, *verdict.shadow)}


def test_every_predicate_has_samples_and_a_clause() -> None:
    ids = {rule.id for rule in TELECOM.predicates}
    assert set(SAMPLES) == ids
    assert all(sides["allowed"] and sides["rejected"] for sides in SAMPLES.values())
    enforced = {name for clause in TELECOM.clauses for name in clause.predicates}
    assert enforced == ids
    assert {rule.clause for rule in TELECOM.predicates} <= {c.id for c in TELECOM.clauses}


def test_no_sample_makes_a_rule_fail_or_leaves_a_reason_unfilled() -> None:
    for rule, sides in SAMPLES.items():
        for sample in sides["rejected"]:
            call = ToolCall(name=sample["call"]["name"], arguments=sample["call"]["arguments"])
            verdict = GATE.judge(call, sample_ledger(sample))
            for finding in (*verdict.findings, *verdict.shadow):
                assert finding.kind in (Kind.VIOLATION, Kind.EVIDENCE), (rule, finding)
                assert "{" not in finding.reason


# The shared data


def rows(file: File) -> Iterable[Any]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def outcome(verdict: Verdict) -> str:
    if verdict.violations or verdict.errors:
        return "reject"
    return "revise_read" if verdict.missing else "allow"


def names_the_read(verdict: Verdict, expect: Mapping[str, Any]) -> bool:
    wanted = [read for read in (expect["read"], *expect.get("read_any", ())) if read]
    reads = [read for f in verdict.missing for read in f.reads]
    return not wanted or any(
        read.name == want["name"] and read.arguments == want["arguments"]
        for read in reads
        for want in wanted
    )


def is_right(verdict: Verdict, expect: Mapping[str, Any]) -> bool:
    got = outcome(verdict)
    if got not in expect.get("accept", [expect["decision"]]):
        return False
    if got == "reject":
        names = expect.get("clause_any", [expect["clause"]])
        return any(f.clause in names for f in verdict.violations)
    return got == "allow" or names_the_read(verdict, expect)


def test_labelled_cases(data_dir: File) -> None:
    policy = json.loads((data_dir / "benchmarks/policy/telecom.json").read_text("utf-8"))
    apart = {c["id"] for c in policy if c["checkable"] in ("dialogue", "mixed")}
    wrong, judged = [], 0
    for row in rows(data_dir / "benchmarks/cases/telecom.jsonl.gz"):
        state = State()
        for message in read_messages(row["messages"]):
            state = state.observe(message, TELECOM)
        call = ToolCall(name=row["call"]["name"], arguments=row["call"]["arguments"])
        if row["clause"] not in apart:
            judged += 1
            if not is_right(GATE.judge(call, state.ledger), row["expect"]):
                wrong.append(row["id"])
    assert judged > 200
    assert wrong == []


def test_no_gold_write_is_a_violation(data_dir: File) -> None:
    executed = 0
    for row in rows(data_dir / "benchmarks/oracle/telecom_gold.jsonl.gz"):
        talk = TelecomTalk().user()
        for step in row["calls"]:
            if step.get("requestor") != "assistant":
                talk.user()
                continue
            verdict = talk.judge(step["name"], **step["arguments"])
            if TELECOM.effect(step["name"]) is Effect.WRITE and not step["error"]:
                executed += 1
                assert not verdict.violations, (row["task_id"], verdict.feedback)
                assert not verdict.errors
            talk.tool(step["name"], step["content"], **step["arguments"])
    assert executed > 100


def test_every_tool_of_the_environment_is_declared(data_dir: File) -> None:
    tools = json.loads((data_dir / "benchmarks/tau2/telecom/tools.json").read_text("utf-8"))
    kinds = {"read": Read, "write": Write}
    assert {tool["name"] for tool in tools} == {tool.tool for tool in TELECOM.tools}
    for tool in tools:
        declared = TELECOM.tool(tool["name"])
        expected = kinds.get(tool["type"])
        assert expected is None or isinstance(declared, expected), tool["name"]
        given = tool["schema"]["function"]["parameters"]
        if isinstance(declared, Write):
            assert set(declared.arguments.__annotations__) <= set(given["properties"])


def test_every_clause_is_in_the_clause_file(data_dir: File) -> None:
    policy = json.loads((data_dir / "benchmarks/policy/telecom.json").read_text("utf-8"))
    assert [(c.id, c.checkable) for c in TELECOM.clauses] == [
        (c["id"], c["checkable"]) for c in policy
    ]
