"""Recorded calls made again: none differs, and what differs is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.bench.telehealth.clinic import Episode, call
from ledgeragent.bench.telehealth.conformance import check
from ledgeragent.cli.main import main
from ledgeragent.errors import DataError
from tests.bench.telehealth.clinic import TODAY, clinic, write


@pytest.mark.parametrize("kind", ["gold", "fuzz", "evaluator"])
def test_every_recorded_call_is_answered_the_same(data_dir: Path, kind: str) -> None:
    file = data_dir / "benchmarks" / "oracle" / f"telehealth_{kind}.jsonl.gz"
    result = check([str(file)], data_dir)
    assert result.calls > 100
    assert result.divergences == []


def test_every_call_of_the_recorded_runs_is_answered_the_same(data_dir: Path) -> None:
    file = data_dir / "trajectories" / "tau_trait_telehealth__collinear-ai__tau-trait.jsonl.gz"
    result = check([str(file)], data_dir)
    assert (result.sessions, result.calls) == (60, 509)
    assert result.divergences == []


def asked(number: int, name: str, **arguments: Any) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "tool_calls": [{"id": f"c{number}", "function": function}]}


def test_a_run_is_made_again_on_its_own_day(tmp_path: Path) -> None:
    folder = write(tmp_path / "data")
    data = clinic()
    data.today = "2031-02-03"
    cancelled = call(data, "cancel_appointment", {"appointment_id": "APPT001"})
    messages = [
        {"role": "user", "content": "Cancel APPT001."},
        asked(1, "cancel_appointment", appointment_id="APPT001"),
        {"role": "tool", "tool_call_id": "c1", "content": cancelled},
        asked(2, "find_patient_by_email", email="ann@mail"),
        {"role": "tool", "tool_call_id": "c2", "content": "ben"},
    ]
    row = {"domain": "telehealth", "id": "r1", "messages": messages}
    result = check(recorded(tmp_path, row), folder)
    assert result.calls == 2
    assert [(d.session, d.number, d.expected, d.got) for d in result.divergences] == [
        ("r1", 2, "ben", "ann_reed_1")
    ]


def session(**change: Any) -> dict[str, Any]:
    data = clinic()
    made = {
        "name": "find_patient_by_email",
        "kwargs": {"email": "ann@mail"},
        "content": "ann_reed_1",
        "db_hash": data.digest(),
    }
    return {
        "domain": "telehealth",
        "session_id": "s1",
        "initial_db_hash": data.digest(),
        "calls": [{**made, **change}],
    }


def recorded(tmp_path: Path, row: object) -> list[str]:
    file = tmp_path / "recorded.jsonl"
    file.write_text(json.dumps(row) + "\n")
    return [str(file)]


def test_agreement_exits_0(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = recorded(tmp_path, session())
    folder = str(write(tmp_path / "data"))
    assert main(["bench", "conformance", *files, "--data-dir", folder]) == 0
    assert capsys.readouterr().out == "sessions 1, calls 1, divergences 0\n"


def test_a_divergence_is_told_and_exits_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files = recorded(tmp_path, session(content="ben", db_hash="0"))
    monkeypatch.setenv("LEDGERAGENT_DATA_DIR", str(write(tmp_path / "data")))
    assert main(["bench", "conformance", *files]) == 1
    out = capsys.readouterr().out
    assert out.startswith("sessions 1, calls 1, divergences 2\n")
    assert "expected 'ben'\n  got      'ann_reed_1'" in out
    assert "s1, call 1: state of" in out


def test_an_evaluator_case_is_compared_step_by_step(tmp_path: Path) -> None:
    folder = write(tmp_path / "data")
    cancel = {"name": "cancel_appointment", "kwargs": {"appointment_id": "APPT002"}}
    refused = "Cannot cancel appointment APPT002 - appointment has already been completed."
    steps = [
        {"action": cancel, "observation": refused, "reward": 0.0, "done": False},
        {
            "action": {"name": "respond", "kwargs": {"content": "done"}},
            "observation": "###STOP###",
            "reward": 1.0,
            "done": True,
        },
    ]
    row = {"domain": "telehealth", "task_id": "0", "label": "x", "steps": steps}
    found = check(recorded(tmp_path, row), folder).divergences
    assert [(d.what, d.expected, d.got) for d in found] == [("reward", "1.0", "0.0")]


def test_recordings_of_another_domain_are_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "data")
    with pytest.raises(DataError, match="telehealth"):
        check(recorded(tmp_path, {"domain": "retail", "calls": []}), folder)


def test_no_data_folder_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("LEDGERAGENT_DATA_DIR", raising=False)
    assert main(["bench", "conformance", "x"]) == 2
    assert "--data-dir" in capsys.readouterr().err


def test_an_episode_pays_for_the_gold_outcome_however_it_was_reached() -> None:
    task = {
        "actions": [{"name": "cancel_appointment", "kwargs": {"appointment_id": "APPT001"}}],
        "outputs": ["1000"],
    }
    episode = Episode(task=task, fresh=clinic, user=lambda said: "###STOP###")
    first = episode.step("cancel_appointment", {"appointment_id": "APPT001"})
    assert TODAY in first.observation
    assert not first.over
    last = episode.step("respond", {"content": "That is 1,000."})
    assert (last.over, last.reward) == (True, 1.0)
    assert episode.step("transfer_to_human_support", {"reason": "r"}).over


def test_what_must_be_said_and_was_not_costs_the_reward() -> None:
    task = {"actions": [], "outputs": ["yes"]}
    episode = Episode(task=task, fresh=clinic, user=lambda said: "###STOP###")
    assert episode.step("respond", {"content": "no"}).reward == 0.0
