"""`ledgeragent journal` through the command: verify, show, export into replay."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ledgeragent.journal import Journal
from ledgeragent.types import UserMessage
from tests.journal.test_journal import BANK, written


def ledgeragent(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ledgeragent", *arguments]
    root = Path(__file__).parents[2]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, input=stdin, cwd=root
    )


@pytest.mark.parametrize("name", ["j.jsonl", "j.sqlite"])
def test_an_intact_journal_verifies(tmp_path: Path, name: str) -> None:
    done = ledgeragent("journal", "verify", str(written(tmp_path / name)))
    assert (done.returncode, done.stderr) == (0, "")
    assert "6 records intact" in done.stdout


def test_a_changed_and_a_torn_journal_do_not(tmp_path: Path) -> None:
    file = written(tmp_path / "j.jsonl")
    whole = file.read_text()
    file.write_text(whole[:-30])
    done = ledgeragent("journal", "verify", str(file))
    assert done.returncode == 1 and "5 records intact, then" in done.stdout
    file.write_text(whole.replace('"frozen"', '"open"'))
    done = ledgeragent("journal", "verify", str(file))
    assert done.returncode == 1 and "was changed" in done.stdout


def test_show_prints_a_line_for_each_event(tmp_path: Path) -> None:
    done = ledgeragent("journal", "show", str(written(tmp_path / "j.jsonl")))
    lines = done.stdout.splitlines()
    assert len(lines) == 6
    assert lines[-1].endswith("close_account=REVISE")
    assert "accounts.A1" in lines[3]


def test_a_journal_from_before_has_no_words_for_verdicts_and_is_shown(tmp_path: Path) -> None:
    file = written(tmp_path / "j.jsonl")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    for record in lines:
        for verdict in record.get("verdicts", ()):
            del verdict["word"]
            for finding in (*verdict["findings"], *verdict["shadow"]):
                del finding["public"], finding["waits_for"]
    file.write_text("".join(f"{json.dumps(record)}\n" for record in lines))
    shown = ledgeragent("journal", "show", str(file)).stdout
    assert shown.splitlines()[-1].endswith("close_account=REVISE")


def test_a_line_of_show_is_cut_and_an_export_is_not(tmp_path: Path) -> None:
    file, long = tmp_path / "j.jsonl", "x" * 10_000
    journal = Journal.open(file, BANK)
    journal.heard(long, UserMessage(text=long))
    journal.close()
    shown = ledgeragent("journal", "show", str(file)).stdout
    assert len(shown.splitlines()) == 1 and shown.endswith("...\n") and len(shown) == 1_004
    assert long in ledgeragent("journal", "export", str(file)).stdout


def test_an_export_can_be_replayed(tmp_path: Path) -> None:
    exported = ledgeragent("journal", "export", str(written(tmp_path / "j.jsonl"))).stdout
    assert json.loads(exported)["id"] == "s1"
    domain = "tests.journal.test_journal:BANK"
    done = ledgeragent("replay", "-", "--domain", domain, "--format", "json", stdin=exported)
    assert json.loads(done.stdout)["writes"]["revise_violation"] == 1


def test_a_missing_journal_is_one_line(tmp_path: Path) -> None:
    done = ledgeragent("journal", "verify", str(tmp_path / "none.jsonl"))
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
