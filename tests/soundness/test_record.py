"""A run of replies that is written down: interrupted or whole, in parts or at once, it is the same."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from . import record
from .record import Record, tally_json, tally_of, total
from .replies_run import run_replies
from .run import run_recorded

CORE = {"commit": "c0ffee", "source": "7ree"}


@pytest.fixture(autouse=True)
def _one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record, "core", lambda: CORE)


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    run_recorded("retail", 8, 3, tmp_path)
    assert run_recorded("retail", 24, 3, tmp_path) == run_replies("retail", 24, 3)
    assert Record(tmp_path, "retail", 3).load() == run_replies("retail", 24, 3)


def test_a_run_of_another_source_is_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_recorded("retail", 4, 3, tmp_path)
    monkeypatch.setattr(record, "core", lambda: {**CORE, "source": "0ther"})
    with pytest.raises(SystemExit, match="choose another folder"):
        run_recorded("retail", 8, 3, tmp_path)


def test_the_total_is_the_sum_of_all_seeds(tmp_path: Path) -> None:
    tallies = [run_recorded("telecom", 8, seed, tmp_path) for seed in (3, 4)]
    files = sorted(tmp_path.glob("*.json"))
    whole = total(json.loads(file.read_text()) for file in files)
    telecom = whole["worlds"]["telecom"]
    assert whole["commit"] == "c0ffee" and telecom["seeds"] == [3, 4]
    assert telecom["replies"] == sum(tally.replies for tally in tallies)
    assert telecom["verdicts"] == tallies[0].verdicts + tallies[1].verdicts
    assert tally_of(tally_json(tallies[0])) == tallies[0]


def test_records_of_several_sources_have_no_total(tmp_path: Path) -> None:
    run_recorded("telecom", 4, 3, tmp_path)
    [file] = tmp_path.glob("*.json")
    data = json.loads(file.read_text())
    with pytest.raises(SystemExit, match="of one source"):
        total([data, {**data, "source": "0ther"}])
