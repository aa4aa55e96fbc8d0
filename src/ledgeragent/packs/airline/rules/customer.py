"""Whose reservation it is, and that it was looked at."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ledgeragent.packs.airline.paths import RESERVATION, USER
from ledgeragent.packs.airline.records import ReservationCall
from ledgeragent.packs.wording import as_given
from ledgeragent.predicates import Broken, Private, View, predicate, violation
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


@predicate("airline/reservation-observed", guards=ON_RESERVATIONS, identity=True)
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
    identity=True,
)
def acting_user(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """Nobody's booking, reservation or certificate is touched but the customer's own.

    The customer is whose user id was the first that the user gave and the agent looked up. An id
    that the user gives in a later message corrects it, until a write was done for one of them; a
    profile that the agent looked up on its own makes nobody the customer. Where nothing that was
    said is known, any profile read may be the customer's; with no profile read, nobody is certainly
    somebody else.
    """
    if "reservation_id" in call and ledger.get(RESERVATION(call["reservation_id"])) is None:
        return None
    customers = _customers(ledger)
    if not customers or owner(call, ledger) in customers:
        return None
    return violation(
        "{subject} does not belong to the customer of this conversation{customers}; nothing of it "
        "can be changed or told here",
        subject=_subject(call),
        customers=Private(f" ({' or '.join(customers)})", instead=""),
    )


def _customers(ledger: View) -> list[str]:
    """The user ids that may be the customer's, among those whose profile was read."""
    ids = [profile.get("user_id", path[1]) for path, profile in ledger.glob(USER)]
    if len(ids) < 2:  # nearly always, and what was said is long
        return ids
    messages = [letters for text in ledger.said("user") if (letters := _letters(text))]
    if not messages:
        return ids
    mentions = {user_id: _first_with(_letters(user_id), messages) for user_id in ids}
    first = min(ids, key=lambda user_id: mentions[user_id])
    never = len(messages)
    candidates = [first, *(u for u in ids if mentions[first] < mentions[u] < never)]
    served = _served(ledger) if len(candidates) > 1 else set()
    return [user_id for user_id in candidates if user_id in served] or candidates


def _first_with(user_id: str, messages: Sequence[str]) -> int:
    """The number of the first message that holds an id; one past the last where none does."""
    whole = re.compile(f"{re.escape(user_id)}(?![0-9])")
    return next((n for n, text in enumerate(messages) if whole.search(text)), len(messages))


def _letters(text: str) -> str:
    """The text as it is compared: an id may be given with spaces, or in capitals."""
    return "".join(filter(str.isalnum, text.lower()))


def _served(ledger: View) -> set[str]:
    """The user ids that a write was done for."""
    served = set()
    for write in ledger.writes:
        trip = ledger.get(RESERVATION(str(write.arguments.get("reservation_id"))))
        served.add(str(write.arguments.get("user_id") or (trip and trip["user_id"])))
    return served


def _subject(call: Mapping[str, Any]) -> str | Private:
    if "reservation_id" in call:
        return f"reservation {call['reservation_id']}"
    return Private(f"the profile {as_given(call['user_id'])}", instead="that profile")
