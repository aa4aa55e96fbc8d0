"""Certificates for cancelled and delayed flights.

The call names a customer and an amount, but no reservation. So whichever of the customer's
reservations was read may justify it, and it is wrong only where none of them can.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import starmap
from typing import NamedTuple

from ledgeragent.packs.airline.paths import (
    RESERVATION,
    STATUS,
    USER,
    reservation_look_up,
    status_look_up,
)
from ledgeragent.packs.airline.records import Reservation, SendCertificate
from ledgeragent.packs.airline.rules.cancel import status_read
from ledgeragent.packs.airline.rules.customer import CANCEL, CERTIFICATE, FLIGHTS, UPDATES
from ledgeragent.predicates import Broken, View, demand, predicate, violation

PER_PASSENGER = {"cancelled": 100, "delayed": 50}
"""What a certificate is worth for each passenger, by what happened to the flight."""


class CompensationCase(NamedTuple):
    """A reservation that may justify a certificate, and what is known to have happened to it."""

    id: str
    trip: Reservation
    incidents: frozenset[str]


def cases(call: SendCertificate, ledger: View) -> list[CompensationCase]:
    """The customer's reservations read so far; only those with an incident, if there are any."""
    read = list(_cases(call, ledger))
    return [case for case in read if case.incidents] or read


def _cases(call: SendCertificate, ledger: View) -> Iterator[CompensationCase]:
    for path, trip in ledger.glob(RESERVATION):
        if trip["user_id"] == call["user_id"]:
            yield CompensationCase(path[1], trip, _incidents(path[1], trip, ledger))


def _incidents(id: str, trip: Reservation, ledger: View) -> frozenset[str]:
    """Which of cancelled and delayed is known of the reservation's flights.

    A flight that was exchanged here is no longer in it, so then any status read may be its own.
    """
    known: set[str | None] = set()
    if _written(id, ledger, FLIGHTS):
        known = {status for _, status in ledger.glob(STATUS)}
    if known.isdisjoint(PER_PASSENGER):
        known = {status_read(segment, ledger) for segment in trip["flights"]}
    return frozenset(PER_PASSENGER) & known


def _written(id: str, ledger: View, *tools: str) -> bool:
    """True if one of these writes was executed on the reservation in this conversation."""
    return any(w.name in tools and w.arguments.get("reservation_id") == id for w in ledger.writes)


@predicate("airline/compensation-facts", guards=CERTIFICATE)
def compensation_facts(call: SendCertificate, ledger: View) -> Broken | None:
    """A certificate is for a cancelled or delayed flight of the customer's, and looked up as such.

    Asks for the statuses of reservations read, then for the reservations never read.
    """
    found = cases(call, ledger)
    if any(case.incidents for case in found):
        return None
    unread = [flight for case in found for flight in _statuses_unread(case.trip, ledger)]
    if unread:
        demand(STATUS(*unread[0]), *starmap(status_look_up, unread))
    known = {case.id for case in found}
    others = [r for r in ledger[USER(call["user_id"])]["reservations"] if r not in known]
    if others:
        demand(RESERVATION(others[0]), *map(reservation_look_up, others))
    return violation(
        "a certificate is for a cancelled or delayed flight, and no flight of {user} is one",
        user=call["user_id"],
    )


def _statuses_unread(trip: Reservation, ledger: View) -> Iterator[tuple[str, str]]:
    for segment in trip["flights"]:
        if status_read(segment, ledger) is None:
            yield segment["flight_number"], segment["date"]


@predicate("airline/compensation-eligibility", guards=CERTIFICATE)
def compensation_eligibility(call: SendCertificate, ledger: View) -> Broken | None:
    """Compensated are silver and gold members, insured reservations and business cabin.

    Rejects: a regular member's uninsured economy trip.  The profile is asked for only where the
    reservations read leave it to the membership.
    """
    found = cases(call, ledger)
    if not found or any(_is_eligible(case, ledger) for case in found):
        return None
    return violation(
        "{user} is a {membership} member, and {trips} is neither insured nor business; a certificate "
        "is for silver and gold members, insured reservations and business cabin",
        user=call["user_id"],
        membership=ledger[USER(call["user_id"])]["membership"],
        trips=[case.id for case in found],
    )


def _is_eligible(case: CompensationCase, ledger: View) -> bool:
    if case.trip["insurance"] == "yes" or case.trip["cabin"] == "business":
        return True
    return ledger[USER(case.trip["user_id"])]["membership"] in ("silver", "gold")


@predicate("airline/compensation-amount", guards=CERTIFICATE)
def compensation_amount(call: SendCertificate, ledger: View) -> Broken | None:
    """A certificate is 100 per passenger for a cancelled flight, 50 for a delayed one.

    One reservation must justify all of it. Where no incident is known, either rate may apply.
    """
    found = cases(call, ledger)
    fitting = [case for case in found if call["amount"] in _amounts(case).values()]
    if any(_is_eligible(case, ledger) for case in fitting):
        return None
    others = [case for case in found if not fitting or _is_eligible(case, ledger)]
    if not others:
        return None
    return violation(
        "a certificate of {amount} fits no incident known of {trips}; accepted would be {accepted}",
        amount=f"{call['amount']:g}",
        trips=[case.id for case in others],
        accepted=sorted({amount for case in others for amount in _amounts(case).values()}),
    )


def _amounts(case: CompensationCase) -> dict[str, int]:
    """What may be given for a case, by incident: for either, where none is known."""
    travelling = len(case.trip["passengers"])
    return {name: PER_PASSENGER[name] * travelling for name in case.incidents or PER_PASSENGER}


@predicate("airline/compensation-delay-after-change", guards=CERTIFICATE)
def compensation_delay_after_change(call: SendCertificate, ledger: View) -> Broken | None:
    """For a delay, the reservation is changed or cancelled before the certificate is given.

    Certain where only a delay justifies the amount, and neither a write of this conversation nor a
    cancelled status shows a change. Whether the customer wants one is for the dialogue.
    """
    grounds = [
        (case, incident)
        for case in cases(call, ledger)
        for incident, amount in _amounts(case).items()
        if amount == call["amount"] and incident in case.incidents
    ]
    if not grounds or any(i == "cancelled" or _changed(case, ledger) for case, i in grounds):
        return None
    return violation(
        "{trips} has a delayed flight, but was neither changed nor cancelled; a certificate for a "
        "delay is given only after that",
        trips=[case.id for case, _ in grounds],
    )


def _changed(case: CompensationCase, ledger: View) -> bool:
    if _written(case.id, ledger, CANCEL, *UPDATES):
        return True
    return case.trip.get("status") == "cancelled"
