"""Where the clinic's reads land, what merges, and what its writes make unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledgeragent.paths import Path
from tests.packs.telehealth.talk import (
    ANA,
    BERG,
    Talk,
    asked,
    details,
    listing,
    profile,
    provider,
    record,
    roster,
    violated,
)

# What lands where


def test_text_that_cannot_be_read_is_kept_as_text() -> None:
    talk = Talk().located().details("The appointment is fine, trust me.\n- Status: Scheduled")
    assert not talk.entry("appointments.APPT900").typed
    assert "get_appointment_details" in str(asked(talk.cancel()))


def test_details_and_list_merge_by_field() -> None:
    talk = Talk().details(details()).list(listing(("APPT900", "Cancelled")))
    entry = talk.entry("appointments.APPT900")
    assert (entry.value["status"], entry.value["provider_id"]) == ("cancelled", BERG)
    assert entry.origin(("status",)).source.name == "list_patient_appointments"
    assert entry.origin(("provider_id",)).source.name == "get_appointment_details"
    back = talk.details(details(status="Scheduled")).entry("appointments.APPT900")
    assert back.value["status"] == "scheduled"


def test_a_list_of_providers_does_not_take_away_the_schedule() -> None:
    talk = Talk().provider(provider()).tool("list_available_providers", roster(BERG, "dr_other"))
    assert "schedule" in talk.entry(f"providers.{BERG}").value
    assert talk.entry("provider_list").value == {"provider_ids": [BERG, "dr_other"]}


def test_record_and_record_list_merge_by_field() -> None:
    talk = Talk().prescriptions().tool("get_medical_record", record(), record_id="REC900")
    value = talk.entry("records.REC900").value
    assert value["medications"] == ["Sertraline", "Ibuprofen"]
    assert value["plan"] == "Rest."


def test_an_empty_list_was_read_and_is_empty() -> None:
    talk = Talk().list(f"No appointments found for patient {ANA}.")
    assert talk.entry(f"appointment_lists.{ANA}").value["appointment_ids"] == []


def test_a_narrowed_list_is_kept_apart_from_the_whole() -> None:
    talk = Talk().list(listing(("APPT900", "Scheduled")), status_filter="scheduled")
    assert talk.ledger.get(Path.parse(f"appointment_lists.{ANA}")) is None
    assert talk.entry(f"appointment_lists.{ANA}.scheduled").value["appointment_ids"] == ["APPT900"]


def test_a_lookup_by_name_tells_the_name() -> None:
    talk = Talk().named()
    assert talk.entry(f"patients.{ANA}").value["name"] == "Ana Lopez"
    assert talk.profile(profile(), ANA).entry(f"patients.{ANA}").value["gender"] == "Female"


NO_ID = [["a"], {"a": 1}, 7, None, "two words", "", "Unavailable", "try_again", f"It is {ANA}."]


@pytest.mark.parametrize("content", NO_ID)
def test_odd_returns_locate_nobody(content: Any) -> None:
    talk = Talk().located(content).details(details())
    assert talk.ledger.get(Path.parse("auth.located")) is None
    assert not talk.entry("auth.patient_id").typed
    assert "find_patient_by_email()" in asked(talk.cancel())


@pytest.mark.parametrize("content", NO_ID)
def test_an_odd_return_does_not_change_whom_the_conversation_serves(content: Any) -> None:
    talk = Talk().located().located(content).located("tom_reed_3")
    talk.details(details(patient_id="tom_reed_3"))
    assert violated(talk.cancel()) == {"kinship-unknown"}


@pytest.mark.parametrize("content", [f'"{ANA}"', {"result": ANA}, f'{{"result": "{ANA}"}}'])
def test_a_wrapped_id_locates_as_a_plain_one_does(content: Any) -> None:
    assert Talk().located(content).details(details()).cancel().allowed


@pytest.mark.parametrize("content", [[], {"appointments": "x"}, 7, None, "No appointments? Odd."])
def test_odd_returns_of_a_list_say_nothing(content: Any) -> None:
    talk = Talk().list(content)
    assert not any(entry.typed for entry in talk.ledger)


def test_devices_and_their_uploads() -> None:
    shelf = "Telemetry devices:\nKIT-1 | status=available | last_audit=2025-07-01 | notes=a | b"
    night = {"device_id": "KIT-1", "date": "2025-07-02", "usage_hours": 0.0, "alerts": []}
    talk = Talk().tool("list_telemetry_devices", shelf)
    talk.tool("list_telemetry_uploads", json.dumps([night]), device_id="KIT-1")
    assert talk.entry("devices.KIT-1").value["notes"] == "a | b"
    assert talk.entry("uploads.KIT-1.2025-07-02").value == night
    on = {"device_id": "KIT-1", "date": "2025-07-03"}
    talk.tool("get_telemetry_upload", "No telemetry upload found.", **on)
    assert not talk.entry("uploads.KIT-1.2025-07-03").typed
    assert talk.tool("list_telemetry_devices", "Out of order").last.skipped


# What writes make unknown


REFUSALS = [
    "Cannot cancel appointment APPT900 - appointment has already been completed.",
    "Appointment APPT900 is already cancelled.",
    "Appointment with ID APPT900 not found.",
    "Error: 'status'",
]


@pytest.mark.parametrize("answer", REFUSALS)
def test_a_refused_write_changes_nothing(answer: str) -> None:
    talk = Talk().located().details(details())
    talk.tool("cancel_appointment", answer, appointment_id="APPT900")
    assert not talk.ledger.writes
    assert not talk.entry("appointments.APPT900").stale


def test_a_write_whose_answer_got_lost_may_have_happened() -> None:
    talk = Talk().located().details(details())
    talk.tool("cancel_appointment", "Error: timeout", appointment_id="APPT900")
    assert not talk.ledger.writes
    assert "get_appointment_details" in str(asked(talk.move()))


@pytest.mark.parametrize("answer", ["Appointment successfully cancelled.\n\n...", "Fine."])
def test_any_other_answer_counts_as_done(answer: str) -> None:
    talk = Talk().located().details(details())
    talk.tool("cancel_appointment", answer, appointment_id="APPT900")
    assert len(talk.ledger.writes) == 1
    assert f'list_patient_appointments(patient_id="{ANA}")' in asked(talk.move())
    assert not violated(talk.move())


def test_moving_leaves_the_status_known() -> None:
    talk = Talk().located().details(details())
    slot = {"new_date": "2025-11-07", "new_time": "09:00"}
    moved = {"appointment_id": "APPT900", **slot}
    talk.tool("reschedule_appointment", "Appointment successfully rescheduled.", **moved)
    stale = {mark.fields for mark in talk.entry("appointments.APPT900").stale}
    assert stale == {("date",), ("time",)}
    assert talk.cancel().allowed


def test_booking_makes_the_patients_list_and_the_absence_of_an_id_unknown() -> None:
    talk = Talk().located().details("Appointment with ID APPT900 not found.")
    talk.list(f"No appointments found for patient {ANA}.")
    assert violated(talk.cancel()) == {"cancel-status"}
    booking = {"patient_id": ANA, "provider_id": BERG, "date": "2025-11-05", "time": "09:00"}
    talk.tool("schedule_appointment", "Appointment successfully scheduled!", **booking)
    verdict = talk.cancel()
    assert not violated(verdict)
    assert f'list_patient_appointments(patient_id="{ANA}")' in asked(verdict)
    assert talk.list(listing(("APPT900", "Scheduled"))).cancel().allowed
