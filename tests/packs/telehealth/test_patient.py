"""Whose matter it is, and who may act for whom."""

from __future__ import annotations

import pytest

from ledgeragent.verdict import Decision
from tests.packs.telehealth.talk import ANA, Talk, asked, details, profile, provider, violated


def test_locating_somebody_else_later_does_not_hand_the_conversation_over() -> None:
    talk = Talk().located().located("tom_reed_3")
    talk.details(details(patient_id="tom_reed_3"))
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
