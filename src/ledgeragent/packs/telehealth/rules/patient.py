"""Whom a conversation serves: the patient located first, their children and their parents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.packs.telehealth.paths import APPOINTMENT, AUTH, PATIENT, RECORD
from ledgeragent.packs.telehealth.records import EmergencyContact
from ledgeragent.packs.telehealth.rules.known import (
    CANCEL,
    NOTE,
    RESCHEDULE,
    SCHEDULE,
    SUPPLIER,
    absent,
    appointment_reads,
    call_of,
    field,
    record_lists,
    same,
    seen,
    served,
)
from ledgeragent.paths import Path
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision

PARENTS = ("parent", "mother", "father", "guardian")
CHILDREN = ("child", "son", "daughter")


@predicate("telehealth/authenticated", guards=(SCHEDULE, CANCEL, RESCHEDULE, SUPPLIER, NOTE))
def authenticated(call: object, ledger: View) -> Broken | None:
    """The patient was located by email, or by name and birth date, before anything is changed."""
    _ = ledger[AUTH()]
    return None


@predicate(
    "telehealth/one-patient",
    guards=(SCHEDULE, CANCEL, RESCHEDULE, SUPPLIER, NOTE),
    decision=Decision.BLOCK,
)
def one_patient(call: Mapping[str, str], ledger: View) -> Broken | None:
    """Only matters of the patient are handled, and of a child or parent of theirs.

    Rejects: cancelling a friend's appointment. Allows: booking for a child whose emergency contact
    is the patient, as its parent.
    """
    patient = served(ledger)
    owner = _owner(call, patient, ledger) if patient is not None else None
    if patient is None or owner is None or owner == patient:
        return None
    if _is_family(owner, patient, ledger):
        return None
    return violation(
        "this belongs to another patient, and nothing observed shows them to be a child or parent of "
        "{patient}; only matters of {patient} can be handled here",
        patient=patient,
    )


def _owner(call: Mapping[str, str], patient: str, ledger: View) -> str | None:
    """Whose matter a call is, None if there is no such matter. Asks if it isn't known."""
    if "patient_id" in call:
        return call["patient_id"]
    path, reads = _subject(call, patient, ledger)
    owner: str | None = None if absent(ledger, path) else field(ledger, path, "patient_id", *reads)
    return owner


def _subject(
    call: Mapping[str, str], patient: str, ledger: View
) -> tuple[Path[Any], tuple[ToolCall, ...]]:
    """The appointment or medical record a call is about, and the reads that would show it."""
    if "appointment_id" in call:
        return APPOINTMENT(call["appointment_id"]), appointment_reads(call, patient, ledger)
    path = RECORD(call["record_id"])
    details = call_of("get_medical_record", record_id=call["record_id"])
    return path, (details, *record_lists(path, patient, ledger))


def _is_family(owner: str, patient: str, ledger: View) -> bool:
    """True if the emergency contact of one is the other, as a parent or child of theirs.

    Asks for the owner's profile, and for the patient's only if the owner names such a relative.
    """
    if absent(ledger, PATIENT(owner)):
        return False
    profile = ledger[PATIENT(owner)]
    contact = profile["emergency_contact"]
    if _is_relative(contact) and same(contact["name"], ledger[PATIENT(patient)]["name"]):
        return True
    own = ledger.get(PATIENT(patient))
    named = seen(own, "emergency_contact") if own is not None else None
    return named is not None and _is_relative(named) and same(named["name"], profile["name"])


def _is_relative(contact: EmergencyContact) -> bool:
    return contact["relationship"].casefold() in (*PARENTS, *CHILDREN)
