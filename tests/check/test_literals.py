"""Constants that are no regular expression, time, duration or date; messages that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.check import findings_of
from tests.compiler.yaml_pack import outline_of, text_of

pytest.importorskip("cel_expr_python")


def told(tmp_path: Path, check: str, message: str = "no") -> list[tuple[str, int, str]]:
    outline = outline_of(tmp_path, text_of(check, more=f"    message: {message}\n"))
    ignored = ("missing-samples", "unproven", "write-without-rule")
    findings = (f for f in findings_of(outline) if f.code not in ignored)
    return [(f.code, f.place.line, f.message) for f in findings]


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("loan.loan_id.matches('[a')", "'[a' is no regular expression"),
        ("loan.loan_id.matches('a(?=b)')", "'a(?=b)' is no regular expression"),
        ("duration('3 days') > duration('1h')", "'3 days' is no duration such as 36h or 90m"),
        ("timestamp('yesterday') < date(loan.due_on)", "'yesterday' is no time such as"),
        ("date('2025-02-30') < date(loan.due_on)", "'2025-02-30' is no date such as"),
        ("days('tomorrow', loan.due_on) > 3", "'tomorrow' is no date such as"),
        ("loan.due_on < 'tomorrow'", "'tomorrow' is no date such as 2025-03-01, as loan.due_on is"),
        ("'01.03.2025' == loan.due_on", "'01.03.2025' is no date such as"),
    ],
)
def test_a_bad_constant_is_named_as_such(tmp_path: Path, check: str, message: str) -> None:
    ((code, line, text),) = told(tmp_path, check)
    assert (code, line) == ("bad-constant", 31)
    assert text.startswith(message)


@pytest.mark.parametrize(
    "check",
    [
        "loan.loan_id.matches('^L[0-9]+$')",
        "duration('36h') > duration('90m') || loan.fee > 1.0",
        "loan.due_on > '2025-01' && loan.due_on < '2026'",
        "date('2025-03-01T10:00:00Z') < date(loan.due_on)",
        "loan.status == 'out' || loan.loan_id == 'tomorrow'",
    ],
)
def test_none_is_invented(tmp_path: Path, check: str) -> None:
    assert told(tmp_path, check) == []


def test_a_date_and_a_timestamp_are_told_apart(tmp_path: Path) -> None:
    ((code, _, text),) = told(tmp_path, "loan.due_on < now")
    assert code == "type-error"
    assert "write date(...) around the text" in text


@pytest.mark.parametrize(
    ("message", "fits"),
    [
        ("'{loan.fee:.2f}'", True),
        ("'{loan.copies[0].price:.2f}'", True),
        ("'{loan.status:.2f}'", False),
        ("'{loan.due_on:.0f} {loan.fee}'", False),
        ("[{if: loan.fee > 1.0, say: '{loan.copies:.1f}'}]", False),
    ],
)
def test_a_number_is_written_for_numbers_alone(tmp_path: Path, message: str, fits: bool) -> None:
    assert [code for code, *_ in told(tmp_path, "loan.fee < 9.0", message)] == (
        [] if fits else ["bad-message"]
    )


@pytest.mark.parametrize("check", ["has(loan.extra)", "has(loan.desk.extra)", "!has(loan.extra)"])
def test_a_field_of_any_kind_may_be_null(tmp_path: Path, check: str) -> None:
    text = text_of(check).replace("    fee: float\n", "    fee: float\n    extra: any\n")
    text = text.replace("floor: int}", "floor: int, extra: any}")
    outline = outline_of(tmp_path, text)
    assert not [f for f in findings_of(outline) if f.code == "type-error"]
