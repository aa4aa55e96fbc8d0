"""Certificates for cancelled and delayed flights.

The call names a customer and an amount, but no reservation. So whichever of the customer's
reservations was read may justify it, and it is wrong only where none of them can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import starmap
from typing import Any

from ledgeragent.packs.airline.paths import (
    RESERVATION,
    STATUS,
    USER,
    reservation_look_up,
    status_look_up,
)
from ledgeragent.packs.airline.records import Reservation, SendCertificate
from ledgeragent.packs.airline.rules.cancel import TELL, ask_for_status, is_unclear, status_read
from ledgeragent.packs.airline.rules.customer import BOOK, CANCEL, CERTIFICATE, UPDATES
from ledgeragent.packs.airline.rules.incidents import (
    PER_PASSENGER,
    CompensationCase,
    cases,
    every_case,
    incidents_of,
    is_written,
)
from ledgeragent.packs.wording import exact
from ledgeragent.predicates import (
    Broken,
    MissingEvidence,
    Private,
    UnconfirmedGround,
    View,
    demand,
    predicate,
    violation,
)


@predicate("airline/compensation-facts", guards=CERTIFICATE)
def compensation_facts(call: SendCertificate, ledger: View) -> Broken | None:
    """A certificate is for a cancelled or delayed flight of the customer's, and looked up as such.

    Asks for the statuses of reservations read, then for the reservations never read.
    """
    candidates = cases(call, ledger)
    if any(case.incidents for case in candidates):
        return None
    if candidates and _is_for_somebody_elses(call["user_id"], ledger):
        return violation(
            "a certificate is for a cancelled or delayed flight of {user}, and none of {trips} is one"
            "{others}; look up the reservation that the customer complains about first",
            user=call["user_id"],
            trips=[case.id for case in candidates],
            others=Private("; a flight of somebody else's reservation does not count", ""),
        )
    _ask_for_incidents(call["user_id"], ledger, needed=True)
    return violation(
        "a certificate is for a cancelled or delayed flight, and no flight of {user} is one{tell}",
        user=call["user_id"],
        tell=TELL,
    )


def _is_for_somebody_elses(user_id: str, ledger: View) -> bool:
    """True if an incident was looked up, but only of other people's reservations."""
    own: list[tuple[str, Reservation]] = []
    others: list[tuple[str, Reservation]] = []
    for path, trip in ledger.glob(RESERVATION):
        (own if trip["user_id"] == user_id else others).append((path[1], trip))
    if any(flight for _, trip in own for flight in _statuses_unread(trip, ledger)):
        return False
    return any(_shows_incident(key, trip, ledger) for key, trip in others)


def _shows_incident(id: str, trip: Reservation, ledger: View) -> bool:
    """True if an incident of a stranger's reservation is known, as far as it can be read."""
    try:
        return bool(incidents_of(id, trip, ledger))
    except MissingEvidence:
        return False


def _ask_for_incidents(user_id: str, ledger: View, *, needed: bool = False) -> None:
    """Asks for what may show an incident that is not known yet, if anything is left to read.

    With `needed`, also for a status that no tool tells: nothing can be decided without it.
    """
    own = {path[1]: t for path, t in ledger.glob(RESERVATION) if t["user_id"] == user_id}
    unread = [flight for trip in own.values() for flight in _statuses_unread(trip, ledger)]
    if unread and (needed or ledger.parameters["statuses_are_read"]):
        demand(STATUS(*unread[0]), *starmap(status_look_up, unread))
    others = [r for r in ledger[USER(user_id)]["reservations"] if r not in own]
    if others:
        demand(RESERVATION(others[0]), *map(reservation_look_up, others))


@predicate(
    "airline/compensation-repeated", guards=CERTIFICATE, clause="airline/compensation-amount"
)
def compensation_repeated(call: SendCertificate, ledger: View) -> Broken | None:
    """One certificate is given for an incident of a reservation, not another one later.

    Rejects: the same certificate again in a later turn.  Allows: another one for another reservation
    of the customer's. Asks for what may show another incident, before it says that there is none.
    """
    count = sum(
        write.name == CERTIFICATE
        and write.arguments.get("user_id") == call["user_id"]
        and _is_amount(write.arguments.get("amount"), call["amount"])
        for write in ledger.writes
    )
    if not count:
        return None
    grounds = [
        case
        for case in cases(call, ledger)
        for amount in _amounts(case).values()
        if amount == call["amount"] and _is_eligible(case, ledger)
    ]
    if count < len(grounds):
        return None
    _ask_for_incidents(call["user_id"], ledger)
    return violation(
        "a certificate of {amount} was sent to {user} already, and no other cancelled or delayed "
        "flight justifies one more{tell}",
        amount=exact(call["amount"]),
        user=call["user_id"],
        tell=TELL,
    )


