"""The ledger's knowledge of the matter at hand, and the reads that would tell more.

Some reads can't be had (the tools fail on incomplete records), so a rule names every read that would
do: once those are known to be of no use, the demand ends by itself and the call isn't held up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.ledger import Entry
from ledgeragent.packs.lookups import corrects
from ledgeragent.packs.telehealth.paths import (
    ALL_APPOINTMENTS,
    ALL_RECORDS,
    APPOINTMENT,
    AUTH,
    LOCATED,
    RECORD,
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
CLOSED = ("completed", "cancelled")


def served(ledger: View) -> str | None:
    """Whom this conversation serves: the *first* patient located, None if nobody was.

    Locating somebody else later, a child to book for, say, doesn't hand the conversation over. A
    lookup that puts a mistyped one right does, unless something of the first patient was read before.
    """
    first, *others = located(ledger) or (None,)
    if first is None or not others:
        return ledger.get(AUTH())
    for other in others:
        if _corrects(other, first, ledger):
            first = other
    return first


def _corrects(other: str, first: str, ledger: View) -> bool:
    """True if one patient was located by correcting the lookup that located another."""
    entry = ledger.entry(LOCATED())
    if entry is None:
        return False
    later, earlier = entry.origin((other,)), entry.origin((first,))
    return (
        later.turn >= earlier.turn
        and corrects(later.source, earlier.source)
        and not _is_opened(first, later.turn, ledger)
    )


def _is_opened(patient_id: str, turn: int, ledger: View) -> bool:
    """True if something of a patient but the profile was read before that turn, or ever written."""
    families: tuple[PathTemplate[Any], ...] = (APPOINTMENT, ALL_APPOINTMENTS, RECORD, ALL_RECORDS)
    for family in families:
        for path, _ in ledger.glob(family):
            entry = ledger.entry(path)
            if entry is None or entry.turn >= turn:
                continue
            if entry.value.get("patient_id") == patient_id:
                return True
    return any(write.arguments.get("patient_id") == patient_id for write in ledger.writes)


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
    """The list of an item's patient (else of the one served), unless it is known to lack the item.

    No write changes whose an item is: where it was last seen, it is looked for.
    """
    record = ledger.entry(path)
    owner = (
        record.value.get("patient_id") if record is not None and record.typed else None
    ) or patient
    if owner is None:
        return ()
    entry = ledger.entry(family(owner))
    lacks_it = entry is not None and entry.typed and not entry.stale and not _names(entry, path)
    return () if lacks_it else (call_of(tool, patient_id=owner),)


def _names(listing: Entry, path: Path[Any]) -> bool:
    """True if a list has the item."""
    return any(path[-1] in ids for ids in listing.value.values() if isinstance(ids, list))


def same(one: str, other: str) -> bool:
    """True for names that differ in case and spaces at most."""
    return one.casefold().split() == other.casefold().split()
