"""Arms with a pack of one's own, domains without one, the searched domain, and speech."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.bench.chat_server import serving
from tests.bench.tau2.model_server import Body, _message, call
from tests.bench.tau2.test_run import Strict, bench, handler, rows

pytestmark = pytest.mark.skipif(
    find_spec("tau2") is None, reason="the tau2 harness is not installed (extra tau2)"
)
HARNESS = find_spec("tau2")
OFFICIAL = HARNESS is not None and Path(str(HARNESS.origin)).with_name("runner").is_dir()
NOTHING = call("create_task", user_id="user_1", title="Nothing")
FREEZE = call(
    "call_discoverable_agent_tool",
    agent_tool_name="freeze_debit_card_3892",
    arguments='{"card_id": "dbc_1"}',
)


@dataclass
class Insistent(Strict):
    """An agent that makes one call until it is answered; keeps every prompt with tools."""

    step: Body = field(default_factory=dict)

    def answer(self, body: Body, key: str) -> tuple[int, Body]:
        self.bodies[body["model"]].append(body)
        roles = [message["role"] for message in body["messages"]]
        if body.get("tools"):
            message = _message("Done." if "tool" in roles else self.step)
        else:
            message = _message("###STOP###" if "assistant" in roles else "Go ahead.")
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        return 200, {"id": "x", "model": "m", "choices": [choice], "usage": usage}


def experiment(server: Insistent, results: Path, *options: str) -> Any:
    with serving(handler(server)) as url:
        command = ["run", "--model", "agent", "--url", url, "--key-env", "AGENT_KEY"]
        command += ["--user-model", "user", "--user-url", url, "--user-key-env", "USER_KEY"]
        command += ["--tasks", "1", "--trials", "1", "--attempts", "1", "-o", str(results)]
        return bench(*command, *options)


def executed(run: dict[str, Any]) -> list[str]:
    return [c["name"] for m in run["messages"] for c in m.get("tool_calls") or ()]


def test_an_arm_takes_the_pack_that_is_named(tmp_path: Path) -> None:
    server, results = Insistent(step=NOTHING), tmp_path / "runs.jsonl"
    pack = ["--domain", "mock", "--pack", "shop"]
    life = experiment(server, results, *pack, "--arm", "fc", "--arm", "ledgeragent")
    assert life.code == 0, life.err
    first, *runs = rows(results)
    by_arm = {run["arm"]: run for run in runs}
    before = executed(by_arm["ledgeragent"])  # what the task's history brings
    assert executed(by_arm["fc"]) == [*before, "create_task"]
    assert "there is no tool named create_task here" in json.dumps(by_arm["ledgeragent"])
    assert first["settings"]["pack"] == "shop"


def test_an_arm_without_a_pack_is_told_before_anything_is_played(tmp_path: Path) -> None:
    server = Insistent(step=NOTHING)
    life = experiment(server, tmp_path / "r.jsonl", "--domain", "mock", "--arm", "ledgeragent")
    assert life.code == 2
    assert "no shipped pack lists all of these tools: create_task" in life.err
    assert not server.bodies


def test_a_domain_that_is_none_is_told_with_those_there_are(tmp_path: Path) -> None:
    life = experiment(Insistent(), tmp_path / "r.jsonl", "--domain", "nowhere")
    assert life.code == 2
    assert "there is no domain 'nowhere'; choose one of: airline, " in life.err


@pytest.mark.skipif(not OFFICIAL, reason="the domain is in the official line of the harness alone")
def test_a_call_behind_a_door_is_judged_as_the_tool_that_it_names(tmp_path: Path) -> None:
    server, results = Insistent(step=FREEZE), tmp_path / "runs.jsonl"
    bank = ["--domain", "banking_knowledge", "--arm", "fc", "--arm", "gate-only"]
    life = experiment(server, results, *bank)
    assert life.code == 0, life.err
    first, *runs = rows(results)
    by_arm = {run["arm"]: run for run in runs}
    assert set(executed(by_arm["fc"])) == {"call_discoverable_agent_tool"}
    assert executed(by_arm["gate-only"]) == []
    assert "nobody's identity has been verified" in json.dumps(by_arm["gate-only"])
    assert first["settings"]["retrieval"] == {"banking_knowledge": "bm25"}
    other = experiment(server, results, *bank, "--retrieval", "no_such")
    assert other.code == 2
    assert "cannot be searched with 'no_such'" in other.err


@pytest.mark.parametrize("option", ["--audio-native", "--speech-complexity=control"])
def test_speech_is_refused_with_our_arms(option: str) -> None:
    life = bench("tau2", "run", "--domain", "airline", "--agent", "ledgeragent", option)
    assert life.code == 2
    assert "the arm ledgeragent is for text" in life.err
    assert option.partition("=")[0] in life.err
