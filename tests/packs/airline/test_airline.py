"""The airline pack as a whole: clauses, versions, the labelled cases."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path as File
from typing import Any

from ledgeragent.effects import Effect
from ledgeragent.gate import Gate
from ledgeragent.offline.traces import read_messages
from ledgeragent.packs import versions
from ledgeragent.state import State
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision, Kind, Verdict
from tests.packs.airline.talk import CANCEL, HURT, TAU, TAU2, certificate, known, on
from tests.packs.talk import violated

# Clauses


def test_every_predicate_has_a_clause() -> None:
    ids = {rule.id for rule in TAU2.predicates}
    enforced = {name for clause in TAU2.clauses for name in clause.predicates}
    assert enforced == ids
    assert all(rule.summary for rule in TAU2.predicates)
    others = {rule.id: rule.clause for rule in TAU2.predicates if rule.id != rule.clause}
    assert others == {
        "airline/transfer-untried": "airline/transfer-only-out-of-scope",
        "airline/compensation-repeated": "airline/compensation-amount",
    }


def test_what_no_change_of_arguments_can_mend_is_blocked() -> None:
    blocking = {rule.id for rule in TAU2.predicates if rule.decision is Decision.BLOCK}
    assert blocking == {"airline/acting-user", "airline/cancel-flown", "airline/cancel-basis"}


# Versions


def test_the_versions_and_what_they_share() -> None:
    assert list(versions("airline")) == ["tau2", "tau", "tau_trait"]
    for name, domain in versions("airline").items():
        assert domain.version == name
        ids = {rule.id for rule in domain.predicates}
        assert {p for clause in domain.clauses for p in clause.predicates} == ids
    assert {r.id for r in TAU2.predicates} - {r.id for r in TAU.predicates} == {
        "airline/cabin-change-flown"
    }


def test_without_a_status_tool_no_status_is_asked_for() -> None:
    for domain in (TAU, TAU2.bind({tool.tool for tool in TAU.tools})):
        talk = known(domain, flights=[on("2024-05-15")], cabin="business", **HURT)
        assert [f.kind for f in talk.judge(CANCEL).findings] == [Kind.UNDECIDED]
        assert talk.judge(CANCEL).word == "UNDECIDED"
        assert {f.kind for f in talk.judge(certificate(200)).findings} == {Kind.UNDECIDED}
        assert violated(talk.judge(certificate(300))) == {"airline/compensation-amount"}


def test_without_a_status_tool_a_trip_with_a_past_flight_is_for_a_human_agent() -> None:
    verdict = known(TAU, flights=[on("2024-05-14")], cabin="business").judge(CANCEL)
    assert violated(verdict) == {"airline/cancel-flown"}
    assert "has already taken off" not in verdict.feedback


# Recorded data


def rows(file: File) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def outcome(verdict: Verdict) -> str:
    if verdict.violations or verdict.errors:
        return "reject"
    return "revise_read" if verdict.missing else "allow"


def is_right(expect: Mapping[str, Any], verdict: Verdict) -> bool:
    answer = outcome(verdict)
    if answer not in (expect.get("accept") or [expect["decision"]]):
        return False
    if answer == "reject":
        clauses = expect.get("clause_any") or [expect["clause"]]
        return any(f.clause in clauses for f in verdict.violations)
    if answer == "allow":
        return True
    wanted = [*(expect.get("read_any") or ()), *([expect["read"]] if expect["read"] else ())]
    named = [(read.name, dict(read.arguments)) for f in verdict.missing for read in f.reads]
    return not wanted or any((w["name"], w["arguments"]) in named for w in wanted)


def test_labelled_cases(data_dir: File) -> None:
    policy = json.loads((data_dir / "benchmarks/policy/airline.json").read_text("utf-8"))
    apart = {c["id"] for c in policy if c["checkable"] in ("dialogue", "mixed")}
    judged, wrong = 0, []
    for row in rows(data_dir / "benchmarks/cases/airline.jsonl.gz"):
        if row["clause"] in apart:
            continue
        state = State()
        for message in read_messages(row["messages"]):
            state = state.observe(message, TAU2)
        call = ToolCall(name=row["call"]["name"], arguments=row["call"]["arguments"])
        verdict = Gate(domain=TAU2).judge(call, state.ledger)
        judged += 1
        if not is_right(row["expect"], verdict):
            wrong.append((row["id"], row["expect"], outcome(verdict), verdict.feedback))
    assert judged > 400
    assert not wrong


def test_every_tool_of_the_environment_is_declared(data_dir: File) -> None:
    tools = json.loads((data_dir / "benchmarks/tau2/airline/tools.json").read_text("utf-8"))
    kinds = {"read": Effect.READ, "write": Effect.WRITE, "generic": Effect.NEUTRAL}
    declared = {tool["name"]: kinds[tool["type"]] for tool in tools}
    assert {tool.tool: TAU2.effect(tool.tool) for tool in TAU2.tools} == declared


def test_every_clause_is_in_the_clause_file(data_dir: File) -> None:
    policy = json.loads((data_dir / "benchmarks/policy/airline.json").read_text("utf-8"))
    listed = {c.id: (c.section, c.checkable) for c in TAU2.clauses}
    assert listed == {c["id"]: (c["section"], c["checkable"]) for c in policy}
    decidable = {c.id for c in TAU2.clauses if c.checkable == "state"}
    assert all(c.predicates for c in TAU2.clauses if c.id in decidable)
