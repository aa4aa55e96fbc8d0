"""Medical records: what get_medical_record and list_patient_medical_records answer."""

from __future__ import annotations

import re

from ledgeragent.effects import Untyped
from ledgeragent.packs.telehealth.texts.common import ID, LINE, NONE, items, not_found, rows
from ledgeragent.types import Json

_RECORD = re.compile(
    rf"Medical Record \(ID: (?P<record_id>{ID})\)\n"
    rf"Patient: (?P<patient_name>{LINE}) \(ID: (?P<patient_id>{ID})\)\n"
    rf"Provider: (?P<provider>{LINE}) \(ID: (?P<provider_id>{ID})\)\n"
    rf"(?:Related Appointment: (?P<appointment_id>\S+){LINE}\n)?"
    rf"Date: (?P<date>{LINE})\nType: (?P<type>{LINE})\n"
)
_FINDINGS = re.compile(
    r"Subjective: (?>(?P<subjective>.*?)\nObjective: )(?>(?P<objective>.*?)\nAssessment: )"
    r"(?>(?P<assessment>.*?)\nPlan: )(?P<plan>.*)",
    re.DOTALL,
)
_LISTED = re.compile(
    r"record_id=(?P<record_id>[^|\s]+) \| date=(?P<date>\S+) \| "
    r"appointment_id=(?P<appointment_id>\S+) \| medications=(?P<medications>.*)"
)


_NO_SUCH = re.compile(r"No medical record found for [^\n]*\.")
_NONE_LISTED = re.compile(r"No medical records found for patient \S+\.")


def nothing_asked(text: str) -> bool:
    """True for the answer that a call named neither a record nor an appointment."""
    return text.startswith("Please provide ")


def medical_record(text: str) -> Json:
    """The record that get_medical_record prints. It doesn't say what is prescribed."""
    if not_found(text) or _NO_SUCH.fullmatch(text.strip()):
        return NONE
    head = _RECORD.match(text)
    if head is None:
        return Untyped(text)
    record = {"exists": True, **head.groupdict()}
    findings = _FINDINGS.match(text, head.end())
    if findings is not None:
        plan, _, advice = findings["plan"].partition("\nRecommendations:\n")
        recommendations = [line.removeprefix("- ") for line in advice.split("\n") if line]
        record |= findings.groupdict() | {"plan": plan, "recommendations": recommendations}
    return record


def record_list(text: str) -> Json:
    """The list that list_patient_medical_records prints, as `records`; perhaps there are none."""
    if _NONE_LISTED.fullmatch(text.strip()):
        return {"records": []}
    header, *lines = text.strip().split("\n")
    table = rows(lines, _LISTED)
    if not header.startswith("Medical records") or table is None:
        return Untyped(text)
    for row in table:
        related = row["appointment_id"]
        row["appointment_id"] = None if related == "None" else related
        row["medications"] = items(row["medications"])
    return {"records": [{"exists": True, **row} for row in table]}
