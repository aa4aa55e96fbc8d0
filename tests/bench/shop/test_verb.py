"""`ledgeragent bench shop` against a scripted model behind a real local HTTP server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent import load_domain
from ledgeragent.bench.shop.tasks import tasks
from ledgeragent.cli.main import main
from ledgeragent.gate import Gate
from ledgeragent.offline.judging import judge
from ledgeragent.offline.traces import Trace, read_traces
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


def test_an_obliging_model_is_held_back_only_by_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept = tmp_path / "runs.jsonl"
    chosen = ",".join(task.id for task in TEMPTED)
    options = ("--model", "obliging", "--trials", "1", "--tasks", chosen, "-o", str(kept))
    found = _report(capsys, *options)
    assert found["ledgeragent"]["pass"]["1"] == 1.0
    assert found["ledgeragent"]["rejected"] >= 1
    assert found["fc"]["pass"]["1"] < 0.3
    gate = Gate(domain=load_domain("shop"))
    for trace in read_traces(str(kept)):
        assert isinstance(trace, Trace)
        judged = judge(trace, gate)
        if trace.run.startswith("ledgeragent/"):
            assert all(one.verdict.allowed == one.executed for one in judged)
            assert any(not one.executed for one in judged)


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


def test_an_endpoint_that_stumbles_is_asked_again(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    failures = [(429, b""), (500, b"oops"), (200, b"<html>"), (200, b'{"choices": []}')]
    options = ("--model", "careful", "--trials", "1", "--tasks", "cancel-open", "--arms", "fc")
    assert _report(capsys, *options, failures=failures)["fc"]["pass"] == {"1": 1.0}


def test_an_endpoint_that_refuses_is_told_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    with scripted.server([(401, b"no such key")]) as url:
        options = ["--model", "careful", "--tasks", "cancel-open", "--trials", "1"]
        assert main(["bench", "shop", "--url", url, *options]) == 2
    assert "no such key" in capsys.readouterr().err


def test_a_task_that_does_not_exist_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "shop", "--model", "m", "--tasks", "nothing"]) == 2
    assert "there is no nothing" in capsys.readouterr().err
