"""When a reservation can be cancelled."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from ledgeragent.packs.airline.paths import RESERVATION, STATUS
from ledgeragent.packs.airline.records import CancelReservation, Segment
from ledgeragent.packs.airline.rules.customer import CANCEL
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Decision

TAKEN_OFF = ("flying", "landed")


def status_read(segment: Segment, ledger: View) -> str | None:
    """The status of a segment's flight, None if it was never read."""
    return ledger.get(STATUS(segment["flight_number"], segment["date"]))


def flown(segments: list[Segment], ledger: View) -> Segment | None:
    """A segment that has been flown, or None. Asks for the status of those that leave today.

    A segment of a past day has been flown unless its status was read and is cancelled; a later one
    has not. Past ones come first, so that a status is asked for only where it decides.
    """
    today = str(ledger.parameters["now"])[:10]
    for segment in sorted(segments, key=lambda segment: segment["date"]):
        if segment["date"] > today or status_read(segment, ledger) == "cancelled":
            continue
        if segment["date"] < today:
            return segment
        if ledger[STATUS(segment["flight_number"], segment["date"])] in TAKEN_OFF:
            return segment
    return None


def described(segment: Segment, ledger: View) -> str:
    """A segment in words, with its status."""
    status = status_read(segment, ledger) or "status not read"
    return f"{segment['flight_number']} on {segment['date']} ({status})"


@predicate("airline/cancel-flown", guards=CANCEL, decision=Decision.BLOCK)
def cancel_flown(call: CancelReservation, ledger: View) -> Broken | None:
    """A trip of which any part was flown is not cancelled here.

    Rejects: the outbound flight was yesterday.  Allows: yesterday's flight, if it was cancelled.
    """
    gone = flown(ledger[RESERVATION(call["reservation_id"])]["flights"], ledger)
    if gone is None:
        return None
    return violation(
        "reservation {id} can't be cancelled here, because {segment} has already taken off; "
        "only a human agent can look into it",
        id=call["reservation_id"],
        segment=described(gone, ledger),
    )


@predicate("airline/cancel-basis", guards=CANCEL, decision=Decision.BLOCK)
def cancel_basis(call: CancelReservation, ledger: View) -> Broken | None:
    """A cancellation needs business cabin, insurance, a booking of the last day, or an airline's own.

    A flight counts as cancelled by the airline once its status was read and says so; a delay is no
    basis. Statuses never read are named in the reason, but not asked for first: nearly every
    customer without another basis has none at all, and is better told now than after a read for
    every flight. Reading a cancelled status makes the same call right.
    """
    trip = ledger[RESERVATION(call["reservation_id"])]
    hours = ledger.parameters["cancel_within_hours"]
    if trip["insurance"] == "yes" or _is_recent(trip["created_at"], ledger.parameters, hours):
        return None
    if trip["cabin"] == "business":
        return None
    if any(status_read(segment, ledger) == "cancelled" for segment in trip["flights"]):
        return None
    return violation(
        "reservation {id} can't be cancelled: it is {cabin}, was booked more than {hours} hours ago "
        "(at {created}), has no travel insurance, and the airline is not known to have cancelled "
        "{flights}. A basis would be business cabin, a booking of the last {hours} hours, insurance "
        "bought with the booking, or a flight that the airline cancelled",
        id=call["reservation_id"],
        cabin=trip["cabin"].replace("_", " "),
        created=trip["created_at"],
        hours=hours,
        flights=[described(segment, ledger) for segment in trip["flights"]],
    )


def _is_recent(created_at: str, parameters: Mapping[str, Any], hours: int) -> bool:
    """True if a booking was made within the last `hours`; a date alone counts as its midnight."""
    age = datetime.fromisoformat(parameters["now"]) - datetime.fromisoformat(created_at)
    return age <= timedelta(hours=hours)
