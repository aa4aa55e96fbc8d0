"""`bench run` from public data: strict templates, a key a side, its record, a domain that is missing."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.bench.chat_server import serving
from tests.bench.tau2.model_server import Body, _message, call
from tests.cli.command import Done, ledgeragent

pytestmark = pytest.mark.skipif(
    find_spec("tau2") is None, reason="the tau2 harness is not installed (extra tau2)"
)

KEYS = {
    "AGENT_KEY": "sk-of-the-agent",
    "USER_KEY": "sk-of-the-user",
    "JUDGE_KEY": "sk-of-the-judge",
}


@dataclass
class Strict:
    """A server that takes a system message only where it comes first; keeps keys and bodies by model."""

    refused: int = 0
    keys: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    bodies: dict[str, list[Body]] = field(default_factory=lambda: defaultdict(list))

    def answer(self, body: Body, key: str) -> tuple[int, Body]:
        self.keys[body["model"]].add(key)
        self.bodies[body["model"]].append(body)
        roles = [message["role"] for message in body["messages"]]
        if "system" in roles[1:]:
            self.refused += 1
            return 400, {"error": {"message": "System message must be at the beginning."}}
        if body["model"] == "judge":
            message = _message('{"results": []}')
        elif body.get("tools"):
            message = _message("Done." if "tool" in roles else call("list_all_product_types"))
        else:
            message = _message("###STOP###" if "assistant" in roles else "What do you sell?")
        usage = {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return 200, {"id": "x", "model": "m", "choices": [choice], "usage": usage}


def handler(server: Strict) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            key = str(self.headers["Authorization"]).removeprefix("Bearer ")
            status, answer = server.answer(body, key)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    return Handler


def bench(*arguments: str, data: str = "") -> Done:
    return ledgeragent("bench", *arguments, env={**KEYS, "LEDGERAGENT_DATA_DIR": data})


@dataclass
class Played:
    """Two lives of an experiment on a strict server, and what a third one with other models is told."""

    server: Strict
    results: Path
    lives: list[Done]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    server = Strict()
    results = tmp_path_factory.mktemp("run") / "runs.jsonl"
    with serving(handler(server)) as here, serving(handler(server)) as there:
        command = ["run", "--model", "agent", "--url", here, "--key-env", "AGENT_KEY"]
        command += ["--user-model", "user", "--user-url", there, "--user-key-env", "USER_KEY"]
        command += ["--judge-model", "judge", "--judge-url", there, "--judge-key-env", "JUDGE_KEY"]
        command += [
            "--max-tokens",
            "99",
            "--thinking",
            "off",
            "--option",
            "top_p=0.5",
            "--seed",
            "7",
        ]
        command += ["--tasks", "1", "--trials", "1", "--jobs", "1", "--attempts", "1"]
        command += ["-o", str(results)]
        arms = [
            "--arm",
            "fc",
            "--arm",
            "ledgeragent",
            "--arm",
            "ledgeragent-paper",
            "--arm",
            "irma",
        ]
        lives = [
            bench(*command, *arms),
            bench(*command, *arms, "--temperature", "0.5"),
            bench(*command, *arms, "--domain", "telehealth"),
        ]
    return Played(server, results, lives)


def rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_without_a_data_folder_what_is_missing_is_left_out_in_a_line(played: Played) -> None:
    first = played.lives[0]
    assert first.code == 0, first.err
    (line,) = [line for line in first.err.splitlines() if "left out" in line]
    assert "telehealth" in line and "ledgeragent bench data" in line
    assert "Traceback" not in first.err and "DEBUG" not in first.err
    domains = {row["domain"] for row in rows(played.results)[1:]}
    assert domains == {"airline", "retail", "telecom"}


def test_a_missing_domain_that_was_asked_for_is_refused_in_a_line(played: Played) -> None:
    named = played.lives[2]
    assert named.code == 2
    assert "Traceback" not in named.err and "telehealth lacks" in named.err


def test_a_template_that_wants_the_system_message_first_gets_the_ledger_all_the_same(
    played: Played,
) -> None:
    assert 1 <= played.server.refused <= 3
    shown = [
        body["messages"][-1]
        for body in played.server.bodies["agent"]
        if "tool" in [message["role"] for message in body["messages"]]
    ]
    assert "user" in {message["role"] for message in shown}
    assert all(row["reward"] is not None for row in rows(played.results)[1:])


def test_each_side_has_its_own_key(played: Played) -> None:
    keys = played.server.keys
    assert keys["agent"] == {KEYS["AGENT_KEY"]}
    assert keys["user"] == {KEYS["USER_KEY"]}
    assert keys["judge"] <= {KEYS["JUDGE_KEY"]}
    written = played.results.read_text() + Path(f"{played.results}.log").read_text()
    assert not any(key in written + life.err for key in KEYS.values() for life in played.lives)


def test_the_options_reach_the_server_and_the_record(played: Played) -> None:
    for body in played.server.bodies["agent"]:
        assert (body["max_tokens"], body["top_p"], body["temperature"]) == (99, 0.5, 0.0)
        assert body["chat_template_kwargs"] == {"enable_thinking": False}
        assert body["seed"] == 7
    header, *records = rows(played.results)
    assert header["settings"]["agent"] == {
        "model": "agent",
        "options": {
            "temperature": 0.0,
            "max_tokens": 99,
            "chat_template_kwargs": {"enable_thinking": False},
            "top_p": 0.5,
        },
    }
    assert header["settings"]["seed"] == 7 and header["settings"]["max_steps"] == 200
    assert header["made_by"]["packs"]["retail"] and header["made_by"]["ledgeragent"]
    assert {record["seed"] for record in records} == {7}


def test_other_options_are_refused_with_what_differs(played: Played) -> None:
    second = played.lives[1]
    assert second.code == 2
    assert "other settings (agent:" in second.err


def test_the_harness_logs_into_a_file_of_its_owner(played: Played) -> None:
    log = Path(f"{played.results}.log")
    assert "DEBUG" in log.read_text()
    assert log.stat().st_mode & 0o077 == 0


def test_a_table_of_the_paper_is_played_resumed_and_shown_beside_its_numbers(
    tmp_path: Path,
) -> None:
    server = Strict()
    with serving(handler(server)) as url:
        command = ["reproduce", "table2", "--model", "agent", "--url", url, "--domain", "retail"]
        command += ["--tasks", "1", "--trials", "1", "--judge-model", "judge", "-o", str(tmp_path)]
        first = bench(*command)
        asked = sum(map(len, server.bodies.values()))
        again = bench(*command)
    assert first.code == again.code == 0, first.err
    assert sum(map(len, server.bodies.values())) == asked
    assert first.out == again.out
    assert "| retail | openai/agent | ledgeragent-paper |" in first.out
    assert "| retail | GLM-5 | ledgeragent (paper) | 48.5 | 67.1 |" in first.out
    assert "cancel_requires_basis" in first.out
    assert (tmp_path / "report" / "main.tex").exists()
