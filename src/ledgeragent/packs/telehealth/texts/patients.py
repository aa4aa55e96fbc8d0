"""Patients: what the two lookups and get_patient_details answer."""

from __future__ import annotations

import re

from ledgeragent.effects import Untyped, matching
from ledgeragent.packs.telehealth.texts.common import (
    DOLLARS,
    ID,
    LINE,
    NONE,
    amount,
    items,
    not_found,
)
from ledgeragent.types import Json

_PATIENT = re.compile(
    rf"Patient Details for (?P<name>{LINE}) \(ID: (?P<patient_id>{ID})\)\n\n"
    rf"Demographics:\n- Date of Birth: (?P<date_of_birth>{LINE})\n- Gender: ?(?P<gender>{LINE})\n"
    rf"- Phone: ?(?P<phone>{LINE})\n- Email: ?(?P<email>{LINE})\n\n"
    rf"Address:\n(?P<address>(?:- ?{LINE}\n)+)\n"
    rf"Insurance:\n- Provider: (?P<insurer>{LINE})\n- Policy Number: (?P<policy>{LINE})\n"
    rf"- Primary Care Copay: (?P<primary>{DOLLARS})\n- Specialist Copay: (?P<specialist>{DOLLARS})\n\n"
    rf"Medical History:\n- Conditions: (?P<conditions>{LINE})\n- Allergies: (?P<allergies>{LINE})\n"
    rf"- Current Medications: (?P<current_medications>{LINE})\n\n"
    rf"Emergency Contact:\n- (?P<contact>{LINE}) \((?P<relationship>{ID})\)\n"
    rf"- Phone: ?(?P<contact_phone>{LINE})"
)
_PLAIN = ("patient_id", "name", "date_of_birth", "gender", "phone", "email")
_LISTED = ("conditions", "allergies", "current_medications")


def nobody(text: str) -> bool:
    """True for the answer that a lookup found nobody."""
    return text.startswith("No patient found")


located = matching(r"[A-Za-z][A-Za-z0-9.'-]*(?:_[A-Za-z0-9.'-]+)*_[0-9]+", "one patient id")
"""The id that a lookup answers with; ValueError for anything else."""


def patient(text: str) -> Json:
    """The profile that get_patient_details prints."""
    if not_found(text):
        return NONE
    match = _PATIENT.fullmatch(text.strip())
    if match is None:
        return Untyped(text)
    lines = match["address"].split("\n")
    return {
        "exists": True,
        **{name: match[name] for name in _PLAIN},
        **{name: items(match[name]) for name in _LISTED},
        "address": [line[2:] for line in lines if line[2:].strip()],
        "insurance": {
            "provider": match["insurer"],
            "policy_number": match["policy"],
            "primary_care_copay": amount(match["primary"]),
            "specialist_copay": amount(match["specialist"]),
        },
        "emergency_contact": {
            "name": match["contact"],
            "relationship": match["relationship"],
            "phone": match["contact_phone"],
        },
    }
