"""Packs mined from another set of trajectories: how its runs are read, and what came of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools.markdown import result

pytest.importorskip("cel_expr_python")
sopbench = pytest.importorskip("benchmarks.sopbench")


def test_the_routes_of_a_whole_domain_are_right() -> None:
    domains = {row["domain"]: row for row in result("sopbench.json")["domains"]}
    assert domains.keys() == sopbench.READS.keys()
    assert domains["healthcare"]["routes"]["lacking"] == []
    assert domains["healthcare"]["tools"]["wrong"] == {}
    assert all(row["findings"] == 0 for row in domains.values())


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("(True, {'claim_id': 'C1', 'amount': 4.5})", '{"claim_id": "C1", "amount": 4.5}'),
        ("(True, False)", "false"),
        ("True", "true"),
        ("(False, {})", "Error: refused"),
        ("False", "Error: refused"),
        ("KeyError: 'JPY'", "Error: KeyError: 'JPY'"),
    ],
)
def test_answers_are_values_and_refusals(tmp_path: Path, content: str, expected: str) -> None:
    folder = _written(tmp_path, content)
    (run,) = sopbench.runs_of(folder)
    assert run["messages"][-1]["content"] == expected


def test_a_domain_is_judged_by_its_labels(tmp_path: Path) -> None:
    row = sopbench.judged("healthcare", _written(tmp_path, "(True, {'type': 'Health'})").parent)
    assert row["tools"] == {"right": 1, "of": 1, "wrong": {}}
    assert row["routes"] == {"right": 1, "of": 1, "lacking": [], "further": []}


def _written(folder: Path, content: str) -> Path:
    """The folder of a domain with one run, in which one tool answered so."""
    function = {"name": "get_policy_details", "arguments": '{"username": "Ada"}'}
    interaction = [
        {"content": "Hello", "sender": "user"},
        {"content": None, "tool_calls": [{"id": "c1", "function": function}], "sender": "agent"},
        {"tool_call_id": "c1", "tool_name": "get_policy_details", "content": content},
    ]
    place = folder / "healthcare"
    place.mkdir()
    name = "ast_x-mode_fc-dep_full-fmt_structured-tool_full-shuffle_False.json"
    (place / name).write_text(json.dumps([{"interactions": [{"interaction": interaction}]}]))
    return place
