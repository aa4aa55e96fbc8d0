"""Rules on changes of flights, cabin or passengers."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

from ledgeragent.packs.airline.paths import RESERVATION, reservation_look_up
from ledgeragent.packs.airline.records import (
    BookReservation,
    Reservation,
    UpdateFlights,
    UpdatePassengers,
)
from ledgeragent.packs.airline.rules.cancel import described, flown
from ledgeragent.packs.airline.rules.customer import BOOK, FLIGHTS, PASSENGERS
from ledgeragent.packs.airline.rules.itinerary import (
    Leg,
    Trip,
    ask_for,
    itinerary,
    key,
    refusal,
)
from ledgeragent.predicates import Broken, MissingEvidence, View, predicate, violation


@predicate("airline/flight-available", guards=(BOOK, FLIGHTS))
def flight_available(call: BookReservation | UpdateFlights, ledger: View) -> Broken | None:
    """Every new flight was seen to be available on its date; kept flights are not asked about.

    Rejects: a delayed flight, one that a search of its route and date does not list, one that is
    named twice, and a booking of no flight at all.
    Allows: what the latest search lists, or whose status was read as available.
    """
    if "reservation_id" in call and _is_frozen(call, ledger):
        return None
    chosen = [" on ".join(key(flight)) for flight in call["flights"]]
    if not chosen and "reservation_id" not in call:
        return violation("flights is empty; name the flights to book, each with number and date")
    twice = [flight for flight in dict.fromkeys(chosen) if chosen.count(flight) > 1]
    if twice:
        return violation(
            "flights names {twice} more than once; name each flight once", twice=" and ".join(twice)
        )
    for leg in _legs(call, ledger):
        against = "" if leg.booked else refusal(leg, ledger)
        if against:
            return violation(
                "{leg} can't be taken: {against}; only flights that are available on their date can",
                leg=str(leg),
                against=against,
            )
    return None


def _is_frozen(call: Any, ledger: View) -> bool:
    """True if a change is refused for basic economy, so that nothing else of it matters."""
    booked = ledger[RESERVATION(call["reservation_id"])]
    return not _unchanged(call, booked) and booked["cabin"] == "basic_economy"


def _legs(call: Any, ledger: View) -> list[Leg]:
    if "reservation_id" not in call:
        trip = Trip(call["origin"], call["destination"], call["flight_type"])
        return itinerary(call["flights"], trip, (), call["user_id"], ledger)
    booked = ledger[RESERVATION(call["reservation_id"])]
    segments, user_id = booked["flights"], booked["user_id"]
    return itinerary(call["flights"], _trip(booked), segments, user_id, ledger)


def _unchanged(call: UpdateFlights, booked: Reservation) -> bool:
    """True if a call names the flights that are booked, in their order: it is the new itinerary."""
    return list(map(key, call["flights"])) == list(map(key, booked["flights"]))


def _trip(booked: Reservation) -> Trip:
    return Trip(booked["origin"], booked["destination"], booked["flight_type"])


@predicate("airline/basic-economy-flights", guards=FLIGHTS)
def basic_economy_flights(call: UpdateFlights, ledger: View) -> Broken | None:
    """The flights of a basic economy reservation stay as they are; its cabin may change.

    Rejects: another flight or date, even along with a new cabin.  Allows: the same flights again.
    """
    booked = ledger[RESERVATION(call["reservation_id"])]
    if not _is_frozen(call, ledger):
        if not _unchanged(call, booked):
            _confirm_cabin(call, ledger)
        return None
    return violation(
        "reservation {id} is basic economy, so its flights can't be changed; flights must be as "
        "booked: {flights}",
        id=call["reservation_id"],
        flights=", ".join(" on ".join(key(segment)) for segment in booked["flights"]) or "none",
    )


def _confirm_cabin(call: UpdateFlights, ledger: View) -> None:
    """Asks to read a cabin of which only a change of it has told: it was basic economy's way out."""
    path = RESERVATION(call["reservation_id"])
    entry = ledger.entry(path)
    if entry is not None and entry.origin(("cabin",)).source.name == FLIGHTS:
        raise MissingEvidence(path, fields=("cabin",), reads=(reservation_look_up(path[-1]),))


@predicate("airline/same-route", guards=FLIGHTS)
def same_route(call: UpdateFlights, ledger: View) -> Broken | None:
    """New flights lead from the reservation's origin over its destination to where it ends.

    Rejects: another city at either end, or flights that don't follow on each other.  Kept segments
    need no search; whether the way back is there is `airline/same-trip-type`'s to say, once this
    rule has nothing to say.
    """
    booked = ledger[RESERVATION(call["reservation_id"])]
    legs = _new_legs(call, booked, ledger)
    problem = _off_route(legs, _trip(booked)) if legs is not None else ""
    if not problem:
        return None
    return violation(
        "{problem}; the flights of reservation {id} must lead from {origin} to {destination}{back}",
        id=call["reservation_id"],
        origin=booked["origin"],
        destination=booked["destination"],
        back=" and back" if booked["flight_type"] == "round_trip" else "",
        problem=problem,
    )


