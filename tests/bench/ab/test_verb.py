"""`bench ab` against a scripted model behind a real HTTP server: the page, and servers without tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.cli.main import main
from tests.bench.chat_server import serving
from tests.bench.shop.scripted import answer
from tests.cli.command import ledgeragent

WORDS = {"role": "assistant", "content": "I would look it up."}
LOOKUP = {"name": "get_order", "arguments": '{"order_id": "A1"}'}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "1", "type": "function", "function": LOOKUP}],
}


@contextmanager
def server(tools: str) -> Iterator[str]:
    """A server whose model calls tools `freely`, when `forced`, `never`, or where forcing is `refused`."""
    refused: set[str] = set()

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        if body["messages"][0]["role"] != "system":
            free = tools == "freely" or (tools == "forced" and "tool_choice" in body)
            return CALL if free else WORDS
        if "order_id" not in str(body.get("tools")):
            return harness_reply(body)
        return WORDS if tools == "never" else answer(body["model"], body["messages"], refused)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
            choice = {"index": 0, "finish_reason": "stop", "message": reply(body)}
            data = json.dumps(
                {"id": "x", "model": "m", "choices": [choice], "usage": usage}
            ).encode()
            is_refused = tools == "refused" and "tool_choice" in body
            if is_refused:
                data = json.dumps({"error": {"message": "tool_choice wants --some-flag"}}).encode()
            self.send_response(400 if is_refused else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with serving(Handler) as url:
        yield url


def harness_reply(body: dict[str, Any]) -> dict[str, Any]:
    """In airline: a read and words from the agent, a request and the stop from the customer."""
    roles = [message["role"] for message in body["messages"]]
    if not body.get("tools"):
        return {
            **WORDS,
            "content": "###STOP###" if "assistant" in roles else "Which airports are there?",
        }
    call = {"name": "list_all_airports", "arguments": "{}"}
    calls = [{"id": "1", "type": "function", "function": call}]
    return WORDS if "tool" in roles else {**CALL, "tool_calls": calls}


def ab(url: str, folder: Path, *options: str) -> int:
    common = ["--model", "obliging", "--url", url, "--jobs", "1", "-o", str(folder)]
    return main(["bench", "ab", *common, *options])


def test_the_page_has_both_arms_the_difference_and_each_stopped_call_with_its_facts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server("freely") as url:
        assert ab(url, tmp_path, "--part", "shop", "--trials", "1") == 0
    page = (tmp_path / "report.md").read_text()
    assert capsys.readouterr().out == page
    (difference,) = re.findall(r"^\| shop \| \+([0-9.]+) \[", page, re.MULTILINE)
    assert float(difference) > 0
    assert re.search(r"^\| shop \| ledgeragent \| 100\.0 ", page, re.MULTILINE)
    assert "## Calls that were stopped" in page and "* **BLOCK** `" in page
    stopped = page.partition("## Calls that were stopped")[2]
    assert re.search(r"    \* `orders\.[^`]+` = `.*`, from `get_order`, turn \d+", stopped)
    assert not re.search(r"ledgeragent \| 0\.0", page)


def test_started_again_it_makes_no_run_twice(tmp_path: Path) -> None:
    with server("freely") as url:
        for _ in range(2):
            assert ab(url, tmp_path, "--part", "shop", "--trials", "1", "--tasks", "2") == 0
    assert len((tmp_path / "shop.jsonl").read_text().splitlines()) == 4


def test_a_server_that_ignores_tools_is_told_before_anything_is_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server("never") as url:
        assert ab(url, tmp_path / "out", "--part", "shop") == 2
    told = capsys.readouterr().err
    assert "ignores `tools`" in told and f"It answered: {WORDS['content']}" in told
    assert not (tmp_path / "out").exists()


def test_what_a_server_says_to_being_forced_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server("refused") as url:
        assert ab(url, tmp_path / "out", "--part", "shop") == 2
    told = capsys.readouterr().err
    assert "ignores `tools`" in told and "status 400" in told and "wants --some-flag" in told


def test_a_run_of_the_shop_is_as_long_as_max_steps_says(tmp_path: Path) -> None:
    with server("freely") as url:
        options = ["--part", "shop", "--trials", "1", "--tasks", "1", "--max-steps", "1"]
        assert ab(url, tmp_path, *options) == 0
    rows = [json.loads(line) for line in (tmp_path / "shop.jsonl").read_text().splitlines()]
    assert [(row["ended"], row["generations"]) for row in rows] == [("too long", 1)] * 2


def test_a_model_that_calls_only_when_forced_is_played_and_the_page_says_so(
    tmp_path: Path,
) -> None:
    with server("forced") as url:
        assert ab(url, tmp_path, "--part", "shop", "--trials", "1", "--tasks", "1") == 0
    assert "only when it had to" in (tmp_path / "report.md").read_text()


def test_runs_without_a_single_call_are_told_to_say_nothing(tmp_path: Path) -> None:
    with server("forced") as url:
        assert ab(url, tmp_path, "--part", "shop", "--trials", "1", "--tasks", "1") == 0
    rows = [json.loads(line) for line in (tmp_path / "shop.jsonl").read_text().splitlines()]
    silent = [{**row, "messages": row["messages"][:1]} for row in rows]
    (tmp_path / "shop.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in silent))
    with server("freely") as url:
        assert ab(url, tmp_path, "--part", "shop", "--trials", "1", "--tasks", "1") == 0
    assert "No tool was called in any plain run of shop" in (tmp_path / "report.md").read_text()


@pytest.mark.skipif(
    find_spec("tau2") is not None, reason="the tau2 harness is installed, so nothing is left out"
)
def test_without_the_harness_airline_is_left_out_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with server("freely") as url:
        assert ab(url, tmp_path, "--trials", "1", "--tasks", "1") == 0
    assert "airline is left out" in capsys.readouterr().err


@pytest.mark.skipif(
    find_spec("tau2") is None, reason="the tau2 harness is not installed (extra tau2)"
)
def test_with_the_harness_airline_is_played_too(tmp_path: Path) -> None:
    with server("freely") as url:
        options = ["--model", "obliging", "--url", url, "--jobs", "1", "-o", tmp_path]
        done = ledgeragent("bench", "ab", *options, "--trials", "1", "--tasks", "1")
    assert done.code == 0, done.err
    page = (tmp_path / "report.md").read_text()
    for domain in ("shop", "airline"):
        assert re.search(rf"^\| {domain} \| fc \| ", page, re.MULTILINE)
