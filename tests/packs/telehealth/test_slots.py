"""Dates, times and slots of appointments."""

from __future__ import annotations

import pytest

from tests.packs.telehealth.talk import Talk, details, provider, violated


@pytest.mark.parametrize(
    "date", ["next Wednesday", "11/05/2025", "2025-11-31", "20251105", "２０２５-11-05"]
)
def test_dates_that_are_none(date: str) -> None:
    assert violated(Talk().located().provider(provider()).book(date=date)) == {"date-time-format"}


@pytest.mark.parametrize("time", ["9:00", "2:30 PM", "24:00", "10:00:00", "10.00", "10:00\n"])
def test_times_that_are_none(time: str) -> None:
    assert violated(Talk().located().provider(provider()).book(time=time)) == {"date-time-format"}


def test_the_schedule_read_last_counts() -> None:
    talk = Talk().located().provider(provider())
    assert talk.book().allowed
    verdict = talk.provider(provider("- Wednesday: 09:00\n- Friday: ")).book()
    assert violated(verdict) == {"provider-availability"}
    assert "09:00" in verdict.feedback
    assert violated(talk.book(date="2025-11-07")) == {"provider-availability"}


def test_a_type_off_the_list_is_only_recorded() -> None:
    verdict = Talk().located().provider(provider()).book(appointment_type="device_inspection")
    assert verdict.allowed
    assert [f.predicate for f in verdict.shadow] == ["telehealth/appointment-type"]


def test_a_slot_that_cannot_be_is_told_with_its_argument() -> None:
    talk = Talk().located().provider(provider()).details(details())
    assert (
        "new_time must be 09:00 or 10:00 on that day" in talk.move("2025-11-05", "11:00").feedback
    )
    assert "new_date must fall on Wednesday or Friday" in talk.move("2025-11-08").feedback
    assert (
        'date must be a date of the calendar written YYYY-MM-DD, such as 2025-11-05, not "soon"'
        in (talk.book(date="soon").feedback)
    )
