"""`--tools` of every verb that has it: a slip is told, a file of the agent's own tools is taken."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .branches import NAME
from .command import BOOK, jsonl, ledgeragent, lend, run

URL = ("--upstream", "http://127.0.0.1:9")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """One recorded run, which needs a read that was not made."""
    file = tmp_path / "runs.jsonl"
    file.write_text(jsonl(run("r", BOOK, lend())))
    return file


@pytest.mark.parametrize(
    "command",
    [
        ("replay", "FILE"),
        ("replay", "FILE", "--baseline", "nowhere.json", "--update"),
        ("diff", "FILE", "--against", NAME),
        ("diff", "FILE", "--against", "shop"),
        ("explain", "FILE:1"),
        ("explain", "lending/days"),
        ("view", "FILE", "-o", "-"),
        ("test",),
        ("test", "--cases", "FILE"),
        ("gateway", *URL),
        ("mcp", "--", "cat"),
    ],
    ids=" ".join,
)
def test_a_misspelt_tool_is_told_by_every_verb(runs: Path, command: tuple[str, ...]) -> None:
    if command[0] == "mcp":
        pytest.importorskip("mcp")
    verb, *rest = (part.replace("FILE", str(runs)) for part in command)
    done = ledgeragent(verb, "--domain", NAME, "--tools", "get_book, lend_bok", *rest)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "--tools lend_bok: neither a file nor a tool of " in done.err
    assert "; did you mean lend_book?" in done.err


@pytest.mark.parametrize("given", ["nofile.json", "no/such/file", "tests"])
def test_a_file_that_does_not_exist_is_no_tool(runs: Path, given: str) -> None:
    done = ledgeragent("replay", runs, "--domain", NAME, "--tools", given)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"--tools {given}: neither a file nor a tool of {NAME}; there is call_" in done.err


@pytest.mark.parametrize(
    "text",
    [
        "get_book\nlend_book\nburn_book\n",
        "\ufeff" + json.dumps(["get_book", "lend_book", "burn_book"]),
        json.dumps([{"type": "function", "function": {"name": n}} for n in ("lend_book", "burn")]),
    ],
    ids=["lines", "names", "schemas"],
)
def test_a_file_may_hold_tools_that_no_policy_speaks_of(
    tmp_path: Path, runs: Path, text: str
) -> None:
    tools = tmp_path / "tools"
    tools.write_text(text)
    done = ledgeragent("replay", runs, "--domain", NAME, "--tools", tools, "--format", "json")
    assert (done.code, done.err) == (0, "")
    assert "lending/fines" in done.json["near_misses"][0]["undecided"]


def test_a_tool_of_any_version_may_be_named(runs: Path) -> None:
    command = ("replay", runs, "--domain", NAME, "--version", "tau", "--tools", "get_member")
    assert ledgeragent(*command).code == 0


def test_a_comparison_takes_the_tools_of_either_pack(runs: Path) -> None:
    command = ("diff", runs, "--domain", f"{NAME}@tau", "--against", "shop", "--tools")
    assert ledgeragent(*command, "get_book,get_order").code in (0, 1)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\x89PNG\r\n\xff\xfe", "it is no list of tools (not UTF-8 text)"),
        (b"get_book\0lend_book", "it is no list of tools (names with control characters)"),
        (b'[{"name": ', "it is no list of tools (not JSON: "),
        (b"[" * 100_000, "it is no list of tools ("),
        (b'{"tools": []}', "it is no list of tools (the tools are not a list)"),
        (b"[5]", "it is no list of tools (a tool has no name)"),
        (b"[]", "no tool is named"),
        (b" \n", "no tool is named"),
    ],
    ids=["image", "binary", "cut", "deep", "object", "number", "none", "blank"],
)
def test_a_file_that_is_no_list_of_tools_says_so(
    tmp_path: Path, runs: Path, content: bytes, told: str
) -> None:
    tools = tmp_path / "binary.bin"
    tools.write_bytes(content)
    done = ledgeragent("replay", runs, "--domain", NAME, "--tools", tools)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"--tools {tools}: {told}" in done.err
    assert "codec" not in done.err
