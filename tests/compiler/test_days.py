"""Dates that a record or a call declares: anything else is no evidence, or refused by name."""

from __future__ import annotations

from typing import TypedDict

import pytest

from ledgeragent.arguments import reader
from ledgeragent.compiler.day import Day
from ledgeragent.compiler.shapes import SCALARS, annotation, mismatches, shape_of
from ledgeragent.shape import shape_of as record_shape

DAYS = [
    "2025-03-01",
    "2024-02-29",
    "2025-03-01T10:00:00",
    "2025-03-01T10:00:00Z",
    "2025-03-01 10:00",
]
NO_DAYS = [
    "",
    "soon",
    "2025-02-30",
    "2025-3-1",
    "20250301",
    "2025-W10-1",
    "01.03.2025",
    "2025-03-01 x",
]


class Loan(TypedDict):
    due_on: Day


@pytest.mark.parametrize("value", [*DAYS, *NO_DAYS, None, 20250301, True, ["2025-03-01"]])
def test_only_a_date_is_a_date_wherever_it_is_declared(value: object) -> None:
    is_right = value in DAYS
    objections: list[str] = []
    reader(Loan)({"due_on": value}, "", objections)
    assert (not objections) is is_right
    assert (record_shape(Loan).objection({"due_on": value}, "") == "") is is_right
    assert (not list(mismatches(value, SCALARS["date"]))) is is_right


def test_what_is_expected_is_told_with_the_place() -> None:
    objections: list[str] = []
    reader(Loan)({"due_on": "soon"}, "loan", objections)
    assert objections == ["loan.due_on should be a date such as 2025-03-01, not 'soon'"]


def test_a_date_is_one_in_both_kinds_of_packs() -> None:
    assert annotation(SCALARS["date"]) is Day
    assert shape_of(Day) == SCALARS["date"]
