"""`ledgeragent replay` where a pack does not list every tool, and where a file holds no call of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .branches import NAME
from .command import BOOK, called, jsonl, ledgeragent, run, said


@pytest.fixture
def strange(tmp_path: Path) -> Path:
    """A run with a tool that the pack does not list."""
    file = tmp_path / "strange.jsonl"
    file.write_text(jsonl(run("strange", BOOK, called("burn_book", {"book_id": "B1"}, "burnt"))))
    return file


@pytest.mark.parametrize(
    ("answer", "outcome"), [("revise", "revise_violation"), ("block", "block")]
)
def test_a_tool_that_the_pack_does_not_list_counts_apart(
    strange: Path, answer: str, outcome: str
) -> None:
    found = ledgeragent(
        "replay", strange, "--domain", NAME, "--format", "json", "--unknown-tools", answer
    ).json
    rows = found["rejected_unknown_calls"]
    assert [(row["predicate"], row["clause"]) for row in rows] == [("gate/unknown-tool", None)]
    assert (found["writes"]["judged"], found["unknown_calls"][outcome]) == (0, 1)
    assert found["rejected_executed_writes"] == []
    assert found["coverage"] == {
        "calls": 2,
        "calls_covered": 1,
        "tools": {"get_book": 1},
        "unknown_tools": {"burn_book": 1},
    }


@pytest.mark.parametrize(
    "option",
    [("--unknown-tools", "ignore"), ("--enforce", "gate/*=audit"), ("--enforce", "*=audit")],
)
def test_a_tool_that_the_pack_does_not_list_stops_nothing_on_request(
    strange: Path, option: tuple[str, str]
) -> None:
    done = ledgeragent("replay", strange, "--domain", NAME, "--format", "json", *option)
    assert done.json["rejected_unknown_calls"] == []
    assert done.json["unknown_calls"]["revise_violation"] == 0


def test_the_report_begins_with_what_the_pack_covers(strange: Path) -> None:
    done = ledgeragent("replay", strange, "--domain", NAME)
    assert done.out.split("\n\n")[1].splitlines() == [
        "lending covers 1 of 2 tools that were called, and 1 of 2 calls",
        "  it lists get_book (1)",
        "  it does not list burn_book (1): 1 judged, counted apart (--unknown-tools)",
    ]


def test_a_file_without_a_call_is_not_understood(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    file.write_text(json.dumps([said("Hello")]))
    done = ledgeragent("replay", file, "--domain", NAME)
    assert (done.code, done.out) == (2, "")
    assert "it is no anthropic: no block of the type tool_use or tool_result" in done.err
    assert "there is no call of a tool in it, read as openai-chat" in done.err


def test_a_file_without_a_call_is_told_beside_others(tmp_path: Path, strange: Path) -> None:
    file = tmp_path / "silent.json"
    file.write_text(json.dumps([said("Hello")]))
    done = ledgeragent("replay", strange, file, "--domain", NAME)
    assert done.code == 0
    assert f"ledgeragent: warning: {file}: there is no call of a tool in it" in done.err
