"""The flights that a call names: where they fly, and whether they can be taken."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple, NoReturn

from ledgeragent.packs.airline.paths import (
    AIRPORTS,
    DIRECT,
    FLIGHT,
    ONESTOP,
    RESERVATION,
    STATUS,
    search,
    status_look_up,
)
from ledgeragent.packs.airline.records import Flight, FlightChoice, Listing, Segment
from ledgeragent.paths import Path
from ledgeragent.predicates import View, demand
from ledgeragent.types import ToolCall

FlightRoute = tuple[str, str]
"""Origin and destination."""


class Trip(NamedTuple):
    """The trip that a reservation promises: from where, to where, and whether back again."""

    origin: str
    destination: str
    flight_type: str

    @property
    def end(self) -> str:
        """Where the last flight lands."""
        return self.origin if self.flight_type == "round_trip" else self.destination


class Leg(NamedTuple):
    """One flight of a call; `route` is None if the flight was observed on no date at all.

    `gap` is the route that the legs around it leave for it, as far as their routes are known, and
    `wide` the route that they leave for it and the next leg together.
    """

    number: str
    date: str
    booked: bool
    route: FlightRoute | None
    gap: FlightRoute | None
    wide: FlightRoute | None

    def __str__(self) -> str:
        return f"{self.number} on {self.date}"


def itinerary(
    flights: Sequence[FlightChoice],
    trip: Trip,
    segments: Iterable[Segment],
    user_id: str,
    ledger: View,
) -> list[Leg]:
    """The legs of a call for a trip of `user_id` that has `segments` so far."""
    current = {key(s): (s["origin"], s["destination"]) for s in segments}
    routes = [current.get(key(f)) or _observed_route(f, user_id, ledger) for f in flights]
    stops = _stops(routes, trip)
    return [
        Leg(
            *key(flight),
            booked=key(flight) in current,
            route=routes[i],
            gap=_between(stops, i, i + 1),
            wide=_between(stops, i, i + 2),
        )
        for i, flight in enumerate(flights)
    ]


def key(flight: FlightChoice | Segment) -> tuple[str, str]:
    """Number and date, which tell one flight from another."""
    return flight["flight_number"], flight["date"]


def _observed_route(flight: FlightChoice, user_id: str, ledger: View) -> FlightRoute | None:
    """Where a flight flies: the same on every date, so any sight of its number tells.

    Other people's reservations are none: what stands there is not to be told.
    """
    seen = ledger.get(FLIGHT(*key(flight)))
    if seen is not None:
        return seen["origin"], seen["destination"]
    for other in _sights(flight["flight_number"], user_id, ledger):
        return other["origin"], other["destination"]
    return None


def _sights(number: str, user_id: str, ledger: View) -> Iterator[Flight | Segment]:
    for path, flight in ledger.glob(FLIGHT):
        if path[1] == number:
            yield flight
    for booked, reservation in ledger.glob(RESERVATION):
        entry = ledger.entry(booked)
        if entry is None or entry.stale_at(("flights",)) or reservation["user_id"] != user_id:
            continue
        if any(s["flight_number"] == number for s in entry.value.get("flights", ())):
            yield from (s for s in reservation["flights"] if s["flight_number"] == number)


def _stops(routes: Sequence[FlightRoute | None], trip: Trip) -> list[str | None]:
    """The airports before, between and after the legs, None where nothing tells."""
    stops: list[str | None] = [trip.origin, *[None] * (len(routes) - 1), trip.end]
    for i, route in enumerate(routes):
        if route is not None:
            stops[i : i + 2] = route
    if len(routes) == 2 and trip.end != trip.destination:
        stops[1] = stops[1] or trip.destination
    return stops


def _between(stops: Sequence[str | None], first: int, last: int) -> FlightRoute | None:
    if last >= len(stops):
        return None
    start, end = stops[first], stops[last]
    return (start, end) if start and end else None


def ask_for(leg: Leg, ledger: View) -> NoReturn:
    """Asks for the search that would list the leg.

    Where that is not known, or was made in vain: for its status, unless that was read, or any search
    on its date. Once one was made, the airports tell which others there are.
    """
    path = _search_for(leg)
    reads = [search(path)] if path is not None else []
    if path is None or (leg.route is None and ledger.entry(path) is not None):
        anywhere = ToolCall(name="search_direct_flight", arguments={"date": leg.date})
        if ledger.get(STATUS(leg.number, leg.date)) is None:
            reads.append(status_look_up(leg.number, leg.date))
        reads.append(anywhere)
        searched = any(listing[-1] == leg.date for listing, _ in ledger.glob(DIRECT))
        if searched and ledger.get(AIRPORTS()) is None:
            reads.append(ToolCall(name="list_all_airports"))
    demand(FLIGHT(leg.number, leg.date), *reads)


def _search_for(leg: Leg) -> Path[Listing] | None:
    """Where the search is kept that would list a leg if it can be taken."""
    route = leg.route or leg.gap
    if route is not None:
        return DIRECT(*route, leg.date)
    return ONESTOP(*leg.wide, leg.date) if leg.wide is not None else None


class Sight(NamedTuple):
    """One observation of whether a leg can be taken; `against` says why not, "" if it can."""

    turn: int
    against: str


def refusal(leg: Leg, ledger: View) -> str:
    """Why a leg can't be taken, "" if it can. Asks for a search where nothing tells.

    The latest observation counts; of two in the same turn, the one that speaks against the leg.
    """
    sights = list(_sights_of(leg, ledger))
    if not sights:
        ask_for(leg, ledger)
    return max(sights, key=lambda sight: (sight.turn, bool(sight.against))).against


def _sights_of(leg: Leg, ledger: View) -> Iterator[Sight]:
    status = ledger.entry(STATUS(leg.number, leg.date))
    if status is not None:
        yield _by_status(status.turn, ledger[STATUS(leg.number, leg.date)])
    listed = told(leg, "status", ledger)
    if listed is not None:
        yield _by_status(listed.turn, listed.value)
    if leg.route is None and leg.gap is None:
        yield from _listed_nowhere(leg, ledger)
    else:
        yield from _missing_from_search(leg, ledger)


def _by_status(turn: int, status: str) -> Sight:
    return Sight(turn, "" if status == "available" else f"its status is {status}")


class SearchedValue(NamedTuple):
    """A field of a flight as a search told it, and when."""

    value: Any
    turn: int


def told(leg: Leg, field: str, ledger: View) -> SearchedValue | None:
    """The latest search's word on a leg.

    None if none does, or if the one that did was made again and lists the leg no more.
    """
    path = FLIGHT(leg.number, leg.date)
    entry, flight = ledger.entry(path), ledger.get(path)
    if entry is None or flight is None or field not in flight:
        return None
    source, turn = entry.origin((field,))
    route = (str(source.arguments.get(name)) for name in ("origin", "destination", "date"))
    again = ledger.get((DIRECT if source.name == "search_direct_flight" else ONESTOP)(*route))
    if again is not None and leg.number not in again["flights"]:
        return None
    return SearchedValue(flight.get(field), turn)


def _missing_from_search(leg: Leg, ledger: View) -> Iterator[Sight]:
    """A direct search of the leg's route and date that does not list it."""
    route = leg.route or leg.gap
    path = DIRECT(*route, leg.date) if route is not None else None
    entry = ledger.entry(path) if path is not None else None
    if path is None or route is None or entry is None:
        return
    numbers = ledger[path]["flights"]
    if leg.number not in numbers:
        listed = f"{', '.join(numbers)}, and not this one" if numbers else "no flight"
        searched = f"the search from {route[0]} to {route[1]} on that date"
        yield Sight(entry.turn, f"{searched} lists {listed}")


def _listed_nowhere(leg: Leg, ledger: View) -> Iterator[Sight]:
    """That every route there is was searched on the leg's date, and none lists it."""
    turns = []
    for route in permutations(_airports(ledger), 2):
        path = DIRECT(*route, leg.date)
        entry = ledger.entry(path)
        if entry is None or leg.number in ledger[path]["flights"]:
            return
        turns.append(entry.turn)
    if turns:
        yield Sight(min(turns), "no search on that date lists it, from whatever airport")


def _airports(ledger: View) -> list[str]:
    """The codes of all airports, none if they were not read: keys in tau-bench, fields in tau2."""
    listed = ledger.get(AIRPORTS())
    if isinstance(listed, Mapping):
        return list(listed)
    records = listed if isinstance(listed, list) else ()
    return [record["iata"] for record in records if isinstance(record, dict) and "iata" in record]