def _new_legs(call: UpdateFlights, booked: Reservation, ledger: View) -> list[Flown] | None:
    """The legs of a new itinerary; None where it is none, or is refused for another reason."""
    if _unchanged(call, booked) or _is_frozen(call, ledger):
        return None
    return _routes(_legs(call, ledger), ledger)


class Flown(NamedTuple):
    """A leg with its route."""

    name: str
    start: str
    end: str


def _routes(legs: list[Leg], ledger: View) -> list[Flown] | None:
    """The route of every leg; None where a leg can't be taken, which is `flight-available`'s."""
    routes = []
    for leg in legs:
        if leg.route is not None:
            routes.append(Flown(str(leg), *leg.route))
        elif refusal(leg, ledger):
            return None
        else:
            ask_for(leg, ledger)
    return routes


def _off_route(legs: list[Flown], trip: Trip) -> str:
    """The fault of the routes for this trip, "" if there is none."""
    if not legs:
        return "flights is empty"
    if legs[0].start != trip.origin:
        return f"{legs[0].name} leaves from {legs[0].start}"
    for one, after in pairwise(legs):
        if one.end != after.start:
            return f"{one.name} lands at {one.end}, but {after.name} leaves from {after.start}"
    if trip.destination not in {leg.end for leg in legs}:
        return f"none of the flights lands at {trip.destination}"
    if legs[-1].end in (trip.origin, trip.destination):
        return ""
    return f"{legs[-1].name} ends at {legs[-1].end}"


@predicate("airline/same-trip-type", guards=FLIGHTS)
def same_trip_type(call: UpdateFlights, ledger: View) -> Broken | None:
    """A one way stays a one way, and a round trip a round trip.

    Rejects: the way back dropped, or one added.  Allows: a one way that was booked to end where it
    begins, over another airport, as long as it comes back once.
    """
    booked = ledger[RESERVATION(call["reservation_id"])]
    legs = _new_legs(call, booked, ledger)
    if not legs or _off_route(legs, _trip(booked)):
        return None
    returns = _is_round_trip(legs, booked)
    if returns == (booked["flight_type"] == "round_trip"):
        return None
    return violation(
        "flights must make a {booked} of reservation {id}, as booked, not a {asked}",
        id=call["reservation_id"],
        booked=booked["flight_type"].replace("_", " "),
        asked="round trip" if returns else "one way",
    )


def _is_round_trip(legs: list[Flown], booked: Reservation) -> bool:
    """True if the flights lead back to where they begin.

    Where the booked trip ends where it begins, either way does. Its one way then comes home as often
    as it was booked to, and so does its round trip: once more, or less, makes it the other.
    """
    home = booked["origin"]
    if home != booked["destination"] or legs[-1].end != legs[0].start:
        return legs[-1].end == legs[0].start
    before = [segment["destination"] for segment in booked["flights"]].count(home)
    now = [leg.end for leg in legs].count(home)
    return now >= before if booked["flight_type"] == "round_trip" else now > before


@predicate("airline/cabin-change-flown", guards=FLIGHTS, versions=("tau2",))
def cabin_change_flown(call: UpdateFlights, ledger: View) -> Broken | None:
    """The cabin stays as it is once any flight of the reservation was flown.

    Today's flights need their status, later ones nothing; the same cabin again is no change.
    """
    booked = ledger[RESERVATION(call["reservation_id"])]
    today = str(ledger.parameters["now"])[:10]
    if all(segment["date"] > today for segment in booked["flights"]):
        return None
    gone = None if booked["cabin"] == call["cabin"] else flown(booked["flights"], ledger)
    if gone is None:
        return None
    return violation(
        "cabin must stay {cabin}: the cabin of reservation {id} can't be changed any more, because "
        "{segment} has already taken off",
        id=call["reservation_id"],
        segment=described(gone, ledger),
        cabin=booked["cabin"].replace("_", " "),
    )


@predicate("airline/passenger-count", guards=PASSENGERS)
def passenger_count(call: UpdatePassengers, ledger: View) -> Broken | None:
    """Passengers can be changed, their number can't."""
    booked = len(ledger[RESERVATION(call["reservation_id"])]["passengers"])
    if len(call["passengers"]) == booked:
        return None
    return violation(
        "passengers must list {booked}, as many as reservation {id} has, not {asked}: their number "
        "can't be changed",
        id=call["reservation_id"],
        booked=booked,
        asked=len(call["passengers"]),
    )
