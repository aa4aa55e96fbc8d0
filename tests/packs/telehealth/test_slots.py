"""Dates, times and slots of appointments."""

from __future__ import annotations

import pytest

from tests.packs.telehealth.talk import Talk, details, listing, provider, violated


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


def test_a_slot_taken_by_an_observed_appointment() -> None:
    talk = Talk().located().provider(provider()).details(details())
    assert violated(talk.book(time="09:00")) == {"slot-conflict"}
    assert talk.details(details(status="Cancelled")).book(time="09:00").allowed


def test_a_slot_conflict_is_never_asked_about() -> None:
    talk = Talk().located().provider(provider()).list(listing(("APPT900", "Scheduled")))
    assert talk.book(time="09:00").allowed
    talk.details(details())
    talk.tool("cancel_appointment", "Appointment successfully cancelled.", appointment_id="APPT900")
    assert talk.book(time="09:00").allowed


def test_an_appointment_is_not_in_its_own_way() -> None:
    talk = Talk().located().provider(provider()).details(details())
    assert talk.move("2025-11-05", "09:00").allowed


def test_a_type_off_the_list_is_only_recorded() -> None:
    verdict = Talk().located().provider(provider()).book(appointment_type="device_inspection")
    assert verdict.allowed
    assert [f.predicate for f in verdict.shadow] == ["telehealth/appointment-type"]


def test_arguments_may_be_left_out_or_empty() -> None:
    talk = Talk().located().provider(provider())
    assert talk.book(bill_insurance=None, voucher_id=None).allowed
    assert talk.book(bill_insurance=False, payment_notes="x").allowed
