"""The telecom pack as a whole: clauses, the labelled cases."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from pathlib import Path as File
from typing import Any

from ledgeragent.effects import Effect, Read, Write
from ledgeragent.offline.traces import read_messages
from ledgeragent.state import State
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Verdict
from tests.packs.telecom.talk import GATE, TELECOM, TelecomTalk

# Clauses


def test_every_predicate_has_a_clause() -> None:
    ids = {rule.id for rule in TELECOM.predicates}
    enforced = {name for clause in TELECOM.clauses for name in clause.predicates}
    assert enforced == ids
    assert {rule.clause for rule in TELECOM.predicates} <= {c.id for c in TELECOM.clauses}


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
            if step["name"] == "transfer_to_human_agents":
                assert verdict.allowed, (row["task_id"], verdict.feedback)
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
