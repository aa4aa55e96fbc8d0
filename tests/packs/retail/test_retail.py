"""The retail pack as a whole: clauses, versions, the labelled cases."""

from __future__ import annotations

import json
from pathlib import Path as FilePath

from ledgeragent import Effect, load_domain
from ledgeragent.offline.cases import judge_cases
from ledgeragent.offline.labelled import read_cases
from ledgeragent.packs import versions
from ledgeragent.packs.retail.records import Order, Product, User
from tests.packs.retail.talk import RETAIL

TAU = load_domain("retail", "tau")


# Clauses


def test_every_predicate_has_a_clause() -> None:
    ids = {rule.id for rule in RETAIL.predicates}
    named = [name for clause in RETAIL.clauses for name in clause.predicates]
    assert sorted(named) == sorted(ids)
    by_id = {clause.id: clause for clause in RETAIL.clauses}
    assert all(rule.id in by_id[rule.clause].predicates for rule in RETAIL.predicates)


def test_every_state_clause_has_a_predicate_and_every_other_says_why_not() -> None:
    for clause in RETAIL.clauses:
        audited = clause.predicates == ("retail/transfer-untried",)
        assert bool(clause.predicates) is (clause.checkable == "state" or audited)
        assert bool(clause.why) is (clause.checkable != "state")


# Versions


def test_versions_differ_in_their_tools_only() -> None:
    assert list(versions("retail")) == ["tau2", "tau", "tau_trait"]
    assert TAU.predicates == RETAIL.predicates
    assert TAU.clauses == RETAIL.clauses
    assert RETAIL.effect("get_item_details") is Effect.READ
    assert TAU.effect("get_item_details") is Effect.WRITE
    assert TAU.effect("think") is Effect.NEUTRAL
    for domain in (RETAIL, TAU):
        for tool in ("calculate", "transfer_to_human_agents"):
            assert domain.effect(tool) is Effect.NEUTRAL


# With the shared benchmark data


def test_labelled_cases(data_dir: FilePath) -> None:
    result = judge_cases(read_cases(str(data_dir / "benchmarks/cases/retail.jsonl.gz")), RETAIL)
    assert result.decided.mismatches == []
    assert result.decided.cases > 400


def test_every_tool_of_the_benchmark_has_an_entry(data_dir: FilePath) -> None:
    tools = json.loads((data_dir / "benchmarks/tau2/retail/tools.json").read_text("utf-8"))
    effects = {"read": Effect.READ, "write": Effect.WRITE, "generic": Effect.NEUTRAL}
    for tool in tools:
        assert RETAIL.tool(tool["name"]) is not None
        assert RETAIL.effect(tool["name"]) is effects[tool["type"]]
        required = set(tool["schema"]["function"]["parameters"].get("required", ()))
        for route in RETAIL.routes(tool["name"]):
            assert set(route.parameters) == required


def test_every_policy_clause_is_listed(data_dir: FilePath) -> None:
    policy = json.loads((data_dir / "benchmarks/policy/retail.json").read_text("utf-8"))
    listed = {clause.id: clause.checkable for clause in RETAIL.clauses}
    assert listed == {clause["id"]: clause["checkable"] for clause in policy}
    guarded = {rule.id: set(rule.guards) for rule in RETAIL.predicates}
    for clause in policy:
        if clause["checkable"] == "state":
            rules = next(c.predicates for c in RETAIL.clauses if c.id == clause["id"])
            assert set().union(*(guarded[rule] for rule in rules)) == set(clause["tools"])


def test_the_records_of_the_benchmark_have_the_declared_fields(data_dir: FilePath) -> None:
    tables = json.loads((data_dir / "benchmarks/tau2/retail/db.json").read_text("utf-8"))
    for name, shape in (("orders", Order), ("products", Product), ("users", User)):
        known_fields = shape.__required_keys__ | shape.__optional_keys__
        for record in tables[name].values():
            assert shape.__required_keys__ <= set(record) <= known_fields
