"""Result files of other people: which domain and model their runs are of, folders, several models."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.bench.results.metrics import reliability
from ledgeragent.bench.results.reading import read_results
from ledgeragent.cli.main import main
from tests.bench.results.runs import CANCEL, READ, simulation, write


def test_runs_of_tau_bench_get_their_domain_from_their_tools(tmp_path: Path) -> None:
    traj = [
        {"role": "system", "content": "policy"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "1", "function": {"name": "find_user_id_by_email", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "u_1"},
    ]
    rows = [{"task_id": n, "reward": 1.0, "info": {}, "traj": traj, "trial": 0} for n in range(2)]
    file = tmp_path / "gpt-x.json"
    file.write_text(json.dumps(rows))
    assert {(run.domain, run.model) for run in read_results(str(file))} == {("retail", "gpt-x")}
    assert {run.domain for run in read_results(str(file), "mine")} == {"mine"}
    file.write_text(json.dumps([{**row, "traj": traj[:1]} for row in rows]))
    assert {run.domain for run in read_results(str(file))} == {"?"}


def test_several_models_in_a_file_are_several_rows(tmp_path: Path) -> None:
    runs = [{**simulation("1", n, 1.0, [READ]), "agent_model": f"m{n}"} for n in range(2)]
    assert {run.model for run in read_results(write(tmp_path / "r.json", runs))} == {"m0", "m1"}


def test_a_harness_folder_is_read_as_its_file_would_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = [simulation("1", n, 1.0, [READ, CANCEL]) for n in range(2)]
    file = Path(write(tmp_path / "r.json", runs))
    whole = json.loads(file.read_text())
    folder = tmp_path / "experiment"
    (folder / "simulations").mkdir(parents=True)
    for number, run in enumerate(whole.pop("simulations")):
        (folder / "simulations" / f"{number}.json").write_text(json.dumps(run))
    (folder / "results.json").write_text(json.dumps({**whole, "simulations": []}))
    assert list(read_results(str(folder))) == list(read_results(str(file)))
    counts = []
    for place in (file, folder):
        assert main(["replay", str(place), "--domain", "retail", "--format", "json"]) in (0, 1)
        counts.append(json.loads(capsys.readouterr().out))
    assert str(counts[0]).replace(str(file), "X") == str(counts[1]).replace(str(folder), "X")


@pytest.mark.parametrize("verb", ["replay", "bench report", "traces"])
def test_a_part_that_cannot_be_read_is_told_and_the_others_are_used(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(_as_folder(tmp_path))
    (folder / "simulations" / "0.json").write_text("{")
    domain = ["--domain", "retail"] if verb == "replay" else []
    assert main([*verb.split(), str(folder), *domain]) == (0 if verb == "replay" else 1)
    out, err = capsys.readouterr()
    assert "simulations/0.json: not JSON" in out + err
    assert "15" in out


def test_view_finds_the_domain_where_the_report_does(tmp_path: Path) -> None:
    call = {"id": "1", "function": {"name": "find_user_id_by_email", "arguments": "{}"}}
    called = {"role": "assistant", "content": None, "tool_calls": [call]}
    policy, words = {"role": "system", "content": "p"}, {"role": "assistant", "content": "Hello."}
    answered = {"role": "tool", "tool_call_id": "1", "content": "u_1"}
    talks = [[policy, {"role": "user", "content": "Hi."}, words], [policy, called, answered]]
    rows = [
        {"task_id": n, "reward": 1.0, "info": {}, "traj": traj, "trial": 0}
        for n, traj in enumerate(talks)
    ]
    file = tmp_path / "gpt-x.json"
    file.write_text(json.dumps(rows))
    assert {run.domain for run in read_results(str(file))} == {"retail"}
    assert main(["view", str(file), "-o", str(tmp_path / "page.html")]) == 0


REWARDS = {"0": (1, 1, 1, 1), "1": (1, 1, 0, 0), "2": (0, 0, 0, 0), "3": (1, 0, 0, 0)}
PASS = {1: 0.4375, 2: 0.2917, 3: 0.25, 4: 0.25}
"""pass^k of these rewards by hand: of task 1 two trials of four, one pair of six, and no three."""


def _runs() -> list[dict[str, Any]]:
    return [
        simulation(task, trial, float(reward), [READ])
        for task, rewards in REWARDS.items()
        for trial, reward in enumerate(rewards)
    ]


def _as_tau_bench(tmp_path: Path) -> str:
    traj = [{"role": "system", "content": "policy"}, {"role": "user", "content": "Hello"}]
    rows = [
        {"task_id": int(task), "reward": reward, "info": {"task": {}}, "traj": traj, "trial": trial}
        for task, rewards in REWARDS.items()
        for trial, reward in enumerate(rewards)
    ]
    file = tmp_path / "gpt-x-retail.json"
    file.write_text(json.dumps(rows))
    return str(file)


def _as_tau2(tmp_path: Path) -> str:
    return write(tmp_path / "r.json", _runs(), agent="llm_agent")


def _as_extended_tau2(tmp_path: Path) -> str:
    """With an agent of somebody's own, and fields beside the harness's own."""
    value = json.loads(Path(write(tmp_path / "r.json", _runs(), agent="retry_agent")).read_text())
    value |= {"timestamp": "2025-08-15", "enhanced_logs": {"enabled": True}}
    for number, run in enumerate(value["simulations"]):
        run |= {"id": f"s{number}", "duration": 1.5, "agent_cost": 0.01, "execution_log": [{}]}
    (tmp_path / "r.json").write_text(json.dumps(value))
    return str(tmp_path / "r.json")


def _as_folder(tmp_path: Path) -> str:
    value = json.loads(Path(_as_tau2(tmp_path)).read_text())
    folder = tmp_path / "experiment"
    (folder / "simulations").mkdir(parents=True)
    for number, run in enumerate(value.pop("simulations")):
        (folder / "simulations" / f"{number}.json").write_text(json.dumps(run))
    (folder / "results.json").write_text(json.dumps({**value, "simulations": []}))
    return str(folder)


@pytest.mark.parametrize("shape", [_as_tau_bench, _as_tau2, _as_extended_tau2, _as_folder])
def test_every_published_shape_gives_the_same_pass_hat_k(shape: Any, tmp_path: Path) -> None:
    measured = reliability(list(read_results(shape(tmp_path))))
    assert (measured.tasks, measured.runs) == (4, 16)
    assert {k: round(rate.value, 4) for k, rate in measured.by_k.items()} == PASS
