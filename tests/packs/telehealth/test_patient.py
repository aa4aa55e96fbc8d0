"""Whose matter it is, and who may act for whom."""

from __future__ import annotations

import pytest

from ledgeragent.verdict import Decision
from tests.packs.telehealth.talk import (
    ANA,
    Talk,
    asked,
    details,
    profile,
    provider,
    record,
    violated,
)


def test_locating_somebody_else_later_does_not_hand_the_conversation_over() -> None:
    talk = Talk().located().located("tom_reed_3")
    talk.details(details(patient_id="tom_reed_3"))
    assert violated(talk.cancel()) == {"kinship-unknown"}
    assert not talk.cancel().missing
    assert talk.cancel().decision is Decision.REVISE
    assert "tom_reed_3" not in talk.cancel().feedback
    talk.profile(profile("tom_reed_3", "Tom Reed", "Eve Reed (Spouse)"), "tom_reed_3")
    verdict = talk.cancel()
    assert violated(verdict) == {"one-patient"}
    assert verdict.decision is Decision.BLOCK
    assert "tom_reed_3" not in verdict.feedback
    assert Talk().located().located("tom_reed_3").details(details()).cancel().allowed


def test_a_parent_books_for_a_child_whose_contact_they_are() -> None:
    child = profile("leo_lopez_2", "Leo Lopez", "Ana Lopez (Mother)")
    talk = Talk().located().provider(provider()).profile(child, "leo_lopez_2")
    assert asked(talk.book(patient_id="leo_lopez_2")) == {
        f'get_patient_details(patient_id="{ANA}")'
    }
    assert talk.profile(profile(), ANA).book(patient_id="leo_lopez_2").allowed


def test_a_lookup_by_name_is_enough_to_know_the_parent() -> None:
    child = profile("leo_lopez_2", "Leo Lopez", "ANA  LOPEZ (Parent)")
    talk = Talk().named().provider(provider()).profile(child, "leo_lopez_2")
    assert talk.book(patient_id="leo_lopez_2").allowed


def test_an_aged_parent_may_be_named_by_either_side() -> None:
    parent = profile("rosa_lopez_3", "Rosa Lopez", "Pia Roe (Sister)")
    talk = Talk().named().provider(provider()).profile(parent, "rosa_lopez_3")
    assert violated(talk.book(patient_id="rosa_lopez_3")) == {"one-patient"}
    talk.profile(profile(contact="Rosa Lopez (Mother)"), ANA)
    assert talk.book(patient_id="rosa_lopez_3").allowed


@pytest.mark.parametrize("contact", ["Ana Lopez (Spouse)", "Ana Lopes (Mother)", "Pia Roe (Son)"])
def test_others_are_strangers(contact: str) -> None:
    other = profile("leo_lopez_2", "Leo Lopez", contact)
    talk = Talk().named().provider(provider()).profile(other, "leo_lopez_2")
    assert violated(talk.book(patient_id="leo_lopez_2")) == {"one-patient"}


def test_the_owner_is_asked_for_before_a_note_is_written() -> None:
    verdict = Talk().located().judge("update_medical_record_note", record_id="REC900", note="x")
    assert asked(verdict) == {
        'get_medical_record(record_id="REC900")',
        f'list_patient_medical_records(patient_id="{ANA}")',
    }
    talk = Talk().located().prescriptions()
    assert talk.judge("update_medical_record_note", record_id="REC900", note="x").allowed


@pytest.mark.parametrize("tool", ["cancel_appointment", "update_medical_record_note"])
def test_a_record_of_a_stranger_is_refused_without_looking_further(tool: str) -> None:
    talk = Talk().located("tom_reed_3").details(details())
    talk.tool("get_medical_record", record(), record_id="REC900")
    called = {
        "cancel_appointment": {"appointment_id": "APPT900"},
        "update_medical_record_note": {"record_id": "REC900", "note": "x"},
    }
    verdict = talk.judge(tool, **called[tool])
    assert violated(verdict) == {"kinship-unknown"}
    assert not verdict.missing
    assert ANA not in verdict.feedback


def test_a_record_of_a_child_whose_profile_names_the_patient_may_be_changed() -> None:
    talk = Talk().named().details(details(patient_id="leo_lopez_2"))
    assert violated(talk.cancel()) == {"kinship-unknown"}
    child = profile("leo_lopez_2", "Leo Lopez", "Ana Lopez (Mother)")
    assert talk.profile(child, "leo_lopez_2").cancel().allowed


def test_for_whom_a_booking_is_has_to_be_located_before_their_profile_is_read() -> None:
    talk = Talk().named().provider(provider())
    unknown = talk.book(patient_id="leo_lopez_2")
    assert asked(unknown) == {"find_patient_by_email()", "find_patient_by_name_dob()"}
    assert (
        "find_patient_by_name_dob(first_name=?, last_name=?, date_of_birth=?)" in unknown.feedback
    )
    talk.located("leo_lopez_2")
    known = talk.book(patient_id="leo_lopez_2")
    assert asked(known) == {'get_patient_details(patient_id="leo_lopez_2")'}


def test_a_booking_for_nobody_is_refused() -> None:
    talk = Talk().located().profile("Patient with ID leo_lopez_2 not found.", "leo_lopez_2")
    assert violated(talk.provider(provider()).book(patient_id="leo_lopez_2")) == {"one-patient"}


def test_a_record_of_which_nobody_can_say_whose_it_is_stays_as_it_is() -> None:
    talk = Talk().located().details("Error: 'chief_complaint'")
    verdict = talk.list(f"No appointments found for patient {ANA}.").cancel()
    assert verdict.decision is Decision.BLOCK
    assert verdict.word == "UNDECIDED"


def test_nothing_else_is_told_while_it_is_open_whose_a_matter_is() -> None:
    talk = Talk().details(details(status="Completed"))
    assert {f.predicate for f in talk.cancel().findings} == {"telehealth/authenticated"}
    talk.located("tom_reed_3")
    assert {f.predicate for f in talk.cancel().findings} == {"telehealth/kinship-unknown"}
