"""What a change of flights, cabin or passengers must keep to."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ledgeragent.packs.airline.paths import RESERVATION
from ledgeragent.packs.airline.records import (
    BookReservation,
    Reservation,
    UpdateFlights,
    UpdatePassengers,
)
from ledgeragent.packs.airline.rules.cancel import described, flown
from ledgeragent.packs.airline.rules.customer import BOOK, FLIGHTS, PASSENGERS
from ledgeragent.packs.airline.rules.itinerary import (
    FlightRoute,
    Leg,
    Trip,
    ask_for,
    itinerary,
    key,
    refusal,
)
from ledgeragent.predicates import Broken, View, predicate, violation


@predicate("airline/flight-available", guards=(BOOK, FLIGHTS))
def flight_available(call: BookReservation | UpdateFlights, ledger: View) -> Broken | None:
    """Every new flight was seen to be available on its date; kept flights are not asked about.

    Rejects: a delayed flight, or one that a search of its route and date does not list.
    Allows: what the latest search lists, or whose status was read as available.
    """
    for leg in _legs(call, ledger):
        against = "" if leg.kept else refusal(leg, ledger)
        if against:
            return violation(
                "{leg} can't be taken: {against}; only flights that are available on their date can",
                leg=str(leg),
                against=against,
            )
    return None


def _legs(call: Any, ledger: View) -> list[Leg]:
    if "reservation_id" not in call:
        trip = Trip(call["origin"], call["destination"], call["flight_type"])
        return itinerary(call["flights"], trip, (), ledger)
    booked = ledger[RESERVATION(call["reservation_id"])]
    return itinerary(call["flights"], _trip(booked), booked["flights"], ledger)


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
    if _unchanged(call, booked):
        return None
    if booked["cabin"] != "basic_economy":
        return None
    return violation(
        "reservation {id} is basic economy, so its flights can't be changed; only its cabin can, "
        "with the flights as they are: {flights}",
        id=call["reservation_id"],
        flights=", ".join(" on ".join(key(segment)) for segment in booked["flights"]),
    )


@predicate("airline/same-route", guards=FLIGHTS)
def same_route(call: UpdateFlights, ledger: View) -> Broken | None:
    """New flights lead from the reservation's origin over its destination to where it ends.

    Rejects: another city at either end, or flights that don't follow on each other.  Kept segments
    need no search; whether the way back is there is `airline/same-trip-type`'s to say.
    """
    booked = ledger[RESERVATION(call["reservation_id"])]
    routes = None if _unchanged(call, booked) else _routes(_legs(call, ledger), ledger)
    problem = _off_route(routes, _trip(booked)) if routes is not None else ""
    if not problem:
        return None
    return violation(
        "reservation {id} goes from {origin} to {destination}, and a change keeps that; {problem}",
        id=call["reservation_id"],
        origin=booked["origin"],
        destination=booked["destination"],
        problem=problem,
    )


def _routes(legs: list[Leg], ledger: View) -> list[FlightRoute] | None:
    """The route of every leg; None where a leg can't be taken, which is `flight-available`'s."""
    routes = []
    for leg in legs:
        if leg.route is not None:
            routes.append(leg.route)
        elif refusal(leg, ledger):
            return None
        else:
            ask_for(leg, ledger)
    return routes


def _off_route(routes: list[FlightRoute], trip: Trip) -> str:
    """What is wrong with the routes for this trip, "" if nothing is."""
    if not routes:
        return "the call names no flights"
    start, end = routes[0][0], routes[-1][1]
    if start != trip.origin:
        return f"the new flights begin at {start}"
    for (_, landing), (takeoff, _) in pairwise(routes):
        if landing != takeoff:
            return f"one new flight lands at {landing} and the next one leaves from {takeoff}"
    if trip.destination not in {landing for _, landing in routes}:
        return f"the new flights never land at {trip.destination}"
    return "" if end in (trip.origin, trip.destination) else f"the new flights end at {end}"


@predicate("airline/same-trip-type", guards=FLIGHTS)
def same_trip_type(call: UpdateFlights, ledger: View) -> Broken | None:
    """A one way stays a one way, and a round trip a round trip.

    Rejects: the way back dropped, or one added.  Allows: a one way that was booked to end where it
    begins, over another airport, as long as it comes back once.
    """
    booked = ledger[RESERVATION(call["reservation_id"])]
    routes = None if _unchanged(call, booked) else _routes(_legs(call, ledger), ledger)
    if not routes:
        return None
    returns = _is_round_trip(routes, booked)
    if returns == (booked["flight_type"] == "round_trip"):
        return None
    return violation(
        "reservation {id} is a {booked} and has to stay one; the new flights make it a {asked}",
        id=call["reservation_id"],
        booked=booked["flight_type"].replace("_", " "),
        asked="round trip" if returns else "one way",
    )


def _is_round_trip(routes: list[FlightRoute], booked: Reservation) -> bool:
    """True if the flights lead back to where they begin.

    Where the booked trip ends where it begins, either way does. Its one way then comes home as often
    as it was booked to, and so does its round trip: once more, or less, makes it the other.
    """
    home = booked["origin"]
    if home != booked["destination"] or routes[-1][1] != routes[0][0]:
        return routes[-1][1] == routes[0][0]
    before = [segment["destination"] for segment in booked["flights"]].count(home)
    now = [landing for _, landing in routes].count(home)
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
        "the cabin of reservation {id} can't be changed any more, because {segment} has already taken off; "
        "it stays {cabin}",
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
        "the number of passengers of reservation {id} is {booked} and can't be changed to {asked}",
        id=call["reservation_id"],
        booked=booked,
        asked=len(call["passengers"]),
    )