def _is_amount(value: Any, amount: float) -> bool:
    """True for the same amount, as a number or as text."""
    try:
        return float(value) == amount
    except (TypeError, ValueError):
        return False


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
    candidates = cases(call, ledger)
    if not candidates or any(_is_eligible(case, ledger) for case in candidates):
        return None
    _ask_for_others(call, candidates, ledger)
    return violation(
        "{user} is a {membership} member, and {trips} is neither insured nor business; a certificate "
        "is for silver and gold members, insured reservations and business cabin{tell}",
        user=call["user_id"],
        membership=ledger[USER(call["user_id"])]["membership"],
        trips=[case.id for case in candidates],
        tell=TELL,
    )


def _ask_for_others(
    call: SendCertificate, candidates: Iterable[CompensationCase], ledger: View
) -> None:
    """Asks for what may show that another reservation than the candidates justifies the certificate.

    That is one that was read, but not the status of its flights, and one that is being booked.
    """
    _wait_for_bookings(call["user_id"], ledger)
    _ask_for_unclear(call, ledger)
    if not ledger.parameters["statuses_are_read"]:
        return
    with_incident = {case.id for case in candidates if case.incidents}
    for case in every_case(call, ledger):
        unread = list(_statuses_unread(case.trip, ledger)) if case.id not in with_incident else []
        fits = unread and call["amount"] in _amounts(case).values()
        if fits and _is_eligible(case, ledger):
            demand(STATUS(*unread[0]), *starmap(status_look_up, unread))


def _ask_for_unclear(call: SendCertificate, ledger: View) -> None:
    """Asks again for a status that was read and not understood: it may be what justifies the amount."""
    for case in every_case(call, ledger):
        travelling = len(case.trip["passengers"])
        if call["amount"] in [worth * travelling for worth in PER_PASSENGER.values()]:
            for segment in case.trip["flights"]:
                if is_unclear(segment, ledger):
                    ask_for_status(segment)


def _wait_for_bookings(user_id: str, ledger: View) -> None:
    """Waits for bookings of which it is not known yet what they made: a reservation may justify it."""
    doubts = tuple(
        doubt
        for doubt in ledger.unconfirmed
        if doubt.call.name == BOOK and doubt.call.arguments.get("user_id") == user_id
    )
    if doubts:
        raise UnconfirmedGround(doubts)


def _is_eligible(case: CompensationCase, ledger: View) -> bool:
    if case.trip["insurance"] == "yes" or case.trip["cabin"] == "business":
        return True
    return ledger[USER(case.trip["user_id"])]["membership"] in ("silver", "gold")


@predicate("airline/compensation-amount", guards=CERTIFICATE)
def compensation_amount(call: SendCertificate, ledger: View) -> Broken | None:
    """A certificate is 100 per passenger for a cancelled flight, 50 for a delayed one.

    One reservation must justify all of it. Where no incident is known, either rate may apply.
    """
    candidates = cases(call, ledger)
    fitting = [case for case in candidates if call["amount"] in _amounts(case).values()]
    if any(_is_eligible(case, ledger) for case in fitting):
        return None
    others = [case for case in candidates if not fitting or _is_eligible(case, ledger)]
    if not others:
        return None
    _ask_for_others(call, candidates, ledger)
    return violation(
        "amount must be {accepted}, not {amount}: 100 for each passenger of {trips} if a flight was "
        "cancelled, 50 if one was delayed",
        amount=exact(call["amount"]),
        trips=[case.id for case in others],
        accepted=sorted({amount for case in others for amount in _amounts(case).values()}),
    )


def _amounts(case: CompensationCase) -> dict[str, int]:
    """The amounts that may be given for a case, by incident: for either, where none is known."""
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
    _ask_for_unclear(call, ledger)
    return violation(
        "{trips} has a delayed flight, but was neither changed nor cancelled; change or cancel it "
        "first, if the customer wants that, then send this again",
        trips=[case.id for case, _ in grounds],
    )


def _changed(case: CompensationCase, ledger: View) -> bool:
    if is_written(case.id, ledger, CANCEL, *UPDATES):
        return True
    return case.trip.get("status") == "cancelled"
