"""A conversation is as it should be only if exactly its own calls ran and its words were heard."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.frameworks.conversations import CONTROL, CONVERSATIONS, writes_of
from benchmarks.frameworks.scripted import OWN_TOOL, Provider
from ledgeragent.types import Reply
from tools import clients

REVISE, BLOCK = CONVERSATIONS
WRONG = REVISE.writes[0]


@pytest.mark.parametrize("talk", CONVERSATIONS, ids=lambda talk: talk.name)
def test_what_ran_as_it_should_and_was_heard_is_no_problem(talk: Any) -> None:
    assert talk.problem(talk.runs, f"It is {talk.told}.", f"It is {talk.told}.") == ""


WRONGS = {
    "a wrong refund ran": ([*REVISE.reads, *REVISE.writes], "refund_item(29.0), refund_item(24.5)"),
    "the refund ran twice": (
        [*REVISE.runs, REVISE.runs[-1]],
        "refund_item(24.5), refund_item(24.5)",
    ),
    "no refund ran": (list(REVISE.reads), "get_parcel"),
    "nothing ran": ([], "nothing"),
}


@pytest.mark.parametrize("case", WRONGS, ids=WRONGS.keys())
def test_anything_else_that_ran_is_named(case: str) -> None:
    ran, words = WRONGS[case]
    assert REVISE.problem(ran, REVISE.told, REVISE.told).endswith(words)


def test_the_model_hears_of_a_revision_and_the_customer_of_a_block() -> None:
    assert "nobody hears" in REVISE.problem(REVISE.runs, REVISE.told, "")
    assert "nobody hears" in BLOCK.problem(BLOCK.runs, "It is done.", BLOCK.told)


def test_what_a_framework_ends_with_has_to_come_from_its_own_tool() -> None:
    assert "It is done." in CONTROL.problem(CONTROL.runs, "It is done.", CONTROL.told)
    assert CONTROL.problem(CONTROL.runs, "by its own tool: 24.5", CONTROL.told) == ""


def test_only_writes_are_listed_as_such() -> None:
    assert writes_of(REVISE.runs) == ["refund_item(24.5)"]
    assert writes_of(BLOCK.runs) == []


def chat(*names: str) -> dict[str, Any]:
    parameters = {"properties": {"amount": {"type": "number"}}}
    functions = [{"name": name, "parameters": parameters} for name in names]
    return {"messages": [], "tools": [{"type": "function", "function": f} for f in functions]}


def played(provider: Provider, body: dict[str, Any]) -> Reply:
    return provider._reply(body)


def test_the_model_calls_tools_by_the_names_that_are_offered() -> None:
    provider = Provider()
    provider.begin(REVISE.steps(1), None)
    (call,) = played(provider, chat("mcp__shop__find_customer", "mcp__shop__get_order")).calls
    assert call.name == "mcp__shop__find_customer"
    assert call.arguments == REVISE.reads[0][1]


def test_a_request_without_the_shops_tools_takes_no_step() -> None:
    provider = Provider()
    provider.begin(REVISE.steps(1), None)
    assert not played(provider, chat("write_title")).calls
    assert not played(provider, {"input": [], "tools": []}).calls
    assert played(provider, chat("find_customer")).calls


def test_the_model_ends_with_the_frameworks_own_tool() -> None:
    provider = Provider()
    provider.begin([OWN_TOOL], None)
    (call,) = played(provider, chat("find_customer", "final_result")).calls
    assert (call.name, call.arguments) == ("final_result", {"amount": 24.5})
    assert OWN_TOOL in CONTROL.steps(1)
    assert CONTROL.runs == replace(REVISE, name="control").runs


def test_a_table_names_what_was_not_ok_and_what_told_it() -> None:
    bad = {"verdict": "told", "why": "a|b", "counted": {'unread_results_total{tool="x"}': 1}}
    cells = {
        " text whole revise": bad,
        " text stream revise": bad,
        " text whole block": {"verdict": "ok"},
    }
    shown = clients._kind(cells, " text ")
    assert (
        shown == "whole revise, stream revise: told (`unread_results_total`): a/b; whole block: ok"
    )
    assert clients._kind({" text whole block": {"verdict": "ok"}}, " text ") == "ok (whole)"
