"""The airline's records as its read tools return them, and the arguments of its write tools."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

from ledgeragent.compiler.day import Day

Cabin: TypeAlias = Literal["basic_economy", "economy", "business"]
TripType: TypeAlias = Literal["one_way", "round_trip"]
YesOrNo: TypeAlias = Literal["yes", "no"]
Membership: TypeAlias = Literal["regular", "silver", "gold"]
FlightStatus: TypeAlias = Literal[
    "available", "on time", "delayed", "flying", "landed", "cancelled"
]


class Segment(TypedDict):
    """One flight of a reservation; `price` is what each passenger paid for it."""

    flight_number: str
    origin: str
    destination: str
    date: Day
    price: float


class Passenger(TypedDict):
    """A traveller."""

    first_name: str
    last_name: str
    dob: str


class Payment(TypedDict):
    """A sum charged to a payment method; a refund is negative."""

    payment_id: str
    amount: float


class Reservation(TypedDict):
    """A booked trip. `status` is cancelled once it was cancelled, else null or absent."""

    reservation_id: str
    user_id: str
    origin: str
    destination: str
    flight_type: TripType
    cabin: Cabin
    flights: list[Segment]
    passengers: list[Passenger]
    payment_history: list[Payment]
    created_at: str
    total_baggages: int
    nonfree_baggages: int
    insurance: YesOrNo
    status: NotRequired[Literal["cancelled"] | None]


class PaymentMethod(TypedDict):
    """A way to pay: `source` is credit_card, gift_card or certificate; a card has no amount."""

    id: str
    source: Literal["credit_card", "gift_card", "certificate"]
    amount: NotRequired[float]
    brand: NotRequired[str]
    last_four: NotRequired[str]


class User(TypedDict):
    """A customer's profile; `payment_methods` by id. tau-bench leaves out the id itself."""

    user_id: NotRequired[str]
    name: dict[str, str]
    address: dict[str, str]
    email: str
    dob: str
    payment_methods: dict[str, PaymentMethod]
    saved_passengers: list[Passenger]
    membership: Membership
    reservations: list[str]


class Flight(TypedDict):
    """A flight on one date as a search lists it; `date` is null where the search names the date.

    tau-bench tells no status, prices and seats of a connection's flight on the day after.
    """

    flight_number: str
    origin: str
    destination: str
    status: NotRequired[FlightStatus]
    scheduled_departure_time_est: str
    scheduled_arrival_time_est: str
    date: NotRequired[str | None]
    available_seats: NotRequired[dict[str, int]]
    prices: NotRequired[dict[str, float]]


class Listing(TypedDict):
    """The latest search of a route and date: the numbers of the flights it listed."""

    flights: list[str]


class FlightChoice(TypedDict):
    """A flight as a call names it."""

    flight_number: str
    date: str


class ReservationCall(TypedDict):
    """The argument that every write on a reservation has."""

    reservation_id: str


class CancelReservation(ReservationCall):
    """Arguments of cancel_reservation."""


class UpdateFlights(ReservationCall):
    """Arguments of update_reservation_flights; `flights` is the whole new itinerary."""

    cabin: Cabin
    flights: list[FlightChoice]
    payment_id: str


class UpdateBaggages(ReservationCall):
    """Arguments of update_reservation_baggages: the new totals."""

    total_baggages: int
    nonfree_baggages: int
    payment_id: str


class UpdatePassengers(ReservationCall):
    """Arguments of update_reservation_passengers; what each element lacks is for a rule to say."""

    passengers: list[Any]


class BookReservation(TypedDict):
    """Arguments of book_reservation."""

    user_id: str
    origin: str
    destination: str
    flight_type: TripType
    cabin: Cabin
    flights: list[FlightChoice]
    passengers: list[Any]
    payment_methods: list[Payment]
    total_baggages: int
    nonfree_baggages: int
    insurance: YesOrNo


class SendCertificate(TypedDict):
    """Arguments of send_certificate."""

    user_id: str
    amount: float
