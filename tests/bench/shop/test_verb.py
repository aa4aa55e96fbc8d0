"""`ledgeragent bench shop` against a scripted model behind a real local HTTP server."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from ledgeragent import load_domain
from ledgeragent.bench.running.interrupts import Stop
from ledgeragent.bench.shop.play import ARMS
from ledgeragent.bench.shop.tasks import KINDS, tasks, wanted
from ledgeragent.cli.main import main
from ledgeragent.demo.shop.shop import Shop
from ledgeragent.gate import Gate
from ledgeragent.offline.judging import judge
from ledgeragent.offline.traces import Trace, read_traces
from ledgeragent.types import ToolCall
from tests.bench.shop import scripted

TEMPTED = [task for task in tasks() if task.tempting]


def _report(capsys: pytest.CaptureFixture[str], *options: str, failures: Any = ()) -> Any:
    with scripted.server(failures) as url:
        assert main(["bench", "shop", "--url", url, "--format", "json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_careful_model_solves_every_task_by_either_arm(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = _report(capsys, "--model", "careful", "--trials", "2", "--jobs", "2")
    for arm in ("fc", "ledgeragent"):
        assert found[arm]["pass"] == {"1": 1.0, "2": 1.0}
        assert found[arm]["rejected"] == 0 and found[arm]["runs"] == 80
    assert found["fc"]["generations"] == found["ledgeragent"]["generations"]


@pytest.fixture(scope="module")
def obliging(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """All forty tasks, twice, by a model that does what customers ask for: the report and the runs."""
    folder = tmp_path_factory.mktemp("obliging")
    kept, said = folder / "runs.jsonl", io.StringIO()
    options = ["--model", "obliging", "--trials", "2", "--format", "json", "-o", str(kept)]
    with scripted.server() as url, redirect_stdout(said):
        assert main(["bench", "shop", "--url", url, *options]) == 0
    return json.loads(said.getvalue()), kept


def _rows(kept: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in kept.read_text().splitlines()]


def test_an_obliging_model_is_held_back_only_by_the_gate(
    obliging: tuple[dict[str, Any], Path],
) -> None:
    found, kept = obliging
    tempted = {task.id for task in TEMPTED}
    solved = {
        arm: {r["task_id"] for r in _rows(kept) if r["arm"] == arm and r["reward"]} for arm in ARMS
    }
    assert solved["fc"] == {task.id for task in tasks()} - tempted
    assert solved["ledgeragent"] == {task.id for task in tasks()}
    assert found["fc"]["pass"] == {"1": 17 / 40, "2": 17 / 40}
    assert found["ledgeragent"]["pass"] == {"1": 1.0, "2": 1.0}


def test_every_number_is_what_the_kept_runs_come_to(
    obliging: tuple[dict[str, Any], Path],
) -> None:
    found, kept = obliging
    for arm in ARMS:
        rows = [row for row in _rows(kept) if row["arm"] == arm]
        assert (found[arm]["runs"], found[arm]["tasks"]) == (80, 40) and len(rows) == 80
        for kind in KINDS:
            rewards = [row["reward"] for row in rows if row["kind"] == kind]
            assert found[arm]["by_kind"][kind] == pytest.approx(sum(rewards) / len(rewards))
        for name in ("generations", "rejected"):
            assert found[arm][name] == pytest.approx(sum(row[name] for row in rows) / 80)
        # The server tells 10 and 2 tokens an answer, 5 of them cached.
        calls = sum(row["generations"] for row in rows)
        told = [found[arm][f"{name}_tokens"] for name in ("prompt", "completion", "cached")]
        assert told == pytest.approx([10 * calls / 80, 2 * calls / 80, 5 * calls / 80])


def test_a_reward_says_that_the_calls_that_ran_leave_the_database_right(
    obliging: tuple[dict[str, Any], Path],
) -> None:
    by_id = {task.id: task for task in tasks()}
    for row in _rows(obliging[1]):
        answers = {m["tool_call_id"]: m for m in row["messages"] if m["role"] == "tool"}
        refused = 0
        with Shop() as shop:
            for call in (c for m in row["messages"] for c in m.get("tool_calls") or ()):
                if answers[call["id"]].get("error"):
                    refused += 1
                    continue
                function = call["function"]
                made = ToolCall.parse(name=function["name"], arguments=function["arguments"])
                assert not shop.execute(made).failed
            right = shop.snapshot() == wanted(by_id[row["task_id"]])
        assert row["reward"] == float(right and row["ended"] == "customer"), row["id"]
        assert row["rejected"] == (refused if row["arm"] == "ledgeragent" else 0), row["id"]


def test_kept_runs_are_judged_again_as_they_were(obliging: tuple[dict[str, Any], Path]) -> None:
    gate = Gate(domain=load_domain("shop"))
    for trace in read_traces(str(obliging[1])):
        assert isinstance(trace, Trace)
        judged = judge(trace, gate)
        if trace.run.startswith("ledgeragent/"):
            assert all(one.verdict.allowed == one.executed for one in judged)


def test_kept_runs_are_results_for_the_report_too(
    obliging: tuple[dict[str, Any], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "report", str(obliging[1]), "--format", "json"]) == 0
    tables = {table["name"]: table for table in json.loads(capsys.readouterr().out)}
    shares = {row[2]: row[4].split()[0] for row in tables["main"]["rows"]}
    assert shares == {"fc": "42.5", "ledgeragent": "100.0"}
    writing = sum(bool(task.gold) for task in tasks())
    assert {row[2]: row[8] for row in tables["writes"]["rows"]} == dict.fromkeys(ARMS, str(writing))


def test_runs_that_were_kept_are_not_made_again_and_a_cut_off_one_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "runs.jsonl"
    options = ("--model", "careful", "--trials", "3", "--tasks", "cancel-open", "-o", str(kept))
    before = _report(capsys, *options)
    whole = kept.read_text()
    kept.write_text(whole[: len(whole) - 40])
    assert _report(capsys, *options) == before
    assert sorted(kept.read_text().splitlines()) == sorted(whole.splitlines())
    assert main(["bench", "shop", "--url", "http://127.0.0.1:9/v1", *options]) == 0
    assert "pass^3" in capsys.readouterr().out
    _report(capsys, *options, "--mode", "index")
    assert len(kept.read_text().splitlines()) == 2 * len(whole.splitlines())


def test_an_endpoint_that_stumbles_is_asked_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr(Stop, "pause", lambda self, seconds: waited.append(seconds))
    failures = [(429, b""), (500, b"oops"), (200, b"<html>"), (200, b'{"choices": []}')]
    options = ("--model", "careful", "--trials", "1", "--tasks", "cancel-open", "--arms", "fc")
    assert _report(capsys, *options, failures=failures)["fc"]["pass"] == {"1": 1.0}
    assert waited == [1.0, 2.0, 4.0, 8.0]


def test_an_endpoint_that_refuses_is_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted.server([(401, b"no such key")]) as url:
        options = ["--model", "careful", "--tasks", "cancel-open", "--trials", "1"]
        assert main(["bench", "shop", "--url", url, *options]) == 2
    assert "no such key" in capsys.readouterr().err


def test_a_task_that_does_not_exist_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "shop", "--model", "m", "--tasks", "nothing"]) == 2
    assert "there is no nothing" in capsys.readouterr().err


def test_runs_of_other_software_are_refused_unless_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "runs.jsonl"
    options = ["--model", "careful", "--trials", "1", "--tasks", "cancel-open", "-o", str(kept)]
    _report(capsys, *options)
    older = [{**row, "made_by": {"ledgeragent": "0.0.1"}} for row in _rows(kept)]
    kept.write_text("".join(f"{json.dumps(row)}\n" for row in older))
    with scripted.server() as url:
        assert main(["bench", "shop", "--url", url, *options]) == 2
        assert "other software" in capsys.readouterr().err
        assert main(["bench", "shop", "--url", url, *options, "--other-version"]) == 0
        assert _rows(kept) == older
        # With other options nothing of it is taken, and nothing mixed.
        assert main(["bench", "shop", "--url", url, *options, "--temperature", "0.5"]) == 0
    assert len(_rows(kept)) == 4
