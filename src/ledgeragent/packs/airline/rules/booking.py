"""Rules on bookings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from ledgeragent.packs.airline.records import BookReservation, UpdatePassengers
from ledgeragent.packs.airline.rules.customer import BOOK, PASSENGERS
from ledgeragent.packs.airline.rules.itinerary import (
    Leg,
    Trip,
    ask_for,
    itinerary,
    refusal,
    told,
)
from ledgeragent.packs.wording import exact
from ledgeragent.predicates import Broken, Private, View, predicate, violation

MOST_PASSENGERS = 5
INSURANCE = 30
PAID_BAG = 50

_DATE = re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}")
_PLACES = 6  # beyond them, adding up leaves noise
_FORM = "with first_name, last_name and dob (YYYY-MM-DD)"


@predicate("airline/passenger-limit", guards=BOOK)
def passenger_limit(call: BookReservation, ledger: View) -> Broken | None:
    """A reservation has at most five passengers."""
    count = len(call["passengers"])
    if count <= MOST_PASSENGERS:
        return None
    return violation(
        "passengers lists {count}, and at most {most} can travel on one reservation",
        count=count,
        most=MOST_PASSENGERS,
    )


@predicate("airline/passenger-details", guards=(BOOK, PASSENGERS))
def passenger_details(call: BookReservation | UpdatePassengers, ledger: View) -> Broken | None:
    """Every passenger comes with first name, last name and date of birth.

    Rejects: nobody at all, "Anya Garcia" as a passenger, a name without a letter, a date of birth
    that is no date.
    """
    if not call["passengers"]:
        return violation("passengers is empty; name at least one, {form}", form=_FORM)
    for number, passenger in enumerate(call["passengers"]):
        lacking = _lacking(passenger)
        if lacking:
            return violation(
                "passengers[{number}] lacks a usable {lacking}; name each passenger {form}",
                number=number,
                lacking=lacking,
                form=_FORM,
            )
    return None


def _lacking(passenger: Any) -> list[str]:
    """Which details of a passenger are missing, blank, or no date where one is needed."""
    details = passenger if isinstance(passenger, Mapping) else {}
    names = [name for name in ("first_name", "last_name") if not _is_name(details.get(name))]
    return names if _is_date(details.get("dob")) else [*names, "dob"]


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and any(map(str.isalpha, value))


def _is_date(value: Any) -> bool:
    try:
        return _DATE.fullmatch(value) is not None and bool(date.fromisoformat(value))
    except (TypeError, ValueError):
        return False


@predicate("airline/booking-total", guards=BOOK)
def booking_total(call: BookReservation, ledger: View) -> Broken | None:
    """The payments add up to fares, insurance and paid bags.

    A fare is what the latest search asks for the flight in the cabin. A flight that can't be taken,
    and none at all, are left to `airline/flight-available`.
    Rejects: a cabin for which the search tells no price.
    """
    if not call["passengers"] or not call["flights"]:
        return None
    fares = 0.0
    for leg, prices in _prices(call, ledger):
        if prices is None:
            return None
        if call["cabin"] not in prices:
            return violation(
                "cabin can't be {cabin}: the search tells no such price for {leg}, only for {cabins}",
                cabin=call["cabin"].replace("_", " "),
                leg=str(leg),
                cabins=[cabin.replace("_", " ") for cabin in prices],
            )
        fares += prices[call["cabin"]]
    insured = INSURANCE if call["insurance"] == "yes" else 0
    bags = PAID_BAG * call["nonfree_baggages"]
    total = (fares + insured) * len(call["passengers"]) + bags
    paid = sum(payment["amount"] for payment in call["payment_methods"])
    if abs(paid - total) < 0.005:
        return None
    count = len(call["passengers"])
    return violation(
        "the amounts{argument} must add up to {total}, not {paid}: {passengers} x ({fares} "
        "fare + {insured} insurance) + {bags} for bags",
        argument=Private(" in payment_methods", " to pay"),
        paid=exact(round(paid, _PLACES)),
        total=exact(total),
        fares=exact(fares),
        insured=insured,
        passengers=f"{count} passenger{'s' if count != 1 else ''}",
        bags=bags,
    )


def _prices(
    call: BookReservation, ledger: View
) -> Iterator[tuple[Leg, Mapping[str, float] | None]]:
    """Each flight with its prices by cabin, None where it can't be taken. Asks where nothing tells."""
    trip = Trip(call["origin"], call["destination"], call["flight_type"])
    for leg in itinerary(call["flights"], trip, (), call["user_id"], ledger):
        prices = told(leg, "prices", ledger)
        if prices is None and not refusal(leg, ledger):
            ask_for(leg, ledger)
        yield leg, prices.value if prices is not None else None
