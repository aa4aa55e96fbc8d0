"""`ledgeragent journal` with keys and heads, erasure, and files that are not to be written."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import sys
from pathlib import Path

import pytest

from ledgeragent.cli.main import main
from ledgeragent.journal import Journal
from ledgeragent.journal.checkpoints import CheckpointPlan
from ledgeragent.types import UserMessage
from tests.journal.reading import chain_of, records_of
from tests.journal.test_journal import BANK, play

pytest.importorskip("cryptography")


@pytest.fixture
def key(tmp_path: Path) -> Path:
    file = tmp_path / "journal.key"
    assert main(["journal", "keygen", str(file)]) == 0
    return file


@pytest.fixture(params=["j.jsonl", "j.sqlite"])
def file(request: pytest.FixtureRequest, tmp_path: Path, key: Path) -> Path:
    file = tmp_path / str(request.param)
    checkpoints = CheckpointPlan(key=str(key), every=4).checkpoints(file)
    with Journal.open(file, BANK, checkpoints=checkpoints) as journal:
        play(journal, "s1")
        play(journal, "s2")
    return file


def proven(file: Path, key: Path) -> int:
    return main(["journal", "verify", str(file), "--key", f"{key}.pub"])


def test_a_key_is_private_and_never_written_over(key: Path) -> None:
    before = key.read_bytes()
    assert sys.platform == "win32" or stat.S_IMODE(key.stat().st_mode) == 0o600
    assert main(["journal", "keygen", str(key)]) == 2
    assert key.read_bytes() == before


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX")
def test_a_key_that_others_may_read_signs_nothing(
    file: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key.chmod(0o644)
    assert main(["journal", "head", str(file), "--key", str(key)]) == 2
    assert "chmod 600" in capsys.readouterr().err


def test_a_key_in_the_environment_signs_as_well(
    file: Path, key: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JOURNAL_SECRET", key.read_text())
    kept = file.with_name("kept.json")
    words = ["journal", "head", str(file), "--key-env", "JOURNAL_SECRET", "--to", str(kept)]
    assert main(words) == 0
    assert json.loads(kept.read_text())["records"] == 12
    file.with_name(f"{file.name}.heads").unlink()
    verifying = ["journal", "verify", str(file), "--key", f"{key}.pub", "--head", str(kept)]
    assert main(verifying) == 0
    monkeypatch.setenv("JOURNAL_SECRET", "sk-not-a-key")
    assert main(words) == 2
    assert "sk-not" not in capsys.readouterr().err


def test_what_was_written_after_the_last_head_is_told(
    file: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert proven(file, key) == 0
    with Journal.open(file, BANK) as journal:
        play(journal, "s3")
    assert proven(file, key) == 1
    assert "the last 6 records are covered by no signed head" in capsys.readouterr().out
    checkpoints = CheckpointPlan(key=str(key)).checkpoints(file)
    Journal.open(file, BANK, checkpoints=checkpoints).close()
    assert proven(file, key) == 0
    assert "record 19 tells that 6 before it" in capsys.readouterr().out
    assert records_of(file)[-1]["unsigned"] == 6


def test_since_takes_older_records_as_they_stand(tmp_path: Path, key: Path) -> None:
    file = tmp_path / "j.jsonl"
    with Journal.open(file, BANK) as journal:
        play(journal)
    file.write_text(file.read_text().replace("close my account", "keep my account"))
    assert main(["journal", "verify", str(file)]) == 1
    assert main(["journal", "verify", str(file), "--since", "2026-01-02"]) == 1
    assert main(["journal", "verify", str(file), "--since", "2999-01-01"]) == 0


def test_a_clock_that_goes_back_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "j.jsonl"
    times = iter(["2026-11-02T00:00:00.000+00:00", "2026-11-01T00:00:00.000+00:00"])
    with Journal.open(file, BANK) as journal, monkeypatch.context() as clock:
        clock.setattr("ledgeragent.journal.chainwriter.utc_now", lambda: next(times))
        journal.heard("s", UserMessage(text="one"))
        journal.heard("s", UserMessage(text="two"))
        clock.undo()
    assert [r["event"] for r in records_of(file)] == ["heard", "clock", "heard"]
    assert main(["journal", "verify", str(file)]) == 0
    assert "the clock was set back" in capsys.readouterr().out


def test_an_erased_conversation_is_gone_and_the_chain_holds(
    file: Path, key: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert b'"s1"' in file.read_bytes()
    assert main(["journal", "erase", str(file), "--session", "s1", "--key", str(key)]) == 0
    assert proven(file, key) == 0
    chain = chain_of(file)
    assert (chain.records, chain.erased) == (13, 6)
    assert {r["session"] for r in records_of(file)} == {"s2", ""}
    names = {f.name for f in file.parent.iterdir()}
    assert names <= {
        file.name,
        f"{file.name}.heads",
        f"{file.name}.lock",
        key.name,
        f"{key.name}.pub",
    }
    assert b'"s1"' not in file.read_bytes()
    assert main(["journal", "export", str(file)]) == 0
    assert main(["journal", "erase", str(file), "--session", "s1"]) == 2
    with Journal.open(file, BANK) as journal:
        play(journal, "s4")
        assert main(["journal", "erase", str(file), "--session", "s2"]) == 2
    assert chain_of(file).intact


@pytest.mark.parametrize("verb", [["journal", "verify"], ["journal", "show"], ["view"]])
def test_reading_writes_nothing(
    tmp_path: Path, verb: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as base:
        base.execute("CREATE TABLE orders (id INTEGER)")
    base.close()
    before = other.read_bytes()
    assert main([*verb, str(other)]) == 2
    assert "not a journal" in capsys.readouterr().err
    assert other.read_bytes() == before
    assert [f.name for f in tmp_path.iterdir()] == ["other.db"]


def test_a_database_of_something_else_is_not_written_to_either(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as base:
        base.execute("CREATE TABLE orders (id INTEGER)")
    base.close()
    before = other.read_bytes()
    with pytest.raises(Exception, match="not a journal"):
        Journal.open(other, BANK)
    assert other.read_bytes() == before


def test_a_journal_is_read_where_nothing_can_be_written(file: Path, key: Path) -> None:
    for child in file.parent.glob("*.lock"):
        child.unlink()
    names = sorted(f.name for f in file.parent.iterdir())
    file.parent.chmod(0o500)
    try:
        assert proven(file, key) == 0
        assert main(["journal", "show", str(file)]) == 0
        assert sorted(f.name for f in file.parent.iterdir()) == names
    finally:
        file.parent.chmod(0o700)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
def test_a_pipe_is_no_journal(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert main(["journal", "verify", str(tmp_path / "pipe.jsonl")]) == 2
