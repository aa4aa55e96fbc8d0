"""`ledgeragent bench probe` against a scripted model behind a real local HTTP server."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from ledgeragent import load_domain
from ledgeragent.bench.probes.probing import ARMS, probes, prompt, read_call, score, summary
from ledgeragent.cli.main import main
from ledgeragent.offline.traces import Trace, read_messages
from ledgeragent.types import ToolCall

RIGHT = {"order_id": "G-1", "code": "WREN-80", "amount": 33}
WRONG = {**RIGHT, "amount": 69.0}
GOLD = ToolCall(name="apply_voucher", arguments=RIGHT)


def _made(name: str, arguments: dict[str, Any], answer: Any) -> list[dict[str, Any]]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]},
        {"role": "tool", "tool_call_id": "1", "content": json.dumps(answer)},
    ]


def _run(run: str, reward: float = 1.0) -> dict[str, Any]:
    messages = [
        {"role": "user", "content": "Pay the rest with my voucher, please."},
        *_made("get_order", {"order_id": "G-1"}, {"order_id": "G-1", "due": 33.0}),
        *_made("apply_voucher", {**RIGHT, "amount": 33.0}, {"done": "paid"}),
        *_made("cancel_order", {"order_id": "G-1"}, {"done": "cancelled"}),
    ]
    gold = [{"name": "apply_voucher", "arguments": RIGHT}]
    told = {"id": run, "domain": "shop", "task_id": run, "reward": reward}
    return {**told, "gold_actions": gold, "messages": messages}


def _trace(reward: float = 1.0) -> Trace:
    return Trace(run="r", messages=read_messages(_run("r")["messages"]), reward=reward)


class Clerk(ThreadingHTTPServer):
    """Writes the right amount only where it is shown a ledger; keeps what it was asked."""

    asked: list[dict[str, Any]]


@pytest.fixture
def clerk() -> Iterator[Clerk]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            running.asked.append(body)
            chat = "messages" in body
            shown = body["messages"][-1]["content"] if chat else body["prompt"]
            given = RIGHT if "<ledger>" in shown else WRONG
            told = json.dumps({"name": "apply_voucher", "arguments": given})
            # Held to the schema of the arguments, a server stops where they end.
            rest = json.dumps(given) + ("" if "json_schema" in body else "} and so on")
            choice = {"message": {"content": told}} if chat else {"text": rest}
            data = json.dumps({"choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    running = Clerk(("127.0.0.1", 0), Handler)
    running.asked = []
    thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def test_a_probe_is_a_right_write_of_a_successful_run() -> None:
    (probe,) = probes(_trace(), load_domain("shop"), [GOLD])
    assert (probe.at, probe.call.name) == (3, "apply_voucher")
    assert not list(probes(_trace(reward=0.0), load_domain("shop"), [GOLD]))


def test_a_prompt_ends_before_the_write_and_shows_the_ledger_but_to_plain() -> None:
    (probe,) = probes(_trace(), load_domain("shop"), [GOLD])
    shown = {arm: prompt(probe, arm) for arm in ARMS}
    assert all("apply_voucher" not in text and "33.0" in text for text in shown.values())
    assert {arm: text.count("33.0") for arm, text in shown.items()} == {
        "plain": 1,
        "full": 2,
        "compact": 1,
        "index": 1,
    }
    assert ["<ledger>" in shown[arm] for arm in ARMS] == [False, True, True, True]


@pytest.mark.parametrize("by", ["chat", "completion"])
def test_wins_are_counted_against_plain(
    by: str, clerk: Clerk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs, kept = tmp_path / "runs.jsonl", tmp_path / "answers.jsonl"
    runs.write_text("".join(json.dumps(_run(f"r{n}", float(n % 4 != 0))) + "\n" for n in range(8)))
    url = f"http://127.0.0.1:{clerk.server_port}/v1"
    options = ["bench", "probe", str(runs), "--model", "m", "--url", url, "--by", by]
    options += ["-o", str(kept), "--format", "json"]
    assert main(options) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["probes"] == 6 and len(clerk.asked) == 24
    plain, index = found["arms"]["plain"], found["arms"]["index"]
    assert (plain["tool"], plain["exact"]) == (1.0, 0.0)
    assert plain["arguments"] == pytest.approx(2 / 3)
    assert (index["wins"], index["losses"], index["exact"]) == (6, 0, 1.0)
    assert index["interval"] == [1.0, 1.0]
    if by == "completion":
        assert clerk.asked[0]["prompt"].endswith('{"name": "apply_voucher", "arguments":')
    whole = kept.read_text()
    kept.write_text(whole[:-20])
    assert main(options) == 0
    assert json.loads(capsys.readouterr().out) == found
    assert len(clerk.asked) == 25 and kept.read_text() == whole
    options[options.index("m")] = "another"
    assert main(options) == 0
    assert len(clerk.asked) == 49


def test_chat_is_held_to_the_writes_of_the_domain(
    clerk: Clerk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs.jsonl"
    runs.write_text(json.dumps(_run("r")))
    url = f"http://127.0.0.1:{clerk.server_port}/v1"
    assert main(["bench", "probe", str(runs), "--model", "m", "--url", url]) == 0
    schema = clerk.asked[0]["response_format"]["json_schema"]["schema"]
    assert "cancel_order" in schema["properties"]["name"]["enum"]
    assert "get_order" not in schema["properties"]["name"]["enum"]
    assert "index" in capsys.readouterr().out


def test_a_completion_can_be_held_to_the_tool_s_arguments(
    clerk: Clerk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs.jsonl"
    runs.write_text(json.dumps(_run("r")))
    options = [
        "bench",
        "probe",
        str(runs),
        "--model",
        "m",
        "--format",
        "json",
        "--by",
        "completion",
    ]
    url = f"http://127.0.0.1:{clerk.server_port}/v1"
    assert main([*options, "--url", url, "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["arms"]["index"]["exact"] == 1.0
    schema = clerk.asked[0]["json_schema"]
    assert set(schema["properties"]) == set(RIGHT) and schema["additionalProperties"] is False


def test_a_chat_can_be_held_to_the_arguments_of_every_write(
    clerk: Clerk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs.jsonl"
    runs.write_text(json.dumps(_run("r")))
    url = f"http://127.0.0.1:{clerk.server_port}/v1"
    command = ["bench", "probe", str(runs), "--model", "m", "--url", url, "--format", "json"]
    assert main([*command, "--schema"]) == 0
    assert json.loads(capsys.readouterr().out)["arms"]["index"]["exact"] == 1.0
    choices = clerk.asked[0]["response_format"]["json_schema"]["schema"]["anyOf"]
    by_name = {choice["properties"]["name"]["const"]: choice for choice in choices}
    assert "cancel_order" in by_name and "get_order" not in by_name
    assert set(by_name["apply_voucher"]["properties"]["arguments"]["properties"]) == set(RIGHT)


def test_a_schema_needs_the_tools(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("LEDGERAGENT_DATA_DIR", raising=False)
    runs = tmp_path / "runs.jsonl"
    gold = [{"name": "cancel_pending_order", "arguments": {"order_id": "#W1", "reason": "x"}}]
    messages = [
        {"role": "user", "content": "Cancel #W1."},
        *_made("cancel_pending_order", dict(gold[0]["arguments"]), {"status": "cancelled"}),
    ]
    told = {"id": "r", "domain": "retail", "task_id": "1", "reward": 1.0, "gold_actions": gold}
    runs.write_text(json.dumps({**told, "messages": messages}))
    options = ["--model", "m", "--url", "http://127.0.0.1:9", "--by", "completion", "--schema"]
    assert main(["bench", "probe", str(runs), *options]) == 2
    assert "no schema of cancel_pending_order" in capsys.readouterr().err


def test_runs_without_gold_actions_hold_no_probe(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs.jsonl"
    runs.write_text(json.dumps({**_run("r"), "gold_actions": None}))
    assert main(["bench", "probe", str(runs), "--model", "m", "--url", "http://127.0.0.1:9"]) == 2
    assert "no write that equals a gold action" in capsys.readouterr().err


def test_what_is_no_call_scores_nothing() -> None:
    assert read_call("I would rather not.") is None
    assert read_call('{"name": "x"}') is None
    assert score(None, GOLD)["exact"] == 0.0
    assert score(ToolCall(name="cancel_order", arguments=RIGHT), GOLD)["arguments"] == 0.0
    extra = ToolCall(name="apply_voucher", arguments={**RIGHT, "more": 1})
    assert score(extra, GOLD) == {"tool": 1.0, "exact": 0.0, "arguments": 1.0}


def test_the_interval_resamples_tasks_and_is_the_same_every_time() -> None:
    rows = [
        {"probe": f"{task}.{n}", "arm": arm, "task": str(task), "tool": 1, "arguments": 1}
        | {"exact": float(arm == "full" and task % 2)}
        for task in range(20)
        for n in range(3)
        for arm in ARMS
    ]
    found = summary(rows)
    low, high = found["arms"]["full"]["interval"]
    assert low < found["arms"]["full"]["difference"] == 0.5 < high
    assert high - low > 0.3
    assert summary(rows) == found
    assert summary(rows[:3]) == {"probes": 0, "arms": {}}
