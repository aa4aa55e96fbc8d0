"""When a reservation can be cancelled."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta, tzinfo
from typing import NoReturn

from ledgeragent.packs.airline.paths import RESERVATION, STATUS, status_look_up
from ledgeragent.packs.airline.records import CancelReservation, Reservation, Segment
from ledgeragent.packs.airline.rules.customer import CANCEL
from ledgeragent.predicates import (
    Broken,
    MissingEvidence,
    Private,
    View,
    demand,
    predicate,
    violation,
)
from ledgeragent.verdict import Decision

_DAY = timedelta(days=1)
TAKEN_OFF = ("flying", "landed")
ON_THE_GROUND = ("available", "on time", "delayed", "cancelled")

TELL = Private(". No other arguments would help: tell the customer so", "")
"""The advice to the model after a refusal that stands; nothing for the customer to hear."""


def status_read(segment: Segment, ledger: View) -> str | None:
    """The status of a segment's flight, None if it was never read."""
    return ledger.get(STATUS(segment["flight_number"], segment["date"]))


def flown(segments: Iterable[Segment], ledger: View) -> Segment | None:
    """A segment whose flight has taken off, or None.

    Asks for the status of those of today and of past days: a flight of yesterday may have been
    cancelled, or be late. Of later ones none is needed.
    """
    in_order = sorted(segments, key=lambda segment: segment["date"])
    for segment in in_order:
        if status_read(segment, ledger) in TAKEN_OFF:
            return segment
    for segment in in_order:
        if _day(segment) <= _today(ledger) and not _stands(segment, ledger):
            ask_for_status(segment)
    return None


def _stands(segment: Segment, ledger: View) -> bool:
    """True if the status that was read of a flight says that it has not taken off."""
    return status_read(segment, ledger) in ON_THE_GROUND


def is_unclear(segment: Segment, ledger: View) -> bool:
    """True if the latest answer on the status of a flight was none of the words there are."""
    entry = ledger.entry(STATUS(segment["flight_number"], segment["date"]))
    return entry is not None and not entry.typed


def _day(segment: Segment) -> str:
    return segment["date"][:10]


def _today(ledger: View) -> str:
    return str(ledger.parameters["now"])[:10]


def ask_for_status(segment: Segment) -> NoReturn:
    """Asks for the status of a segment's flight."""
    number, date = segment["flight_number"], segment["date"]
    demand(STATUS(number, date), status_look_up(number, date))


def described(segment: Segment, ledger: View) -> str:
    """A segment in words, with its status."""
    status = status_read(segment, ledger) or "status not read"
    return f"{_named(segment)} ({status})"


def _named(segment: Segment) -> str:
    return f"{segment['flight_number']} on {segment['date']}"


@predicate("airline/cancel-flown", guards=CANCEL, decision=Decision.BLOCK)
def cancel_flown(call: CancelReservation, ledger: View) -> Broken | None:
    """A trip of which any part was flown is not cancelled here.

    Rejects: the outbound flight of yesterday has landed.  Allows: yesterday's flight, if it was
    cancelled.  Asks for the status of a past flight, since the calendar alone shows nothing; where
    no tool can ever tell it, a trip with such a flight is for a human agent.
    """
    segments = ledger[RESERVATION(call["reservation_id"])]["flights"]
    past = _unverifiable(segments, ledger)
    if past is not None:
        return violation(
            "reservation {id} can't be cancelled here: {number} was due on {date}, a day that is "
            "past, and no tool here tells whether it left; only a human agent can look into it",
            id=call["reservation_id"],
            number=past["flight_number"],
            date=past["date"],
        )
    gone = flown(segments, ledger)
    if gone is None:
        return None
    return violation(
        "reservation {id} can't be cancelled here, because {segment} has already taken off; "
        "only a human agent can look into it",
        id=call["reservation_id"],
        segment=described(gone, ledger),
    )


def _unverifiable(segments: Iterable[Segment], ledger: View) -> Segment | None:
    """A segment of a past day, where no tool ever tells what became of it."""
    if ledger.parameters["statuses_are_read"]:
        return None
    return next((s for s in segments if _day(s) < _today(ledger) and not _stands(s, ledger)), None)


@predicate("airline/cancel-basis", guards=CANCEL, decision=Decision.BLOCK)
def cancel_basis(call: CancelReservation, ledger: View) -> Broken | None:
    """A cancellation needs business cabin, insurance, a booking of the last day, or an airline's own.

    A flight counts as cancelled by the airline once its status was read and says so; a delay is no
    basis. Statuses of today's and past flights are asked for, as `airline/cancel-flown` needs them
    anyway; of later flights they are only named in the reason: nearly every customer without
    another basis has none at all, and is better told now than after a read for every flight.
    Reading a cancelled status makes the same call right, and an answer that could not be understood is
    asked for again: it may have been one. Of a trip that `airline/cancel-flown`
    leaves to a human agent, nothing more is said. What was cancelled is not cancelled, and paid
    back, once more.
    """
    trip = ledger[RESERVATION(call["reservation_id"])]
    if trip.get("status") == "cancelled":
        return violation(
            "reservation {id} is cancelled already{tell}", id=call["reservation_id"], tell=TELL
        )
    if trip["insurance"] == "yes" or _is_recent(trip, call["reservation_id"], ledger):
        return None
    if trip["cabin"] == "business":
        return None
    statuses = [status_read(segment, ledger) for segment in trip["flights"]]
    if "cancelled" in statuses:
        return None
    if _unverifiable(trip["flights"], ledger) is not None:
        return None
    if ledger.parameters["statuses_are_read"] and flown(trip["flights"], ledger) is not None:
        return None
    for segment in trip["flights"]:
        if is_unclear(segment, ledger):
            ask_for_status(segment)
    return violation(
        "reservation {id} can't be cancelled: it is {cabin}, was booked more than {hours} hours ago "
        "(at {created}), has no travel insurance, and the airline is not known to have cancelled "
        "{flights}{tell}",
        id=call["reservation_id"],
        cabin=trip["cabin"].replace("_", " "),
        created=trip["created_at"],
        hours=ledger.parameters["cancel_within_hours"],
        flights=Private(
            [described(segment, ledger) for segment in trip["flights"]] or "its flights",
            instead=", ".join(map(_named, trip["flights"])) or "its flights",
        ),
        tell=TELL,
    )


def _is_recent(trip: Reservation, id: str, ledger: View) -> bool:
    """True if a booking was made within the last hours that count.

    A time without a zone is in the clock's. A time that can't be read, or is still to come, is
    evidence of nothing; so is a date alone, where the hour of that day decides.
    """
    now = datetime.fromisoformat(ledger.parameters["now"])
    try:
        created = datetime.fromisoformat(trip["created_at"])
        # Of two times, one with a zone and one without, the latter is taken to be in the same zone.
        zone = now.tzinfo or created.tzinfo
        age = _in_zone(now, zone) - _in_zone(created, zone)
    except (ValueError, OverflowError):
        age = timedelta(-1)
    most = timedelta(hours=ledger.parameters["cancel_within_hours"])
    latest = age - _DAY if _is_date_alone(trip["created_at"]) else age
    if age < timedelta(0) or latest <= most < age:
        objection = "its `created_at` should be a time (ISO 8601) before now"
        raise MissingEvidence(RESERVATION(id), fields=("created_at",), objection=objection)
    return age <= most


def _is_date_alone(text: str) -> bool:
    return len(text) <= len("2024-05-14")


def _in_zone(time: datetime, zone: tzinfo | None) -> datetime:
    return time if time.tzinfo is not None else time.replace(tzinfo=zone)
