"""Our arms on the real tau2 harness, against a scripted model behind a real local server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.bench.results.reading import read_results
from tests.bench.tau2.model_server import Moody, Script, call, serving
from tests.cli.command import ledgeragent

pytestmark = pytest.mark.skipif(
    find_spec("tau2") is None, reason="the tau2 harness is not installed (extra tau2)"
)

SOURCE = Path(__file__).parents[3] / "src"
ARMS = ["llm_agent", "ledger-empty", "ledgeragent", "ledger-only", "gate-only", "irma", "fama"]
CANCEL = call("cancel_pending_order", order_id="#W0000001", reason="no longer needed")
AGENT = [CANCEL, call("list_all_product_types"), "That is all.", "That is all.", "That is all."]
CUSTOMER = ["Please cancel order #W0000001.", "###STOP###"]


def bench(*arguments: str, data: str = "") -> str:
    done = ledgeragent("bench", *arguments, env={"LEDGERAGENT_DATA_DIR": data})
    assert done.code == 0, done.out[-2000:] + done.err[-4000:]
    return done.out


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[Script, Path]:
    """One retail task in every arm, on the data that the harness ships with."""
    scratch = tmp_path_factory.mktemp("runs")
    script = Script(AGENT, CUSTOMER)
    with serving(script) as url:
        request = scratch / "request.json"
        request.write_text(
            json.dumps({"scratch": str(scratch), "url": url, "domain": "retail", "arms": ARMS})
        )
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("drive.py")), str(request)],
            env={
                **os.environ,
                "PYTHONPATH": f"{SOURCE}:{SOURCE.parent}",
                "LEDGERAGENT_DATA_DIR": "",
            },
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return script, scratch


def result(played: tuple[Script, Path], arm: str) -> dict[str, Any]:
    file = played[1] / f"{arm}.json"  # where the package keeps it; the official line has folders
    file = file if file.exists() else played[1] / arm / "results.json"
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def executed(played: tuple[Script, Path], arm: str) -> list[str]:
    [simulation] = result(played, arm)["simulations"]
    calls = [m.get("tool_calls") or [] for m in simulation["messages"]]
    return [made["name"] for some in calls for made in some]


def last(played: tuple[Script, Path], arm: str, number: int) -> dict[str, Any]:
    message: dict[str, Any] = played[0].agent_requests[arm][number]["messages"][-1]
    return message


@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_runs_to_the_end_and_is_scored(played: tuple[Script, Path], arm: str) -> None:
    [simulation] = result(played, arm)["simulations"]
    assert simulation["termination_reason"] == "user_stop"
    assert simulation["reward_info"]["reward"] in (0.0, 1.0)


@pytest.mark.parametrize("arm", ["ledgeragent", "gate-only"])
def test_the_gate_holds_an_unfounded_write_back(played: tuple[Script, Path], arm: str) -> None:
    assert executed(played, arm) == ["list_all_product_types"]
    assert "did not run" in last(played, arm, 1)["content"]


@pytest.mark.parametrize("arm", ["llm_agent", "ledger-empty", "ledger-only", "irma", "fama"])
def test_arms_without_a_gate_execute_it(played: tuple[Script, Path], arm: str) -> None:
    assert executed(played, arm) == ["cancel_pending_order", "list_all_product_types"]


def test_the_ledger_is_at_the_tail_of_the_prompt(played: tuple[Script, Path]) -> None:
    for arm in ("ledgeragent", "ledger-only"):
        message = last(played, arm, 2)
        assert message["role"] == "system"
        assert message["content"].startswith("<ledger>")
    assert last(played, "gate-only", 2)["role"] == "tool"


def test_an_empty_pack_changes_no_prompt(played: tuple[Script, Path]) -> None:
    plain, empty = (played[0].agent_requests[arm] for arm in ("llm_agent", "ledger-empty"))
    assert [body["messages"] for body in plain] == [body["messages"] for body in empty]
    assert [body["tools"] for body in plain] == [body["tools"] for body in empty]


def test_tools_and_system_prompt_are_the_same_in_all_arms_of_ours(
    played: tuple[Script, Path],
) -> None:
    first = {arm: played[0].agent_requests[arm][0] for arm in ARMS if arm != "irma"}
    assert len({json.dumps(body["tools"]) for body in first.values()}) == 1
    assert len({body["messages"][0]["content"] for body in first.values()}) == 1


def test_a_message_tells_what_led_to_it(played: tuple[Script, Path]) -> None:
    [simulation] = result(played, "ledgeragent")["simulations"]
    sent = next(m for m in simulation["messages"] if m.get("tool_calls"))
    told = sent["raw_data"]["ledgeragent"]
    assert told["generations"] == 2
    assert told["verdicts"][0]["call"]["name"] == "cancel_pending_order"
    assert told["verdicts"][0]["decision"] == "REVISE"
    assert sent["usage"] == {"prompt_tokens": 20, "completion_tokens": 4}


def test_the_data_a_run_used_is_in_its_result(played: tuple[Script, Path]) -> None:
    signatures = {result(played, arm)["info"]["git_commit"] for arm in ARMS}
    assert len(signatures) == 1
    assert " data:sha256:" in signatures.pop()


def test_irma_asks_its_helpers_once_a_customer_message(played: tuple[Script, Path]) -> None:
    helpers = [
        b
        for b in played[0].other_requests["irma"]
        if "###STOP###" not in b["messages"][0]["content"]
    ]
    assert len(helpers) == 2
    shown = last(played, "irma", 0)
    assert shown["role"] == "user"
    assert "Tools that may help:\nlist_all_product_types" in shown["content"]
    assert "look_up" not in shown["content"].split("Tools that may help:")[1]
    assert shown["content"].endswith("Please cancel order #W0000001.")


def test_fama_asks_its_helpers_before_every_decision(played: tuple[Script, Path]) -> None:
    helpers = [
        b
        for b in played[0].other_requests["fama"]
        if "###STOP###" not in b["messages"][0]["content"]
    ]
    assert len(helpers) == 3
    assert last(played, "fama", 2)["content"].startswith("Requests so far:\n1. Please cancel")
    [simulation] = result(played, "fama")["simulations"]
    told = [
        m["raw_data"]["ledgeragent"]
        for m in simulation["messages"]
        if m.get("raw_data", {}) and "ledgeragent" in m["raw_data"]
    ]
    assert [one["helper_calls"] for one in told] == [1, 1, 1]


TASKS = {"airline": 50, "retail": 114, "telecom": 114, "telehealth": 20}


@pytest.fixture(scope="module")
def gold(data_dir: Path) -> dict[str, dict[str, Any]]:
    """Every task's gold actions."""
    domains = [word for domain in TASKS for word in ("--domain", domain)]
    out = bench("gold", *domains, "--format", "json", data=str(data_dir))
    found: dict[str, dict[str, Any]] = json.loads(out)
    return found


