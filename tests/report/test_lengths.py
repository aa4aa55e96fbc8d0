"""No report for people is drowned by what a model or a record holds; JSON has all of it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.cli.main import main
from ledgeragent.report.parts import RECORD, SENTENCE, fact_lines, shorten
from tests.cli.branches import NAME
from tests.cli.command import BOOK, MEMBER, called, jsonl, lend, run
from tests.lending.domain import ADA

LONG = "x" * 10_000
"""What every name, id and text of these runs is."""


def _lend(days: int, **more: Any) -> list[Any]:
    return called("lend_book", {"member_id": LONG, "book_id": "B1", "days": days, **more}, LONG)


OWES = called(
    "get_member", {"member_id": LONG}, {**ADA, "member_id": LONG, "fines": 2.5, "name": LONG}
)
RUNS = [
    run(f"1{LONG}", BOOK, OWES, _lend(99, **{LONG: LONG}), task_id=LONG, reward=1.0),
    run(
        f"2{LONG}",
        called(LONG, {LONG: LONG}, LONG),
        BOOK,
        OWES,
        _lend(5),
        reward=1.0,
        benchmark=LONG,
    ),
    run(f"3{LONG}", called("move_member", {"member_id": LONG, "city": LONG}, "moved")),
    run(f"4{LONG}", called("shelve_book", {"book_id": LONG}, "shelved"), reward=0.0),
    run(f"5{LONG}", BOOK, OWES, called("lend_book", f'{{"member_id": "{LONG}', "lent")),
    run(f"6{LONG}", BOOK, MEMBER, lend(20)),
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The runs."""
    target = tmp_path / "runs.jsonl"
    target.write_text(jsonl(*RUNS))
    return target


def longest(text: str) -> int:
    """The most that stands in a text of what is long."""
    return max(map(len, re.findall("x+", text)), default=0)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """What the command prints, errors too."""
    main([*map(str, arguments)])
    out, err = capsys.readouterr()
    return out + err


@pytest.mark.parametrize("format", ["text", "junit", "json"])
@pytest.mark.parametrize("verb", ["replay", "diff", "test"])
def test_a_report_has_what_is_long_in_part_and_json_in_whole(
    verb: str, format: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given: dict[str, list[str | Path]] = {
        "replay": [file, "--domain", NAME],
        "diff": [file, "--domain", f"{NAME}@tau2", "--against", f"{NAME}@tau"],
        "test": ["--domain", NAME, "--cases", _cases(file)],
    }
    if verb == "test" and format == "junit":
        pytest.skip("cases have no such report")
    report = printed(capsys, verb, *given[verb], "--format", format)
    if format == "json":
        assert longest(report) >= len(LONG)
    else:
        assert 100 < longest(report) <= SENTENCE
        assert len(report) < 4 * len(LONG)


def _cases(file: Path) -> Path:
    """A case that is judged otherwise than its label says."""
    read = {"name": LONG, "arguments": {LONG: LONG}}
    expect = {"decision": "revise_read", "clause": LONG, "read": read}
    row = {
        "id": LONG,
        "kind": LONG,
        "domain": "lending",
        "clause": None,
        "messages": RUNS[0]["messages"][:5],
        "call": {
            "name": "lend_book",
            "arguments": {"member_id": LONG, "book_id": LONG, LONG: LONG},
        },
        "expect": expect,
    }
    target = file.with_name("cases.jsonl")
    target.write_text(jsonl(row))
    return target


@pytest.mark.parametrize("number", range(1, 7))
def test_an_explanation_has_what_is_long_in_part(
    number: int, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = f"{file}#{number}{LONG}:1"
    text = printed(capsys, "explain", place, "--domain", NAME)
    assert f"Judged call 1 of run {number}xxx" in text
    assert 100 < longest(text) <= RECORD and len(text) < 4 * len(LONG)
    whole = json.loads(printed(capsys, "explain", place, "--domain", NAME, "--format", "json"))
    assert whole["run"] == f"{number}{LONG}"


def test_an_error_of_explain_does_not_print_what_is_long_either(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in (f"{file}#nobody:1", f"{file}#1{LONG}:9"):
        assert longest(printed(capsys, "explain", place, "--domain", NAME)) <= SENTENCE


@pytest.mark.parametrize("verb", ["replay", "explain"])
def test_neither_does_the_warning_of_a_broken_record(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_text(jsonl({"id": LONG, "messages": [{"role": LONG, "content": LONG}]}))
    place = file if verb == "replay" else f"{file}#{LONG}:1"
    assert 50 < longest(printed(capsys, verb, place, "--domain", NAME)) < 100


def test_only_the_first_of_very_many_facts_are_listed() -> None:
    read = {"name": "get_book", "arguments": {"book_id": "B1"}}
    facts = [{"path": f"books.B{i}", "value": i, "read": read, "turn": 1} for i in range(1_000)]
    lines = list(fact_lines(facts))
    assert len(lines) == 41 and lines[-1] == "960 more, all with --format json"
    assert list(fact_lines(facts[:1], turns=True)) == [
        'books.B0 = 0, from get_book(book_id="B1"), turn 1'
    ]


@pytest.mark.parametrize("text", ["", "x" * 120, "x" * 121, "\n" * 10_000, "\u202e" * 119, LONG])
def test_what_is_cut_is_one_line_of_that_length_and_says_so(text: str) -> None:
    shown = shorten(text)
    assert len(shown) <= 123 and "\n" not in shown
    assert shown.endswith("...") is (len(shown) > 120)
