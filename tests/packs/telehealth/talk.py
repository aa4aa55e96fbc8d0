"""Texts as the clinic's tools would print them, invented, and conversations."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path as File
from typing import Any

from ledgeragent.absorb import Absorption, absorb
from ledgeragent.gate import Gate
from ledgeragent.ledger import Entry, Ledger
from ledgeragent.packs import load_domain
from ledgeragent.paths import Path
from ledgeragent.types import ToolCall, ToolReturn
from ledgeragent.verdict import Verdict

CLINIC = load_domain("telehealth")
GATE = Gate(domain=CLINIC)
ANA = "ana_lopez_1"
BERG = "dr_berg_cardiology"


def profile(
    patient_id: str = ANA, name: str = "Ana Lopez", contact: str = "Rosa Lopez (Sister)"
) -> str:
    return (
        f"Patient Details for {name} (ID: {patient_id})\n\n"
        "Demographics:\n- Date of Birth: 1988-01-02\n- Gender: Female\n- Phone: \n"
        "- Email: ana@example.org\n\n"
        "Address:\n- 1 Elm Row\n- \n- Salem, OR 97301\n- USA\n\n"
        "Insurance:\n- Provider: Acme Health\n- Policy Number: AC-1\n"
        "- Primary Care Copay: $20.00\n- Specialist Copay: $1,045.50\n\n"
        "Medical History:\n- Conditions: Asthma, Migraine\n- Allergies: None\n"
        "- Current Medications: None\n\n"
        f"Emergency Contact:\n- {contact}\n- Phone: (555) 010-0002"
    )


def details(
    appointment_id: str = "APPT900",
    status: str = "Scheduled",
    notes: str = "Bring the log",
    patient_id: str = ANA,
    kind: str = "Follow Up",
) -> str:
    return (
        f"Appointment Details (ID: {appointment_id})\n\n"
        f"Patient: Ana Lopez (ID: {patient_id})\nProvider: Dr. Berg - Cardiology (ID: {BERG})\n\n"
        "Appointment Information:\n- Date: 2025-11-05\n- Time: 09:00\n- Duration: 30 minutes\n"
        f"- Type: {kind}\n- Status: {status}\n\n"
        f"Clinical Information:\n- Chief Complaint: Palpitations\n- Notes: {notes}\n\n"
        "Billing Information:\n- Insurance Authorization: AUTH1\n- Copay Amount: $45.00\n\n"
        f"Meeting Information:\n- Meeting Link: https://clinic.example/{appointment_id}"
    )


def listing(*rows: tuple[str, str], patient_id: str = ANA, time: str = "09:00") -> str:
    lines = [
        f"- {name}: 2025-11-05 at {time} with MD Berg (Cardiology) [{status}, Type: Follow Up]"
        for name, status in rows
    ]
    return "\n".join([f"Appointments for Ana Lopez (ID: {patient_id})", *lines])


def provider(schedule: str = "- Wednesday: 09:00, 10:00\n- Friday: 09:00") -> str:
    return (
        f"Provider Details (ID: {BERG})\n\nName: MD, FACC Ida Berg\nSpecialty: Cardiology\n"
        "License Number: MD1\nCredentials: MD, FACC\nYears of Experience: 9\n\n"
        "Contact Information:\n- Phone: (555) 010-0003\n- Email: berg@example.org\n\n"
        f"Languages: English, Danish\nConsultation Fee: $180.00\n\nWeekly Schedule:\n{schedule}"
    )


def roster(*ids: str) -> str:
    blocks = [
        f"• MD Ida Berg (ID: {name})\n  Specialty: Cardiology\n  Experience: 9 years\n"
        "  Languages: English\n  Consultation Fee: $180.00\n  Phone: (555) 010-0003"
        for name in ids
    ]
    return "\n\n".join(["Available Providers:", *blocks])


def record(plan: str = "Rest.", subjective: str = "Feels well.") -> str:
    return (
        "Medical Record (ID: REC900)\n"
        f"Patient: Ana Lopez (ID: {ANA})\nProvider: MD Ida Berg (ID: {BERG})\n"
        "Related Appointment: APPT900 on 2025-11-05 at 09:00\n"
        "Date: 2025-11-05\nType: consultation_note\n"
        f"Subjective: {subjective}\nObjective: Normal.\nAssessment: Stable.\nPlan: {plan}"
    )


def prescribed(medications: str = "Sertraline, Ibuprofen") -> str:
    return (
        "Medical records (newest first):\n"
        f"record_id=REC900 | date=2025-11-05 | appointment_id=None | medications={medications}"
    )


def scheduled(
    appointment_id: str = "APPT950", date: str = "2025-11-05", time: str = "10:00"
) -> str:
    return (
        f"Appointment successfully scheduled!\n\nAppointment ID: {appointment_id}\n"
        f"Patient: Ana Lopez\nProvider: Dr. Berg - Cardiology\nDate: {date}\nTime: {time}\n"
        "Type: Follow Up\nCopay: $45.00\nInsurance Authorization: AUTH2\n"
        f"Meeting Link: https://clinic.example/{appointment_id}\n\nPlease keep the ID."
    )


def rescheduled(date: str, time: str, appointment_id: str = "APPT900") -> str:
    return (
        f"Appointment successfully rescheduled.\n\nAppointment ID: {appointment_id}\n"
        "Patient: Ana Lopez\nProvider: Dr. Berg - Cardiology\n\n"
        f"Previous Date/Time: 2025-11-05 at 09:00\nNew Date/Time: {date} at {time}\n\n"
        f"Meeting Link: https://clinic.example/{appointment_id}\n\nPlease update your calendar."
    )


def calling(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=tool, arguments=arguments)


def booking(**changes: Any) -> ToolCall:
    call = {
        "patient_id": ANA,
        "provider_id": BERG,
        "date": "2025-11-05",
        "time": "10:00",
        "appointment_type": "follow_up",
    }
    return calling("schedule_appointment", **{**call, **changes})


def moving(appointment_id: str, date: str, time: str) -> ToolCall:
    slot = {"new_date": date, "new_time": time}
    return calling("reschedule_appointment", appointment_id=appointment_id, **slot)


def cancelling(appointment_id: str = "APPT900") -> ToolCall:
    return calling("cancel_appointment", appointment_id=appointment_id)


class Talk:
    """A conversation's ledger, fed with what the tools answered."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.last = Absorption(ledger=self.ledger)

    def tool(self, name: str, content: Any, **arguments: Any) -> Talk:
        call = ToolCall(name=name, arguments=arguments)
        self.last = absorb(self.ledger, call, ToolReturn(call_id="", content=content), CLINIC)
        self.ledger = self.last.ledger
        return self

    def located(self, patient_id: str = ANA) -> Talk:
        return self.tool("find_patient_by_email", patient_id, email="x@example.org")

    def named(self, patient_id: str = ANA) -> Talk:
        who = {"first_name": "Ana", "last_name": "Lopez", "date_of_birth": "1988-01-02"}
        return self.tool("find_patient_by_name_dob", patient_id, **who)

    def details(self, text: str, appointment_id: str = "APPT900") -> Talk:
        return self.tool("get_appointment_details", text, appointment_id=appointment_id)

    def list(self, text: str, patient_id: str = ANA, **narrowed: Any) -> Talk:
        return self.tool("list_patient_appointments", text, patient_id=patient_id, **narrowed)

    def provider(self, text: str, provider_id: str = BERG) -> Talk:
        return self.tool("get_provider_details", text, provider_id=provider_id)

    def profile(self, text: str, patient_id: str) -> Talk:
        return self.tool("get_patient_details", text, patient_id=patient_id)

    def prescriptions(self, text: str | None = None) -> Talk:
        listed = prescribed() if text is None else text
        return self.tool("list_patient_medical_records", listed, patient_id=ANA)

    def suppliers(self, text: str, **narrowed: Any) -> Talk:
        asked = {"medication": "Sertraline", **narrowed}
        return self.tool("list_medication_suppliers", text, **asked)

    def entry(self, path: str) -> Entry:
        entry = self.ledger.get(Path.parse(path))
        assert entry is not None
        return entry

    def done(self, call: ToolCall, content: str) -> Talk:
        return self.tool(call.name, content, **call.arguments)

    def judge(self, tool: str, **arguments: Any) -> Verdict:
        return GATE.judge(ToolCall(name=tool, arguments=arguments), self.ledger)

    def cancel(self, appointment_id: str = "APPT900") -> Verdict:
        return self.judge("cancel_appointment", appointment_id=appointment_id)

    def move(self, date: str = "2025-11-07", time: str = "09:00") -> Verdict:
        slot = {"new_date": date, "new_time": time}
        return self.judge("reschedule_appointment", appointment_id="APPT900", **slot)

    def book(self, **changes: Any) -> Verdict:
        call = booking(**changes)
        return self.judge(call.name, **call.arguments)

    def supply(self, **changes: Any) -> Verdict:
        call = {
            "record_id": "REC900",
            "medication": "Sertraline",
            "supplier_company": "Delta Labs",
            "brand_name": "Deltraline",
            "price_usd": 3.2,
        }
        return self.judge("update_prescription_supplier", **{**call, **changes})

    def transfer(self) -> Verdict:
        return self.judge("transfer_to_human_support", reason="please")


def violated(verdict: Verdict) -> set[str]:
    assert not verdict.errors
    return {finding.predicate.removeprefix("telehealth/") for finding in verdict.violations}


def asked(verdict: Verdict) -> set[str]:
    assert not verdict.errors
    return {str(read) for finding in verdict.missing for read in finding.reads}


def rows(file: File) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def answer(call: Mapping[str, Any]) -> Absorption:
    proposed = ToolCall(name=call["name"], arguments=call["kwargs"])
    return absorb(Ledger(), proposed, ToolReturn(call_id="", content=call["content"]), CLINIC)
