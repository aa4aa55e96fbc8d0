"""Appointments: what the tools that show and change them answer."""

from __future__ import annotations

import re

from ledgeragent.effects import Untyped
from ledgeragent.packs.telehealth.texts.common import (
    DOLLARS,
    ID,
    LINE,
    NONE,
    amount,
    not_found,
    rows,
    words,
)
from ledgeragent.types import Json

_APPOINTMENT = re.compile(
    rf"Appointment Details \(ID: (?P<appointment_id>{ID})\)\n\n"
    rf"Patient: (?P<patient_name>{LINE}) \(ID: (?P<patient_id>{ID})\)\n"
    rf"Provider: (?P<provider>{LINE}) \(ID: (?P<provider_id>{ID})\)\n\n"
    rf"Appointment Information:\n- Date: (?P<date>{LINE})\n- Time: (?P<time>{LINE})\n"
    rf"- Duration: (?P<duration_minutes>[0-9]+) minutes\n- Type: (?P<type>{LINE})\n"
    rf"- Status: (?P<status>{LINE})\n\nClinical Information:\n"
)
_CLINICAL = re.compile(
    r"- Chief Complaint: (?>(?P<chief_complaint>.*?)\n- Notes: )"
    r"(?>(?P<notes>.*?)\n\nBilling Information:\n)"
    rf"- Insurance Authorization: (?P<insurance_authorization>{LINE})\n"
    rf"- Copay Amount: (?P<copay>{DOLLARS})\n\n"
    rf"Meeting Information:\n- Meeting Link: (?P<meeting_link>{LINE})",
    re.DOTALL,
)
_HEADER = re.compile(
    rf"Appointments for (?P<patient_name>{LINE}) \(ID: (?P<patient_id>{ID})\)(?: with status .*)?"
)
_LISTED = re.compile(
    r"- (?P<appointment_id>[^:\s]+): (?P<date>\S+) at (?P<time>\S+) with "
    r"(?P<provider>.* \([^()]*\)) \[(?P<status>[^,\[\]]*), Type: (?P<type>[^\[\]]*)\]"
)
_NONE_LISTED = re.compile(r"No appointments found for patient \S+(?: with status .*)?\.")
_SCHEDULED = re.compile(
    rf"Appointment successfully scheduled!\n\nAppointment ID: (?P<appointment_id>{ID})\n"
    rf"Patient: (?P<patient_name>{LINE})\nProvider: (?P<provider>{LINE})\n"
    rf"Date: (?P<date>{LINE})\nTime: (?P<time>{LINE})\nType: (?P<type>{LINE})\n"
)
_RESCHEDULED = re.compile(
    rf"Appointment successfully rescheduled\.\n\nAppointment ID: (?P<appointment_id>{ID})\n"
    rf"Patient: {LINE}\nProvider: {LINE}\n\nPrevious Date/Time: {LINE}\n"
    r"New Date/Time: (?P<date>\S+) at (?P<time>\S+)\n"
)
_REFUSED = re.compile(
    r"Cannot (?:cancel|reschedule) appointment .*"
    r"|Appointment \S+ is already cancelled\."
    r"|Invalid (?:date|time) .*"
    r"|Provider \S+ (?:is not available|does not work|already has an appointment) .*"
)


def write_failed(text: str) -> bool:
    """True for the answers with which the tools refuse to book, move or cancel."""
    return not_found(text) or _REFUSED.fullmatch(text.strip()) is not None


def appointment(text: str) -> Json:
    """The appointment that get_appointment_details prints: its section decides date, time and status."""
    if not_found(text):
        return NONE
    head = _APPOINTMENT.match(text)
    if head is None:
        return Untyped(text)
    record = {
        **head.groupdict(),
        "exists": True,
        "duration_minutes": int(head["duration_minutes"]),
        "status": words(head["status"]),
        "type": words(head["type"]),
    }
    rest = _CLINICAL.match(text, head.end())
    if rest is not None:
        record |= rest.groupdict() | {"copay": amount(rest["copay"])}
    return record


def scheduled(text: str) -> Json:
    """The appointment that schedule_appointment confirms; ValueError for any other answer."""
    match = _SCHEDULED.match(text)
    if match is None:
        raise ValueError("the booking is not confirmed in the words that are known")
    return {
        **match.groupdict(),
        "exists": True,
        "status": "scheduled",
        "type": words(match["type"]),
    }


def rescheduled(text: str) -> Json:
    """The appointment that reschedule_appointment confirms; ValueError for any other answer."""
    match = _RESCHEDULED.match(text)
    if match is None:
        raise ValueError("the move is not confirmed in the words that are known")
    return match.groupdict()


def appointment_list(text: str) -> Json:
    """The list that list_patient_appointments prints, as `appointments`; perhaps there are none."""
    if _NONE_LISTED.fullmatch(text.strip()):
        return {"appointments": []}
    first, *lines = text.strip().split("\n")
    header, table = _HEADER.fullmatch(first), rows(lines, _LISTED)
    if header is None or table is None:
        return Untyped(text)
    for row in table:
        row |= {"exists": True, "status": words(row["status"]), "type": words(row["type"])}
    return {"appointments": [{**header.groupdict(), **row} for row in table]}
