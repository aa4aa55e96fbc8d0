"""What happened to the flights of a customer's reservations, as far as it was read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ledgeragent.packs.airline.paths import RESERVATION, SEEN_WITH, STATUS, flight_key
from ledgeragent.packs.airline.records import Reservation, SendCertificate
from ledgeragent.packs.airline.rules.cancel import status_read
from ledgeragent.packs.airline.rules.customer import FLIGHTS
from ledgeragent.predicates import View

PER_PASSENGER = {"cancelled": 100, "delayed": 50}
"""The worth of a certificate for each passenger, by what happened to the flight."""


class CompensationCase(NamedTuple):
    """A reservation that may justify a certificate, and what is known to have happened to it."""

    id: str
    trip: Reservation
    incidents: frozenset[str]


def cases(call: SendCertificate, ledger: View) -> list[CompensationCase]:
    """The customer's reservations read so far; only those with an incident, if there are any."""
    candidates = list(every_case(call, ledger))
    return [case for case in candidates if case.incidents] or candidates


def every_case(call: SendCertificate, ledger: View) -> Iterator[CompensationCase]:
    """The customer's reservations read so far, with an incident or without."""
    for path, trip in ledger.glob(RESERVATION):
        if trip["user_id"] == call["user_id"]:
            yield CompensationCase(path[1], trip, incidents_of(path[1], trip, ledger))


def incidents_of(id: str, trip: Reservation, ledger: View) -> frozenset[str]:
    """Which of cancelled and delayed is known of the reservation's flights.

    A flight that was exchanged here is no longer in it, but it was seen with it before.
    """
    statuses: set[str | None] = set()
    if is_written(id, ledger, FLIGHTS):
        earlier = ledger.get(SEEN_WITH(id)) or {}
        statuses = {s for path, s in ledger.glob(STATUS) if flight_key(*path[1:]) in earlier}
    if statuses.isdisjoint(PER_PASSENGER):
        statuses = {status_read(segment, ledger) for segment in trip["flights"]}
    return frozenset(PER_PASSENGER) & statuses


def is_written(id: str, ledger: View, *tools: str) -> bool:
    """True if one of these writes was executed on the reservation in this conversation."""
    return any(w.name in tools and w.arguments.get("reservation_id") == id for w in ledger.writes)
