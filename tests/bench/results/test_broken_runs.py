"""Result files with a run that cannot be read: it is told with its place, and the others are used."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.bench.results.reading import read_results
from ledgeragent.cli.main import main
from ledgeragent.errors import DataError
from ledgeragent.types import Json
from tests.bench.results.runs import CANCEL, READ, simulation, write

GOOD = [simulation("1", 0, 1.0, [READ, CANCEL]), simulation("1", 1, 0.0, [READ])]


def results(file: Path, *records: Json) -> Path:
    """A harness's file of these records."""
    whole = json.loads(Path(write(file, GOOD)).read_text())
    file.write_text(json.dumps({**whole, "simulations": records}))
    return file


BROKEN: dict[str, tuple[Json, str]] = {
    "no object": ("run", "it is no object"),
    "null": (None, "it is no object"),
    "no task": ({"reward": 1}, "there is no 'task_id'"),
    "reward": ({**GOOD[0], "reward_info": {"reward": "much"}}, "`reward` is no number"),
    "messages": ({**GOOD[0], "messages": {"role": "user"}}, "`messages` is no list"),
    "message": ({**GOOD[0], "messages": [3]}, r"`messages\[0\]` is no object"),
    "a call": (
        {**GOOD[0], "messages": [{"role": "assistant", "tool_calls": [{}]}]},
        "`name` is no text",
    ),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_the_others_are_used_and_the_broken_one_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    record, reason = BROKEN[kind]
    file = results(tmp_path / "r.json", GOOD[0], record, GOOD[1])
    problems: list[DataError] = []
    assert len([*read_results(str(file), tell=problems.append)]) == 2
    with pytest.raises(
        DataError, match=rf"r.json:1: not a run: simulations\[1\]: {reason}"
    ) as told:
        list(read_results(str(file)))
    assert [str(told.value)] == [*map(str, problems)]
    assert main(["bench", "report", str(file)]) == 1
    out, err = capsys.readouterr()
    assert "| retail |" in out and f"skipped: {told.value}" in err


def test_a_broken_line_is_told_by_its_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "r.jsonl"
    run: dict[str, Any] = {"task_id": "4", "reward": 1, "domain": "retail", "agent_model": "m"}
    lines = [json.dumps(run), '{"task_id": "5", "rew', json.dumps([run, {"reward": 1}])]
    file.write_text("\n".join(lines))
    assert main(["bench", "report", str(file), "-o", str(tmp_path / "o"), "--figures", "none"]) == 1
    err = capsys.readouterr().err
    assert "r.jsonl:2: not JSON" in err
    assert "r.jsonl:3: not a run: [1]: there is no 'task_id'" in err
    assert "2 runs could not be read and are left out." in (tmp_path / "o/report.md").read_text()


def test_where_all_are_broken_nothing_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "report", str(results(tmp_path / "r.json", {"reward": 1}))]) == 2
    out, err = capsys.readouterr()
    assert not out and "there is no 'task_id'" in err


def test_what_is_wrong_with_all_of_a_set_refuses_all_of_it(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    file.write_text(json.dumps({"info": [1], "simulations": GOOD}))
    assert main(["bench", "report", str(file)]) == 2