@pytest.mark.parametrize("domain", TASKS)
def test_gold_actions_earn_the_reward_and_pass_the_gate(
    gold: dict[str, dict[str, Any]], domain: str
) -> None:
    found = gold[domain]
    assert (found["tasks"], found["reward_1"]) == (TASKS[domain], TASKS[domain])
    assert found["rejected_gold_writes"] == 0
    assert found["gold_writes"] > 40
    assert found["data"].startswith("sha256:")


def test_an_experiment_outlasts_a_server_that_fails_and_is_resumed(tmp_path: Path) -> None:
    results = tmp_path / "runs.jsonl"
    command = ["run", "--domain", "retail", "--tasks", "1"]
    command += ["--arm", "fc", "--arm", "ledgeragent", "--model", "scripted", "--workers", "2"]
    with serving(Moody()) as url:
        command += ["--url", f"{url}/any", "-o", str(results)]
        bench(*command, "--trials", "1")
        bench(*command, "--trials", "2")
    runs = list(read_results(str(results)))
    assert sorted(one.arm for one in runs) == ["fc", "fc", "ledgeragent", "ledgeragent"]
    assert all(one.termination == "user_stop" and one.spent.prompt for one in runs)
    assert all([call.name for call in one.calls] == ["list_all_product_types"] for one in runs)
    assert all(one.gold for one in runs)
