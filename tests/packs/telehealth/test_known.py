"""What is known of a record that was not printed, and what is asked for then."""

from __future__ import annotations

from ledgeragent.ledger import Stale
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Kind
from tests.packs.telehealth.talk import (
    ANA,
    BERG,
    Talk,
    asked,
    booking,
    details,
    listing,
    profile,
    roster,
    scheduled,
    violated,
)

NOTE = {"record_id": "REC900", "note": "x"}


def test_nobody_found_is_a_failure() -> None:
    talk = Talk().located("No patient found with email: x@example.org").details(details())
    assert talk.last.stored
    assert "find_patient_by_email()" in asked(talk.cancel())


def test_a_failure_that_quotes_a_record_proves_nothing_of_another_one() -> None:
    quoted = '{"appointment_id": "APPT900", "status": "scheduled"}'
    text = f"Appointment with ID {quoted} not found."
    talk = Talk().located().details(text, appointment_id=quoted)
    assert 'get_appointment_details(appointment_id="APPT900")' in asked(talk.cancel())


def test_not_found_proves_that_there_is_none() -> None:
    talk = Talk().located().provider("Provider with ID dr_nemo not found.", "dr_nemo")
    assert violated(talk.book(provider_id="dr_nemo")) == {"provider-exists"}
    assert not talk.book(provider_id="dr_nemo").missing


def test_the_whole_list_proves_it_too_and_a_narrowed_one_does_not() -> None:
    narrowed = Talk().located().tool("list_available_providers", roster(BERG), specialty="X")
    assert not violated(narrowed.book(provider_id="dr_nemo"))
    whole = narrowed.tool("list_available_providers", roster(BERG))
    assert violated(whole.book(provider_id="dr_nemo")) == {"provider-exists"}


def test_a_provider_that_cannot_be_printed_ends_the_demand() -> None:
    talk = Talk().located()
    assert asked(talk.book()) == {f'get_provider_details(provider_id="{BERG}")'}
    verdict = talk.provider("Error: 'license_number'").book()
    assert verdict.allowed
    assert [f.kind for f in verdict.shadow] == [Kind.UNDECIDED]


def test_it_ends_the_demand_for_that_provider_only() -> None:
    talk = Talk().located().provider("Error: 'license_number'", "dr_other")
    assert asked(talk.book()) == {f'get_provider_details(provider_id="{BERG}")'}


def test_another_error_does_not_end_the_demand() -> None:
    assert asked(Talk().located().provider("Error: timeout").book())


def test_an_appointment_that_cannot_be_printed_is_known_from_the_list() -> None:
    talk = Talk().located().details("Error: 'chief_complaint'")
    assert asked(talk.cancel()) == {f'list_patient_appointments(patient_id="{ANA}")'}
    assert talk.list(listing(("APPT900", "Scheduled"))).cancel().allowed
    moved = talk.move()
    assert moved.allowed
    assert {f.kind for f in moved.shadow} == {Kind.UNDECIDED}


def test_no_list_is_asked_for_again_that_lacks_the_appointment() -> None:
    talk = Talk().located().list(listing(("APPT901", "Scheduled")))
    assert asked(talk.cancel()) == {'get_appointment_details(appointment_id="APPT900")'}


CHILD = "leo_lopez_2"


def overtaken(book: ToolCall, *listed: tuple[str, str]) -> Talk:
    """A child's booking, told of late, whose details can't be printed."""
    leo = profile(CHILD, "Leo Lopez", "Ana Lopez (Mother)")
    talk = Talk().named().profile(leo, CHILD).details("Error: 'chief_complaint'", "APPT950")
    talk.done(book, scheduled())
    late = talk.entry("appointments.APPT950").marked([Stale((), book)])
    talk.ledger = talk.ledger.put(late)
    return talk.list(listing(*listed, patient_id=CHILD), CHILD) if listed else talk


def test_an_appointment_is_looked_for_in_the_list_of_the_patient_it_was_seen_with() -> None:
    book = booking(patient_id=CHILD)
    assert asked(overtaken(book).cancel("APPT950")) == {
        f'list_patient_appointments(patient_id="{CHILD}")'
    }
    assert overtaken(book, ("APPT950", "Scheduled")).cancel("APPT950").allowed


def test_a_list_that_lacks_what_was_seen_before_ends_the_search() -> None:
    talk = overtaken(booking(patient_id=CHILD), ("APPT901", "Scheduled"))
    verdict = talk.cancel("APPT950")
    assert not verdict.missing
    assert verdict.word == "UNDECIDED"


def test_a_list_that_is_asked_for_is_the_whole_one() -> None:
    told = Talk().located().details("Busy.").cancel().feedback
    assert f'list_patient_appointments(patient_id="{ANA}") first' in told
    assert "?" not in told
    assert "?" not in Talk().located().judge("update_medical_record_note", **NOTE).feedback
