"""Whose reservation it is, and that it was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.packs.airline.paths import RESERVATION, USER
from ledgeragent.packs.airline.records import ReservationCall
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Decision

BOOK = "book_reservation"
CANCEL = "cancel_reservation"
FLIGHTS = "update_reservation_flights"
BAGGAGES = "update_reservation_baggages"
PASSENGERS = "update_reservation_passengers"
CERTIFICATE = "send_certificate"
UPDATES = (FLIGHTS, BAGGAGES, PASSENGERS)
ON_RESERVATIONS = (CANCEL, *UPDATES)


def owner(call: Mapping[str, Any], ledger: View) -> str:
    """Whose booking, reservation or certificate a call is about; asks for the reservation."""
    if "user_id" in call:
        return str(call["user_id"])
    return ledger[RESERVATION(call["reservation_id"])]["user_id"]


@predicate("airline/reservation-observed", guards=ON_RESERVATIONS)
def reservation_observed(call: ReservationCall, ledger: View) -> Broken | None:
    """A reservation is read before it is changed or cancelled.

    Never a violation: it asks for the read. Stale fields are for the rules that need them.
    """
    _ = ledger[RESERVATION(call["reservation_id"])]
    return None


@predicate(
    "airline/acting-user",
    guards=(BOOK, *ON_RESERVATIONS, CERTIFICATE),
    decision=Decision.BLOCK,
)
def acting_user(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """Nobody's booking, reservation or certificate is touched but the customer's own.

    Who the customer is was said, not looked up, and may have been corrected since. So only an owner
    among none of the profiles read is certainly somebody else; with no profile read, nobody is.
    """
    if "reservation_id" in call and ledger.get(RESERVATION(call["reservation_id"])) is None:
        return None
    served = [profile.get("user_id", path[1]) for path, profile in ledger.glob(USER)]
    if not served or owner(call, ledger) in served:
        return None
    return violation(
        "{subject} belongs to someone other than the customer ({served}) and can't be touched here",
        subject=_subject(call),
        served=served,
    )


def _subject(call: Mapping[str, Any]) -> str:
    if "reservation_id" in call:
        return f"reservation {call['reservation_id']}"
    return f"the profile {call['user_id']}"
