"""The report's numbers against the same files, read and counted here by plain code of its own."""

from __future__ import annotations

import gzip
import json
import random
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.cli.main import main
from tests.bench.results.runs import CANCEL, READ, call, simulation, write

ADDRESS = call("modify_user_address", user_id="u", address1="a")
OTHER = call("cancel_pending_order", order_id="#W2", reason="no longer needed")
WRITES = {"cancel_pending_order", "modify_user_address"}
GOLD = {
    "0": [READ],
    "1": [READ, CANCEL],
    "2": [CANCEL, ADDRESS],
    "3": [ADDRESS],
    "4": [READ, CANCEL, OTHER],
}
Cells = dict[str, str]


def _made_up(arm: str, chance: random.Random) -> list[dict[str, Any]]:
    """Runs of five tasks, four to six trials each, some of which the harness failed."""
    made = []
    for task in GOLD:
        for trial in range(chance.randint(4, 6)):
            failed = chance.random() < 0.1
            calls = [c for c in (READ, CANCEL, ADDRESS, OTHER) if chance.random() < 0.6]
            one = simulation(
                task,
                trial,
                float(chance.random() < 0.6),
                calls or [READ],
                termination="infrastructure_error" if failed else "user_stop",
                prompt=chance.randint(50, 200),
                helpers=chance.randint(0, 2) if arm == "irma" else 0,
            )
            if arm == "irma":
                _add_helpers(one, chance)
            made.append(one)
    return made


def _add_helpers(one: dict[str, Any], chance: random.Random) -> None:
    for message in one["messages"]:
        told = message.get("raw_data", {}).get("ledgeragent")
        if told:
            cost = {"prompt_tokens": chance.randint(1, 9), "completion_tokens": 1, "seconds": 0.5}
            told["helpers"] = {"constraints": {"calls": told["helper_calls"], **cost}}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    chance = random.Random(20)
    found = {}
    for arm in ("llm_agent", "ledgeragent", "irma"):
        file = tmp_path / f"{arm}.json"
        write(file, _made_up(arm, chance), agent=arm)
        value = json.loads(file.read_text())
        for task in value["tasks"]:
            task["evaluation_criteria"]["actions"] = GOLD[task["id"]]
        file.write_text(json.dumps(value))
        found["fc" if arm == "llm_agent" else arm] = file
    return found


def _report(capsys: pytest.CaptureFixture[str], files: list[str]) -> dict[str, list[Cells]]:
    assert main(["bench", "report", *files, "--format", "json"]) == 0
    tables = json.loads(capsys.readouterr().out)
    return {
        table["name"]: [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
        for table in tables
    }


def _row(rows: list[Cells], arm: str) -> Cells:
    [found] = [row for row in rows if row["arm"] == arm]
    return found


def _valid(file: Path) -> list[dict[str, Any]]:
    simulations = json.loads(file.read_text())["simulations"]
    return [one for one in simulations if one["termination_reason"] != "infrastructure_error"]


def _trials(runs: list[dict[str, Any]]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for run in runs:
        found[run["task_id"]].append(int(run["reward_info"]["reward"] == 1.0))
    return found


def _pass(trials: list[int], k: int) -> float:
    picks = list(combinations(trials, k))
    return sum(all(pick) for pick in picks) / len(picks)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)


def _shown(value: float) -> str:
    return f"{100 * value:.1f}"


def _split(cell: str) -> tuple[float, float, float]:
    value, _, rest = cell.partition(" [")
    low, high = rest.partition("]")[0].split(", ")
    return float(value), float(low), float(high)


def _resampled(values: list[float], chance: random.Random) -> tuple[float, float]:
    """An interval by other code with another seed."""
    means = []
    for _ in range(4000):
        drawn = [values[chance.randrange(len(values))] for _ in values]
        means.append(_mean(drawn))
    means.sort()
    return 100 * means[100], 100 * means[-101]


@pytest.mark.parametrize("subset", ["main", "writes"])
def test_reliability(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str], subset: str
) -> None:
    table = _report(capsys, list(map(str, files.values())))[subset]
    for arm, file in files.items():
        trials = _trials(_valid(file))
        if subset == "writes":
            trials = {t: r for t, r in trials.items() if {g["name"] for g in GOLD[t]} & WRITES}
        row = _row(table, arm)
        for k in (1, 2, 3, 4):
            values = [_pass(r, k) for r in trials.values() if len(r) >= k]
            value, low, high = _split(row[f"pass^{k}"])
            assert f"{value}" == _shown(_mean(values)), (arm, k)
            own_low, own_high = _resampled(values, random.Random(k))
            assert low <= value <= high
            # With five tasks a mean takes few values: two draws may end on neighbouring ones.
            assert abs(low - own_low) <= 6 and abs(high - own_high) <= 6, (arm, k)
        full = [_mean([_pass(r, k) for k in (1, 2, 3, 4)]) for r in trials.values() if len(r) >= 4]
        assert f"{_split(row['Avg'])[0]}" == _shown(_mean(full))
        assert row["tasks"] == str(len(trials))
        assert row["runs"] == str(sum(map(len, trials.values())))


