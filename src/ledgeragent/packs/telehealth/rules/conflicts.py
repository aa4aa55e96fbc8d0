"""Slots that are taken: by appointments that were read, and by what this conversation has booked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ledgeragent.ledger import Entry
from ledgeragent.packs.telehealth.paths import APPOINTMENT, BOOKING
from ledgeragent.packs.telehealth.rules.known import (
    CANCEL,
    CLOSED,
    OPEN,
    RESCHEDULE,
    SCHEDULE,
    seen,
)
from ledgeragent.packs.telehealth.rules.slots import slot_arguments
from ledgeragent.packs.wording import argument
from ledgeragent.predicates import Broken, MissingEvidence, View, predicate, violation
from ledgeragent.types import ToolCall

_MOVED = {"date": "new_date", "time": "new_time"}


class Slot(NamedTuple):
    """Whose time it is, and when."""

    provider: str
    date: str
    time: str


@predicate("telehealth/slot-conflict", guards=(SCHEDULE, RESCHEDULE))
def slot_conflict(call: Mapping[str, str], ledger: View) -> Broken | None:
    """The slot isn't taken by another open appointment of the provider that was observed.

    Nor by one that this conversation has booked or moved there. Asks for nothing, since most
    appointments are other patients' and not to be read, but for one in the slot whose status is none
    of the policy's.
    """
    provider = _known_provider(call, ledger)
    if provider is None:
        return None
    date, time = slot_arguments(call)
    slot = Slot(provider, call[date], call[time])
    in_the_way = any(_appointments_at(slot, call.get("appointment_id", ""), ledger))
    if not in_the_way and slot not in _unaccounted_bookings(ledger):
        return None
    return violation(
        "{provider} already has an appointment at {at} on {on}; {arguments} must name a slot that "
        "is free",
        provider=provider,
        at=slot.time,
        on=slot.date,
        arguments=argument(date, time),
    )


def _known_provider(call: Mapping[str, str], ledger: View) -> str | None:
    if "provider_id" in call:
        return call["provider_id"]
    appointment = ledger.get(APPOINTMENT(call["appointment_id"]))
    return seen(appointment, "provider_id") if appointment is not None else None


def _appointments_at(slot: Slot, moving: str, ledger: View) -> Iterator[bool]:
    """True for each appointment in the slot that may be open, other than the one that is to be moved.

    Only what is in the way is noted as evidence: a move of any other disturbs nothing.
    """
    writes = ledger.writes
    for path, record in ledger.glob(APPOINTMENT):
        entry = ledger.entry(path)
        if entry is None or path == APPOINTMENT(moving):
            continue
        now = [_now(entry, name, writes) for name in ("provider_id", "date", "time", "status")]
        if tuple(now[:3]) == slot and now[3] not in CLOSED:
            for name in ("provider_id", "date", "time"):
                seen(record, name)
            if now[3] is not None and now[3] not in OPEN:
                # No word of the policy's. It isn't told: the appointment may be a stranger's.
                raise MissingEvidence(path, fields=("status",))
            seen(record, "status")
            yield True


def _now(entry: Entry, name: str, writes: tuple[ToolCall, ...]) -> Any:
    """A field as the latest of these writes left it, else as it was read; None if unknown."""
    own = entry.path[-1]
    changes = [
        _set_by(by)[name]
        for fields, by in entry.stale
        if by in writes
        and by.arguments.get("appointment_id") == own
        and fields in ((), (name,))
        and name in _set_by(by)
    ]
    return changes[-1] if changes else entry.value.get(name)


def _set_by(write: ToolCall) -> Mapping[str, Any]:
    """The fields that a write changes of the appointment it names; a mark may be on all of it."""
    if write.name == CANCEL:
        return {"status": "cancelled"}
    names = _MOVED if write.name == RESCHEDULE else {}
    return {name: write.arguments.get(names[name]) for name in names}


def _unaccounted_bookings(ledger: View) -> Iterator[Slot]:
    """The slots booked in this conversation whose appointments the ledger does not hold."""
    doubted = [doubt.call for doubt in ledger.unconfirmed]
    writes = ledger.writes
    for number, write in enumerate(writes):
        if write.name != SCHEDULE:
            continue
        slot = Slot(*(str(write.arguments.get(name)) for name in ("provider_id", "date", "time")))
        is_accounted = write not in doubted and ledger.get(BOOKING(*slot)) is not None
        if not is_accounted and not any(_may_free(w, slot, ledger) for w in writes[number + 1 :]):
            yield slot


def _may_free(write: ToolCall, slot: Slot, ledger: View) -> bool:
    """True for a write that ends or moves an appointment that may have been the one in the slot."""
    if write.name not in (CANCEL, RESCHEDULE):
        return False
    entry = ledger.entry(APPOINTMENT(str(write.arguments.get("appointment_id"))))
    if entry is None or not entry.typed:
        return True
    provider, date, time = (entry.value.get(n) for n in ("provider_id", "date", "time"))
    target = (write.arguments.get("new_date"), write.arguments.get("new_time"))
    # Read before the write, it says where the appointment was; after it, only where it is now.
    moved_there = (date, time) == target and all(mark.by != write for mark in entry.stale)
    at_another_time = not moved_there and (date, time) != (slot.date, slot.time)
    return provider in (None, slot.provider) and not at_another_time
