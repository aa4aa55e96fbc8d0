"""The ledger's knowledge of the matter at hand, and the reads that would tell more.

Some reads can't be had (the tools fail on incomplete records), so a rule names every read that would
do: once those are known to be of no use, the demand ends by itself and the call isn't held up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.packs.telehealth.paths import (
    ALL_APPOINTMENTS,
    ALL_RECORDS,
    APPOINTMENT,
    AUTH,
    LOCATED,
)
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.predicates import MissingEvidence, View
from ledgeragent.types import ToolCall

SCHEDULE = "schedule_appointment"
CANCEL = "cancel_appointment"
RESCHEDULE = "reschedule_appointment"
SUPPLIER = "update_prescription_supplier"
NOTE = "update_medical_record_note"
TRANSFER = "transfer_to_human_support"

OPEN = ("scheduled", "pending_approval")


def served(ledger: View) -> str | None:
    """Whom this conversation serves: the *first* patient located, None if nobody was.

    Locating somebody else later, a child to book for, say, doesn't hand the conversation over.
    """
    everyone = located(ledger)
    return everyone[0] if len(everyone) > 1 else ledger.get(AUTH())


def located(ledger: View) -> tuple[str, ...]:
    """Everyone a lookup has found, in that order."""
    entry = ledger.entry(LOCATED())
    return tuple(entry.value) if entry is not None and entry.typed else ()


def field(ledger: View, path: Path[Any], name: str, *reads: ToolCall) -> Any:
    """A field of a record; where it isn't known, asks for one of `reads`."""
    try:
        return ledger[path][name]
    except MissingEvidence as missing:
        missing.reads = reads or missing.reads
        raise


def seen(record: Any, name: str) -> Any:
    """A field if it is known to be so now, else None. Asks for nothing."""
    try:
        return record[name]
    except MissingEvidence:
        return None


def absent(ledger: View, path: Path[Any]) -> bool:
    """True if a tool has answered that there is no such record."""
    record = ledger.get(path)
    return record is not None and seen(record, "exists") is False


def call_of(tool: str, **arguments: str) -> ToolCall:
    """A call of a read tool, to be asked for."""
    return ToolCall(name=tool, arguments=arguments)


def appointment_reads(
    call: Mapping[str, str], patient: str | None, ledger: View
) -> tuple[ToolCall, ...]:
    """The reads that would show an appointment: its details, or its patient's list if that may have it."""
    path = APPOINTMENT(call["appointment_id"])
    details = call_of("get_appointment_details", appointment_id=call["appointment_id"])
    return (details, *_lists("list_patient_appointments", ALL_APPOINTMENTS, path, patient, ledger))


def record_lists(path: Path[Any], patient: str | None, ledger: View) -> tuple[ToolCall, ...]:
    """The read of the list that says what a medical record prescribes."""
    return _lists("list_patient_medical_records", ALL_RECORDS, path, patient, ledger)


def _lists(
    tool: str, family: PathTemplate[Any], path: Path[Any], patient: str | None, ledger: View
) -> tuple[ToolCall, ...]:
    """The list of an item's patient (else of the one served), unless it is known to lack the item."""
    record = ledger.get(path)
    owner = (seen(record, "patient_id") if record is not None else None) or patient
    if owner is None:
        return ()
    entry = ledger.entry(family(owner))
    lacks_it = entry is not None and entry.typed and not entry.stale and record is None
    return () if lacks_it else (call_of(tool, patient_id=owner),)


def same(one: str, other: str) -> bool:
    """True for names that differ in case and spaces at most."""
    return one.casefold().split() == other.casefold().split()
