"""Where each read of the airline lands in the ledger, and which fields each write makes unknown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

from ledgeragent.effects import Neutral, Read, ReturnRoute, Write, one_of, touch
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.packs.airline.records import (
    BookReservation,
    CancelReservation,
    Flight,
    FlightStatus,
    Listing,
    Reservation,
    SendCertificate,
    UpdateBaggages,
    UpdateFlights,
    UpdatePassengers,
    User,
)
from ledgeragent.packs.receipts import left_by, same_fields
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.types import Arguments, Json, ToolCall

USER = PathTemplate("users.{user_id}", User)
RESERVATION = PathTemplate("reservations.{reservation_id}", Reservation)
FLIGHT = PathTemplate("flights.{flight_number}.{date}", Flight)
STATUS = PathTemplate("flight_status.{flight_number}.{date}", str)
DIRECT = PathTemplate("searches.direct.{origin}.{destination}.{date}", Listing)
ONESTOP = PathTemplate("searches.onestop.{origin}.{destination}.{date}", Listing)
AIRPORTS = PathTemplate("airports", object)
SEEN_WITH = PathTemplate("flights_of.{reservation_id}", dict[str, str])
"""Every flight that a reservation was seen with, also those that a change took out of it since.

The keys are `flight_key(...)`, beside the id of the reservation itself.
"""


def flight_key(flight_number: str, date: str) -> str:
    """The key of a flight in `SEEN_WITH`."""
    return f"{flight_number} on {date}"


def _flights_seen(value: Json, arguments: Arguments) -> Iterator[Json]:
    """The flights of a reservation; of an odd one nothing, as its own route says what is odd."""
    if not isinstance(value, dict) or not isinstance(value.get("flights"), list):
        return
    segments = [segment for segment in value["flights"] if isinstance(segment, dict)]
    keys = [flight_key(str(s.get("flight_number")), str(s.get("date"))) for s in segments]
    of = value.get("reservation_id") or arguments.get("reservation_id")
    yield {"reservation_id": str(of), **dict.fromkeys(keys, "seen")}


def _listed(value: Json, arguments: Arguments) -> Iterator[Json]:
    """Every flight of a search: a list of flights, or of connections of several flights."""
    if not isinstance(value, list):
        raise ValueError("a search answers with a list")
    for entry in value:
        for flight in entry if isinstance(entry, list) else (entry,):
            if not isinstance(flight, dict) or not isinstance(flight.get("flight_number"), str):
                raise ValueError("a search lists flights, each with its number")
            yield flight


def _numbers(value: Json, arguments: Arguments) -> Iterable[Json]:
    """One record of what the search listed: its flight numbers, each once, in order."""
    numbers = (flight["flight_number"] for flight in _listed(value, arguments))
    return ({"flights": list(dict.fromkeys(numbers))},)


def _listed_on_the_day(value: Json, arguments: Arguments) -> Iterator[Json]:
    """Like `_listed`, for tau-bench's search of connections.

    A flight of the day after carries status, prices and seats of the day that was searched: left out.
    """
    for flight in _listed(value, arguments):
        if flight.get("date") in (None, arguments.get("date")):
            yield flight
        else:
            yield {name: flight[name] for name in flight if name not in _OF_THE_DAY}


_OF_THE_DAY = ("prices", "available_seats", "status")
_SEARCHES = {"search_direct_flight": DIRECT, "search_onestop_flight": ONESTOP}
_ROUTE = ("origin", "destination", "date")

_LOOK_UPS: tuple[Read[Any], ...] = (
    Read(tool="get_user_details", to=USER, parameters=("user_id",)),
    Read(tool="get_reservation_details", to=RESERVATION, parameters=("reservation_id",)),
    Read(
        tool="get_reservation_details",
        to=SEEN_WITH,
        parameters=("reservation_id",),
        records=_flights_seen,
        merge=True,
    ),
    Read(tool="search_direct_flight", to=FLIGHT, parameters=_ROUTE, records=_listed),
    *(
        Read(tool=tool, to=listing, parameters=_ROUTE, records=_numbers)
        for tool, listing in _SEARCHES.items()
    ),
    Read(tool="list_all_airports", to=AIRPORTS),
)

READS: tuple[Read[Any], ...] = (
    *_LOOK_UPS,
    Read(tool="search_onestop_flight", to=FLIGHT, parameters=_ROUTE, records=_listed),
    Read(
        tool="get_flight_status",
        to=STATUS,
        parameters=("flight_number", "date"),
        parse=one_of(*get_args(FlightStatus)),
    ),
)

READS_OF_TAU: tuple[Read[Any], ...] = (
    *_LOOK_UPS,
    Read(
        tool="search_onestop_flight",
        to=FLIGHT,
        parameters=_ROUTE,
        records=_listed_on_the_day,
        merge=True,
    ),
)
"""tau-bench has no flight status."""


def status_look_up(flight_number: str, date: str) -> ToolCall:
    """The call that reads a flight's status."""
    arguments = {"flight_number": flight_number, "date": date}
    return ToolCall(name="get_flight_status", arguments=arguments)


def reservation_look_up(reservation_id: str) -> ToolCall:
    """The call that reads a reservation."""
    arguments = {"reservation_id": reservation_id}
    return ToolCall(name="get_reservation_details", arguments=arguments)


