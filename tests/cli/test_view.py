"""`ledgeragent view`: which runs, where to, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgeragent.cli.main import main


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    file = tmp_path / "runs.jsonl"
    lines = [
        {"id": f"run-{n}", "domain": "shop", "messages": [{"role": "user", "content": f"hi {n}"}]}
        for n in range(3)
    ]
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return file


def test_it_writes_beside_the_working_folder_by_default(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["view", str(runs)]) == 0
    assert capsys.readouterr().out == "runs.jsonl.html\n"
    assert "hi 2" in (tmp_path / "runs.jsonl.html").read_text()


def test_one_run_or_the_first_few(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["view", str(runs), "--run", "run-1", "-o", "-"]) == 0
    shown = capsys.readouterr().out
    assert "hi 1" in shown and "hi 0" not in shown
    assert main(["view", str(runs), "--limit", "1", "-o", "-"]) == 0
    told = capsys.readouterr()
    assert "hi 1" not in told.out and "only the first 1 runs" in told.err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--run", "nobody"], "no such run"),
        (["--version", "1"], "need --domain"),
        (["--domain", "nowhere"], "no domain"),
    ],
)
def test_what_cannot_be_shown_exits_2(
    runs: Path, options: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["view", str(runs), "-o", "-", *options]) == 2
    assert told in capsys.readouterr().err


def test_it_never_overwrites_what_it_reads(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = runs.read_text()
    assert main(["view", str(runs), "-o", str(runs)]) == 2
    assert runs.read_text() == before
