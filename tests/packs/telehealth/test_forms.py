"""Forms that are declared: arguments, statuses, and answers in wrappings."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.packs.telehealth.talk import Talk, asked, details, listing, provider, scheduled, violated


def refused(**changes: Any) -> str:
    verdict = Talk().located().provider(provider()).book(**changes)
    assert [f.predicate for f in verdict.findings] == ["gate/arguments"]
    return verdict.feedback


@pytest.mark.parametrize("value", ["false", "true", "no", "", 0, 1, None, [], {}])
def test_only_true_and_false_say_whether_insurance_is_billed(value: Any) -> None:
    assert "bill_insurance should be true or false" in refused(bill_insurance=value)


@pytest.mark.parametrize("name", ["voucher_id", "payment_notes"])
@pytest.mark.parametrize("value", [7, True, ["V9"], {"id": "V9"}])
def test_an_optional_text_is_text_or_nothing(name: str, value: Any) -> None:
    assert f"{name} should be text" in refused(**{name: value})
    assert Talk().located().provider(provider()).book(**{name: None}).allowed


@pytest.mark.parametrize("name", ["patient_id", "provider_id", "date", "time", "appointment_type"])
@pytest.mark.parametrize("value", [None, 20251105, False, ["x"]])
def test_a_text_is_text(name: str, value: Any) -> None:
    assert f"{name} should be text" in refused(**{name: value})


def test_all_that_is_wrong_with_arguments_is_told_at_once() -> None:
    told = refused(date=20251105, bill_insurance="false")
    assert "date should be text" in told
    assert "bill_insurance should be" in told


def test_arguments_may_be_left_out() -> None:
    talk = Talk().located().provider(provider())
    assert talk.book().allowed
    assert talk.book(bill_insurance=False, voucher_id="V9", payment_notes="x").allowed


ODD = ["SCHEDULED", "Scheduled.", "It is scheduled", "Confirmed", "", "Scheduled\x00"]


@pytest.mark.parametrize("status", ODD)
def test_a_status_in_another_form_is_no_evidence(status: str) -> None:
    for talk in (
        Talk().located().details(details(status=status)),
        Talk().located().list(listing(("APPT900", status))),
    ):
        verdict = talk.cancel()
        assert not verdict.allowed
        assert not violated(verdict)
        assert 'get_appointment_details(appointment_id="APPT900")' in asked(verdict)


@pytest.mark.parametrize("status", ["COMPLETED", "Completed!", "Already completed"])
def test_nothing_is_asserted_of_a_status_in_another_form(status: str) -> None:
    talk = Talk().located().details(details(status=status))
    assert not violated(talk.cancel())


def wrapped(text: str) -> list[Any]:
    return [
        json.dumps(text),
        json.dumps({"result": text}),
        {"result": text},
        [{"type": "text", "text": text}],
        json.dumps(json.dumps(text)),
    ]


@pytest.mark.parametrize("content", wrapped(details()))
def test_wrapped_details_are_read_as_plain_ones(content: Any) -> None:
    assert Talk().located().details(content).cancel().allowed


@pytest.mark.parametrize("content", wrapped(details(status="Completed")))
def test_wrapped_details_are_as_strict_as_plain_ones(content: Any) -> None:
    assert violated(Talk().located().details(content).cancel()) == {"cancel-status"}


@pytest.mark.parametrize("content", wrapped(scheduled()))
def test_a_wrapped_confirmation_is_read_as_a_plain_one(content: Any) -> None:
    talk = Talk().located().provider(provider())
    talk.tool("schedule_appointment", content, **dict(talk.book().call.arguments))
    assert talk.entry("appointments.APPT950").value["status"] == "scheduled"


@pytest.mark.parametrize("content", wrapped("Appointment APPT900 is already cancelled."))
def test_a_wrapped_refusal_is_a_refusal(content: Any) -> None:
    talk = Talk().located().details(details())
    talk.tool("cancel_appointment", content, appointment_id="APPT900")
    assert not talk.ledger.writes


@pytest.mark.parametrize(
    "text",
    [
        "No appointments found for patient ana_lopez_1, the index is being rebuilt",
        "No appointments found for patient ana_lopez_1.\nTry again",
        "no appointments found",
    ],
)
def test_a_list_is_empty_only_if_that_is_all_it_says(text: str) -> None:
    talk = Talk().located().list(text)
    assert not talk.entry("appointment_lists.ana_lopez_1").typed


def test_an_empty_list_of_one_status_is_not_an_empty_list() -> None:
    talk = Talk().located()
    talk.list("No appointments found for patient ana_lopez_1 with status x.", status_filter="x")
    assert 'list_patient_appointments(patient_id="ana_lopez_1")' in asked(talk.cancel())


def test_a_record_that_is_not_there_is_known_not_to_be() -> None:
    talk = Talk().located()
    talk.tool("get_medical_record", "Medical record with ID REC900 not found.", record_id="REC900")
    assert violated(talk.supply()) == {"medication-in-record"}
