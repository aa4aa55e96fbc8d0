"""`ledgeragent test --cases` through the front door."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.offline.test_cases import LEND, LONG, READ_MEMBER, case

from .branches import NAME
from .command import BOOK, MEMBER, OWES, ledgeragent

RIGHT = [
    case(LEND, BOOK, MEMBER, id="a"),
    case(LONG, BOOK, MEMBER, id="b", kind="violation", decision="reject", clause="lending/days"),
    case(LEND, BOOK, id="c", kind="missing", decision="revise_read", read=READ_MEMBER),
]
APART = case(LEND, BOOK, MEMBER, id="d", decision="reject", clause="lending/polite")
WRONG = case(LEND, BOOK, OWES, id="e")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file for cases."""
    return tmp_path / "cases.jsonl"


def write(file: Path, *rows: object) -> Path:
    file.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return file


def test_all_right_exits_0(file: Path) -> None:
    write(file, *RIGHT, APART)
    done = ledgeragent("test", "--domain", NAME, "--cases", file, "--format", "json")
    assert done.code == 0
    assert {key: done.json[key] for key in ("cases", "correct", "mismatches", "skipped")} == {
        "cases": 3,
        "correct": 3,
        "mismatches": [],
        "skipped": 0,
    }
    assert done.json["by_kind"]["missing"] == {"cases": 1, "correct": 1}
    apart = done.json["apart"]
    assert (apart["cases"], apart["correct"], apart["mismatches"][0]["id"]) == (1, 0, "d")


def test_a_mismatch_exits_1_and_is_told_with_what_was_read(file: Path) -> None:
    write(file, *RIGHT, WRONG)
    done = ledgeragent("test", "--domain", NAME, "--cases", file, "--format", "json")
    (row,) = done.json["mismatches"]
    assert done.code == 1
    assert set(row) == {
        "id",
        "kind",
        "expected",
        "decision",
        "predicates",
        "shadow",
        "reads",
        "reason",
        "evidence",
    }
    assert (row["id"], row["decision"], row["predicates"]) == ("e", "reject", ["lending/fines"])


def test_people_read_the_same(file: Path) -> None:
    write(file, *RIGHT, WRONG, APART)
    done = ledgeragent("test", "--domain", NAME, "--cases", file)
    assert done.code == 1
    for there in ("e: expected allow, got reject (lending/fines)", "2.50 are owed", "Apart"):
        assert there in done.out


def test_gzip_stdin_and_several_files(file: Path) -> None:
    rows = write(file, *RIGHT).read_bytes()
    zipped = file.with_suffix(".gz")
    zipped.write_bytes(gzip.compress(rows))
    flags = ("test", "--domain", NAME, "--format", "json", "--cases")
    assert ledgeragent(*flags, zipped).json["cases"] == 3
    assert ledgeragent(*flags, "-", stdin=rows).json["cases"] == 3
    assert ledgeragent(*flags, file, "--cases", zipped).json["cases"] == 6


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "the file is empty"),
        ("{\n", "cases.jsonl:1: not JSON"),
        ('{"id": "a"}\n', "cases.jsonl:1: not a labelled case: no 'call'"),
        (json.dumps({**WRONG, "domain": "retail"}), "no case of domain lending"),
    ],
    ids=["empty", "cut", "other", "foreign"],
)
def test_what_holds_no_case_exits_2_in_one_line(file: Path, content: str, told: str) -> None:
    file.write_text(content)
    done = ledgeragent("test", "--domain", NAME, "--cases", file)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert told in done.err


def test_a_missing_file_exits_2(tmp_path: Path) -> None:
    done = ledgeragent("test", "--domain", NAME, "--cases", tmp_path / "nowhere")
    assert done == (2, "", f"ledgeragent: error: {tmp_path}/nowhere: No such file or directory\n")


def test_the_cases_of_a_real_pack(data_dir: Path) -> None:
    file = data_dir / "benchmarks" / "cases" / "retail.jsonl.gz"
    done = ledgeragent("test", "--domain", "retail", "--cases", file, "--format", "json")
    assert (done.code, done.json["mismatches"]) == (0, [])
    assert done.json["apart"]["cases"] > 0
