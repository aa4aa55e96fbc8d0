"""The clinic as the situations have it: what was read and may be called."""

from __future__ import annotations

from typing import Any

from ledgeragent.types import ToolCall
from tests.packs.telehealth.talk import (
    ANA,
    BERG,
    booking,
    calling,
    cancelling,
    details,
    listing,
    moving,
    prescribed,
    profile,
    provider,
)

from .rows import Answered, Step

HELLO = "Hello, my mail is ana@example.org"
KIM, LEO = "kim_stone_2", "leo_lopez_3"
CATALOG = (
    "Suppliers for Sertraline:\n"
    "Delta Labs (India) | brand=Deltraline | price_usd=3.20\n"
    "Fjord Pharma (Norway) | brand=Sertrafjord | price_usd=4.10"
)
NOBODY = "No patient found with email ana@example.org"


def find(answer: Any = ANA) -> Answered:
    return "find_patient_by_email", {"email": "ana@example.org"}, answer


def named(answer: Any = LEO, **who: Any) -> Answered:
    known = {"first_name": "Leo", "last_name": "Lopez", "date_of_birth": "2015-01-02", **who}
    return "find_patient_by_name_dob", known, answer


def shown(answer: Any = None, appointment_id: str = "APPT900") -> Answered:
    text = details(appointment_id) if answer is None else answer
    return "get_appointment_details", {"appointment_id": appointment_id}, text


def patient(patient_id: str, *text: str) -> Answered:
    return "get_patient_details", {"patient_id": patient_id}, profile(patient_id, *text)


def doctor(answer: Any = None, id: str = BERG) -> Answered:
    return "get_provider_details", {"provider_id": id}, provider() if answer is None else answer


def own(*rows: tuple[str, str], **more: Any) -> Answered:
    return "list_patient_appointments", {"patient_id": ANA, **more}, listing(*rows)


BOOK, MOVE, CANCEL = booking(), moving("APPT900", "2025-11-07", "09:00"), cancelling()
SUPPLY = calling(
    "update_prescription_supplier",
    record_id="REC900",
    medication="Sertraline",
    supplier_company="Delta Labs",
    brand_name="Deltraline",
    price_usd=3.2,
)
NOTE = calling("update_medical_record_note", record_id="REC900", note="called back")
HAND = ToolCall(name="transfer_to_human_support", arguments={"reason": "video does not work"})
ME, SHOWN, DOCTOR = find(), shown(), doctor()
KNOWN: tuple[Step, ...] = (HELLO, ME, DOCTOR)
RECORDS: Answered = ("list_patient_medical_records", {"patient_id": ANA}, prescribed())
SUPPLIERS: Answered = ("list_medication_suppliers", {"medication": "Sertraline"}, CATALOG)
GONE = "Appointment successfully cancelled.\n\nAppointment ID: APPT900"
