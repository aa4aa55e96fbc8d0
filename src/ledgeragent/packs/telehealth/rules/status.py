"""Which appointments can still be changed."""

from __future__ import annotations

from collections.abc import Mapping

from ledgeragent.packs.telehealth.paths import APPOINTMENT
from ledgeragent.packs.telehealth.rules.known import (
    CANCEL,
    OPEN,
    RESCHEDULE,
    absent,
    appointment_reads,
    field,
    served,
)
from ledgeragent.packs.wording import argument
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Decision


@predicate(
    "telehealth/reschedule-status",
    guards=RESCHEDULE,
    decision=Decision.BLOCK,
    undecided=Decision.BLOCK,
)
def reschedule_status(call: Mapping[str, str], ledger: View) -> Broken | None:
    """Only an appointment that is scheduled or pending approval is moved."""
    return _closed(call, "moved", ledger)


@predicate(
    "telehealth/cancel-status", guards=CANCEL, decision=Decision.BLOCK, undecided=Decision.BLOCK
)
def cancel_status(call: Mapping[str, str], ledger: View) -> Broken | None:
    """Only an appointment that is scheduled or pending approval is cancelled.

    Rejects: one that is completed, whatever its notes say. Allows: one that was moved, then read.
    """
    return _closed(call, "cancelled", ledger)


def _closed(call: Mapping[str, str], participle: str, ledger: View) -> Broken | None:
    """The objection to changing an appointment that doesn't exist or isn't open."""
    path = APPOINTMENT(call["appointment_id"])
    if absent(ledger, path):
        return violation(
            "there is no appointment {id}; {argument} must be one that the patient has",
            argument=argument("appointment_id"),
            id=call["appointment_id"],
        )
    reads = appointment_reads(call, served(ledger), ledger)
    status = field(ledger, path, "status", *reads)
    if status in OPEN:
        return None
    return violation(
        "appointment {id} is {status}; only one that is {open} can be {done}",
        id=call["appointment_id"],
        status=status,
        open=list(OPEN),
        done=participle,
    )
