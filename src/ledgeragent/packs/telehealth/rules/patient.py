"""Whom a conversation serves: the patient located first, their children and their parents.

Whose a matter is comes before everything else: while it is open, nothing of a record is told. A
record that is known to be another patient's is refused as it stands. Nobody is sent to read on in a
stranger's records, so kinship counts where it was observed, in a profile that was read.
"""

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
    located,
    record_lists,
    same,
    seen,
    served,
)
from ledgeragent.paths import Path
from ledgeragent.predicates import Broken, View, demand, predicate, violation
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision

PARENTS = ("parent", "mother", "father", "guardian")
CHILDREN = ("child", "son", "daughter")


@predicate(
    "telehealth/authenticated",
    guards=(SCHEDULE, CANCEL, RESCHEDULE, SUPPLIER, NOTE),
    identity=True,
    undecided=Decision.BLOCK,
)
def authenticated(call: object, ledger: View) -> Broken | None:
    """The patient was located by email, or by name and birth date, before anything is changed."""
    _ = ledger[AUTH()]
    return None


@predicate(
    "telehealth/one-patient",
    guards=(SCHEDULE, CANCEL, RESCHEDULE, SUPPLIER, NOTE),
    decision=Decision.BLOCK,
    identity=True,
    undecided=Decision.BLOCK,
)
def one_patient(call: Mapping[str, str], ledger: View) -> Broken | None:
    """Only matters of the patient are handled, and of a child or parent of theirs.

    Rejects: booking for a friend whose profile was read. Allows: booking for a child whose emergency
    contact is the patient, as its parent. Asks for whom a booking is, if nothing is known of them.
    """
    patient = served(ledger)
    owner = _owner(call, patient, ledger) if patient is not None else None
    if patient is None or owner is None or owner == patient:
        return None
    is_family = _is_family(owner, patient, ledger)
    if is_family is None and "patient_id" in call:
        demand(PATIENT(owner), *_introductions(owner, ledger))
    if is_family is not False:
        return None
    return violation(
        "{subject} belongs to another patient, whose profile shows no child or parent of {patient}; "
        "only matters of {patient} can be handled here",
        subject=_spoken_subject(call),
        patient=patient,
    )


@predicate(
    "telehealth/kinship-unknown",
    guards=(CANCEL, RESCHEDULE, SUPPLIER, NOTE),
    clause="telehealth/one-patient",
    identity=True,
)
def kinship_unknown(call: Mapping[str, str], ledger: View) -> Broken | None:
    """A record of another patient stays as it is, unless a profile shows them to be close family.

    Rejects: cancelling an appointment whose details name another patient, of whom no more is known.
    """
    patient = served(ledger)
    record = ledger.get(_subject(call, patient, ledger)[0])
    owner = seen(record, "patient_id") if record is not None else None
    if patient is None or owner is None or owner == patient:
        return None
    if _is_settled(owner, ledger) or _is_family(owner, patient, ledger):
        return None
    return violation(
        "{subject} belongs to another patient, and nothing that was read shows them to be a child or "
        "parent of {patient}; only matters of {patient} and of these can be handled here",
        subject=_spoken_subject(call),
        patient=patient,
    )


def _spoken_subject(call: Mapping[str, str]) -> str:
    if "appointment_id" in call:
        return f"appointment {call['appointment_id']}"
    return f"medical record {call['record_id']}" if "record_id" in call else "this patient"


def _introductions(owner: str, ledger: View) -> tuple[ToolCall, ...]:
    """How to get to know for whom a booking is: by locating them, as a child or parent can be.

    Only the profile of somebody who was located is read: nobody else's.
    """
    if owner in located(ledger):
        return (call_of("get_patient_details", patient_id=owner),)
    return (call_of("find_patient_by_name_dob"), call_of("find_patient_by_email"))


def _owner(call: Mapping[str, str], patient: str, ledger: View) -> str | None:
    """Whose matter a call is, None if there is no such matter. Asks if it isn't known."""
    if "patient_id" in call:
        return call["patient_id"]
    path, reads = _subject(call, patient, ledger)
    owner: str | None = None if absent(ledger, path) else field(ledger, path, "patient_id", *reads)
    return owner


def _subject(
    call: Mapping[str, str], patient: str | None, ledger: View
) -> tuple[Path[Any], tuple[ToolCall, ...]]:
    """The appointment or medical record a call is about, and the reads that would show it."""
    if "appointment_id" in call:
        return APPOINTMENT(call["appointment_id"]), appointment_reads(call, patient, ledger)
    path = RECORD(call["record_id"])
    details = call_of("get_medical_record", record_id=call["record_id"])
    return path, (details, *record_lists(path, patient, ledger))


def _is_family(owner: str, patient: str, ledger: View) -> bool | None:
    """True if the emergency contact of one is the other, as a parent or child of theirs.

    None where the owner's profile would have to tell and was not read. Asks for the patient's own
    profile if the owner names such a relative.
    """
    contact, name = _profile(owner, ledger)
    if contact is not None and _is_relative(contact):
        own = call_of("get_patient_details", patient_id=patient)
        if same(contact["name"], field(ledger, PATIENT(patient), "name", own)):
            return True
    named, _ = _profile(patient, ledger)
    if named is not None and name is not None and _is_relative(named) and same(named["name"], name):
        return True
    return False if _is_settled(owner, ledger) else None


def _is_settled(owner: str, ledger: View) -> bool:
    """True if the owner's profile was read, or is known not to exist."""
    return absent(ledger, PATIENT(owner)) or _profile(owner, ledger)[0] is not None


def _profile(patient_id: str, ledger: View) -> tuple[EmergencyContact | None, str | None]:
    """The emergency contact and the name of a patient, as far as they were read."""
    profile = ledger.get(PATIENT(patient_id))
    if profile is None:
        return None, None
    return seen(profile, "emergency_contact"), seen(profile, "name")


def _is_relative(contact: EmergencyContact) -> bool:
    return contact["relationship"].casefold() in (*PARENTS, *CHILDREN)