def test_gains_over_fc(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    table = _report(capsys, list(map(str, files.values())))["gains"]
    plain = _trials(_valid(files["fc"]))
    for arm in ("ledgeragent", "irma"):
        ours = _trials(_valid(files[arm]))
        for k in (1, 4):
            differences = [
                _pass(ours[t], k) - _pass(plain[t], k)
                for t in GOLD
                if min(len(ours[t]), len(plain[t])) >= k
            ]
            value, low, high = _split(_row(table, arm)[f"pass^{k}"])
            assert f"{value:.1f}" == f"{100 * _mean(differences):.1f}"
            own_low, own_high = _resampled(differences, random.Random(k))
            assert abs(low - own_low) <= 6 and abs(high - own_high) <= 6


def _matches(made: dict[str, Any], gold: dict[str, Any]) -> bool:
    """As the harness's evaluator has it."""
    return bool(made["name"] == gold["name"] and made["arguments"] == gold["arguments"])


def _all_made(run: dict[str, Any]) -> list[dict[str, Any]]:
    return [c for m in run["messages"] for c in m.get("tool_calls") or ()]


def test_writes_that_were_made(files: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    table = _report(capsys, list(map(str, files.values())))["write_actions"]
    for arm, file in files.items():
        made = wanted = 0
        for run in _valid(file):
            for gold in GOLD[run["task_id"]]:
                if gold["name"] in WRITES:
                    wanted += 1
                    made += any(_matches(one, gold) for one in _all_made(run))
        row = _row(table, arm)
        assert (row["made"], row["wanted"]) == (str(made), str(wanted))
        value, low, high = _split(row["rate"])
        assert f"{value}" == _shown(made / wanted) and low <= value <= high
        assert row["agent's"] == row["rate"] and row["customer's"] == "–"


def test_in_telecom_the_customers_writes_count_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = [
        {"name": "toggle_roaming", "arguments": {}, "requestor": "user"},
        {"name": "check_network_status", "arguments": {}, "requestor": "user"},
        {"name": "reboot_device", "arguments": {}, "requestor": "user"},
        {"name": "refuel_data", "arguments": {"gb": 2}, "requestor": "assistant"},
    ]
    own = {"role": "user", "content": None, "tool_calls": [call("toggle_roaming")]}
    runs = [simulation("t", n, 0.0, [call("refuel_data", gb=2)]) for n in range(3)]
    for run in runs[:2]:
        run["messages"].insert(1, own)
    file = write(tmp_path / "t.json", runs, domain="telecom", gold=gold)
    [row] = _report(capsys, [file])["write_actions"]
    assert (row["made"], row["wanted"]) == ("5", "9")
    assert [_split(row[c])[0] for c in ("rate", "agent's", "customer's")] == [55.6, 100.0, 33.3]
    domains = _report(capsys, [file])["domains"]
    assert domains[0] == {
        "domain": "telecom",
        "tasks": "1",
        "tasks with a write": "1",
        "control": "dual",
    }
    assert domains[1]["domain"] == "telecom (paper)" and domains[1]["tasks with a write"] == "94"


def _spent(run: dict[str, Any]) -> Counter[str]:
    total: Counter[str] = Counter()
    for message in run["messages"]:
        if message["role"] != "assistant":
            continue
        told = message["raw_data"]["ledgeragent"]
        total["prompt"] += message["usage"]["prompt_tokens"]
        total["completion"] += message["usage"]["completion_tokens"]
        total["calls"] += told["generations"] + told["helper_calls"]
        total["helper calls"] += told["helper_calls"]
        for helper in told.get("helpers", {}).values():
            total["helper tokens"] += helper["prompt_tokens"] + helper["completion_tokens"]
    return total


def test_cost_over_fc_and_what_helpers_take(
    files: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    tables = _report(capsys, list(map(str, files.values())))
    spent = {
        arm: {
            task: [_spent(r) for r in _valid(file) if r["task_id"] == task]
            for task in sorted(_trials(_valid(file)))
        }
        for arm, file in files.items()
    }

    def per_task(arm: str, task: str, *names: str) -> float:
        return _mean([sum(one[n] for n in names) for one in spent[arm][task]])

    for arm in ("ledgeragent", "irma"):
        row = _row(tables["overhead"], arm)
        for column, names in (("tokens", ("prompt", "completion")), ("calls", ("calls",))):
            grown = [per_task(arm, t, *names) / per_task("fc", t, *names) - 1 for t in GOLD]
            assert row[column] == f"{100 * _mean(grown):+.1f}"
        whole = [one for some in spent[arm].values() for one in some]
        for name in ("prompt", "completion", "helper tokens"):
            assert row[name] == f"{_mean([one[name] for one in whole]):.0f}"
        assert row["helper calls"] == f"{_mean([one['helper calls'] for one in whole]):.1f}"
    [helper] = tables["helpers"]
    whole = [one for some in spent["irma"].values() for one in some]
    assert (helper["arm"], helper["helper"]) == ("irma", "constraints")
    assert helper["calls"] == f"{_mean([one['helper calls'] for one in whole]):.1f}"
    tokens = float(helper["prompt"]) + float(helper["completion"])
    assert tokens == pytest.approx(_mean([one["helper tokens"] for one in whole]), abs=0.11)


def test_a_file_of_bench_run_comes_to_the_same_as_the_harness_s_own(
    files: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each of our runs is one line that says what the harness says once for all of them."""
    lines = [json.dumps({"settings": {"agent": "a-model"}})]
    for arm, file in files.items():
        for run in json.loads(file.read_text())["simulations"]:
            gold = GOLD[run["task_id"]]
            own = {"arm": arm, "domain": "retail", "agent_model": "a-model"}
            lines.append(json.dumps({**run, **own, "gold_actions": gold, "reward_basis": ["DB"]}))
    ours = tmp_path / "runs.jsonl"
    ours.write_text("\n".join(lines) + "\n")
    theirs = _report(capsys, list(map(str, files.values())))
    assert _report(capsys, [str(ours)]) == theirs
    assert {row["arm"] for row in theirs["main"]} > set(files)


def test_recorded_runs_of_real_models(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    [file] = (data_dir / "trajectories").glob("tau_airline__sierra-research__*.jsonl.gz")
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        records = [json.loads(line) for line in stream]
    trials: dict[str, list[int]] = defaultdict(list)
    for record in records:
        if record.get("reward") is not None:
            trials[record["task_id"]].append(int(record["reward"] == 1))
    [row] = [r for r in _report(capsys, [str(file)])["main"] if "(paper)" not in r["arm"]]
    for k in (1, 2):
        values = [_pass(r, k) for r in trials.values() if len(r) >= k]
        value, low, high = _split(row[f"pass^{k}"])
        assert f"{value}" == _shown(_mean(values))
        own_low, own_high = _resampled(values, random.Random(k))
        assert low < value < high
        assert abs(low - own_low) <= 1.5 and abs(high - own_high) <= 1.5