def search(listing: Path[Listing]) -> ToolCall:
    """The search that fills a path of `DIRECT` or `ONESTOP`."""
    tool = next(tool for tool, family in _SEARCHES.items() if family.match(listing) is not None)
    return ToolCall(name=tool, arguments=dict(zip(_ROUTE, listing[2:], strict=True)))


def paid_with(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
    """The marks of a booking on the profile: certificates are used up, gift cards lose of their balance."""
    profile = USER(str(arguments["user_id"]))
    for payment in arguments["payment_methods"]:
        yield from _spent(profile, str(payment["payment_id"]), ledger)


def seats_taken(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
    """The seats that a booking takes on its flights."""
    for flight in arguments["flights"]:
        path = FLIGHT(str(flight["flight_number"]), str(flight["date"]))
        yield Touch(path, ("available_seats",))


def charged(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
    """The balance of the gift card that pays for a change, or gets its refund."""
    reservation = ledger.get(RESERVATION(str(arguments["reservation_id"])))
    if reservation is not None:
        profile = USER(reservation.value["user_id"])
        yield from _spent(profile, str(arguments["payment_id"]), ledger)


def _spent(profile: Path[User], payment_id: str, ledger: Ledger) -> Iterator[Touch]:
    """The mark of paying on a method: a certificate is used up, a gift card keeps its place."""
    entry = ledger.get(profile)
    methods = entry.value["payment_methods"] if entry is not None else {}
    match methods.get(payment_id, {}).get("source"):
        case "credit_card":
            return
        case "gift_card":
            yield Touch(profile, ("payment_methods", payment_id, "amount"))
        case _:
            yield Touch(profile, ("payment_methods", payment_id))


def rebooked(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
    """The marks of a change of flights or cabin: naming the same cabin again keeps it.

    A new cabin reprices every segment, so it changes the flights as well.
    """
    path = RESERVATION(str(arguments["reservation_id"]))
    entry = ledger.get(path)
    yield Touch(path, ("payment_history",))
    yield Touch(path, ("flights",))
    if entry is None or entry.stale_at(("cabin",)) or entry.value["cabin"] != arguments["cabin"]:
        yield Touch(path, ("cabin",))


def _cancelled(reservation: Mapping[str, Any], request: Mapping[str, Any]) -> bool:
    return bool(reservation.get("status") == "cancelled")


def _with_flights(reservation: Mapping[str, Any], request: Mapping[str, Any]) -> bool:
    flown, chosen = (
        [(flight["flight_number"], flight["date"]) for flight in flights]
        for flights in (reservation["flights"], request["flights"])
    )
    return flown == chosen


def _with_cabin(reservation: Mapping[str, Any], request: Mapping[str, Any]) -> bool:
    return _with_flights(reservation, request) and str(reservation["cabin"]) == request["cabin"]


_SEEN = ReturnRoute(to=SEEN_WITH, records=_flights_seen, merge=True)

_BOOK = Write(
    tool="book_reservation",
    arguments=BookReservation,
    touches=(touch(USER, "reservations"), paid_with, seats_taken),
    returns=(left_by(RESERVATION, BookReservation, _with_flights), _SEEN),
)
_CHANGE = Write(
    tool="update_reservation_flights",
    arguments=UpdateFlights,
    touches=(rebooked, charged),
    returns=(left_by(RESERVATION, UpdateFlights, _with_cabin), _SEEN),
)
_OTHERS = (
    Write(
        tool="cancel_reservation",
        arguments=CancelReservation,
        touches=(touch(RESERVATION, "status", "payment_history"),),
        returns=(left_by(RESERVATION, CancelReservation, _cancelled), _SEEN),
    ),
    Write(
        tool="update_reservation_baggages",
        arguments=UpdateBaggages,
        touches=(
            touch(RESERVATION, "total_baggages", "nonfree_baggages", "payment_history"),
            charged,
        ),
        returns=(
            left_by(RESERVATION, UpdateBaggages, same_fields("total_baggages", "nonfree_baggages")),
            _SEEN,
        ),
    ),
    Write(
        tool="update_reservation_passengers",
        arguments=UpdatePassengers,
        touches=(touch(RESERVATION, "passengers"),),
        returns=(
            left_by(RESERVATION, UpdatePassengers, same_fields("passengers")),
            _SEEN,
        ),
    ),
    Write(
        tool="send_certificate",
        arguments=SendCertificate,
        touches=(touch(USER, "payment_methods"),),
    ),
)

WRITES = (_BOOK, _CHANGE, *_OTHERS)

WRITES_OF_TAU = (
    _BOOK,
    replace(
        _CHANGE,
        returns=(
            left_by(RESERVATION, UpdateFlights, _with_flights, omit="cabin"),
            _SEEN,
        ),
    ),
    *_OTHERS,
)
"""tau-bench's change of flights answers with the cabin from before the change."""

NEUTRALS = (Neutral(tool="calculate"), Neutral(tool="transfer_to_human_agents"))

NEUTRALS_OF_TAU = (*NEUTRALS, Neutral(tool="think"))
"""tau-bench also gives the agent a tool to think aloud."""
