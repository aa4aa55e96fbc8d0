"""`ledgeragent traces`: what was understood of a file, and what was not."""

from __future__ import annotations

import json
from pathlib import Path

from .branches import NAME
from .command import BOOK, MEMBER, jsonl, ledgeragent, run


def test_what_was_understood_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(jsonl(run("a", BOOK, MEMBER), run("b", BOOK)) + "{\n")
    done = ledgeragent("traces", file)
    assert done.code == 1
    assert done.out.splitlines() == [
        str(file),
        "  form      OpenAI chat messages (openai-chat): 2 runs",
        "  calls     3, of which 3 returned; 8 messages",
        "  tools     get_book (2), get_member (1)",
        f"  problem   {file}:3: not JSON: Expecting property name enclosed in double quotes at "
        "column 2",
    ]


def test_names_of_tools_are_read_by_the_pack(tmp_path: Path) -> None:
    text = jsonl(run("a", BOOK, MEMBER)).replace('"get_', '"mcp__library__get_')
    file = tmp_path / "runs.jsonl"
    file.write_text(text.replace("mcp__library__get_member", "weigh_member"))
    done = ledgeragent("traces", file, "--domain", NAME, "--format", "json")
    assert done.code == 0
    (found,) = done.json["files"]
    assert found["names"] == {"mcp__library__get_book": "get_book"}
    assert found["unlisted"] == {"weigh_member": 1}
    assert (found["calls"], found["returns"], found["understood"]) == (2, 2, True)


def test_a_prefix_may_be_named(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(jsonl(run("a", BOOK)).replace('"get_book', '"my get_book'))
    found = ledgeragent("traces", file, "--domain", NAME, "--format", "json").json["files"][0]
    assert found["unlisted"] == {"my get_book": 1}
    done = ledgeragent("replay", file, "--domain", NAME, "--format", "json", "--tool-prefix", "my ")
    assert done.json["coverage"]["tools"] == {"get_book": 1}


def test_what_holds_no_call_says_why_no_form_fits(tmp_path: Path) -> None:
    file = tmp_path / "runs.json"
    file.write_text(json.dumps({"speech": "Hello"}))
    done = ledgeragent("traces", file)
    assert done.code == 2
    assert "  no call of a tool was found; forms that do not fit:" in done.out.splitlines()
    assert "    claude-code: no list under 'entries'" in done.out.splitlines()


def test_a_form_that_is_named_but_does_not_fit_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(jsonl(run("a", BOOK)))
    done = ledgeragent("replay", file, "--domain", NAME, "--from", "anthropic")
    assert (done.code, done.out) == (2, "")
    assert "it is no Anthropic Messages (anthropic): no block of the type tool_use" in done.err


def test_a_form_that_does_not_exist_is_a_wrong_option(tmp_path: Path) -> None:
    done = ledgeragent("traces", "runs.json", "--from", "smoke-signals")
    assert done.code == 2
    assert "there is no form smoke-signals; give one of agents-sdk, claude-code" in done.err
