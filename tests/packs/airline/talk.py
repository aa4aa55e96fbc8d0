"""Invented customers, reservations and flights of the airline, calls on them, and conversations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.packs import load_domain
from ledgeragent.paths import Path
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Verdict
from tests.packs.talk import Talk

TAU2 = load_domain("airline")
TAU = load_domain("airline", "tau")
NORA = "nora_vale_1001"
OUT = {"flight_number": "NV101", "origin": "OAK", "destination": "BOI", "date": "2024-05-20"}
BACK = {"flight_number": "NV102", "origin": "BOI", "destination": "OAK", "date": "2024-05-25"}
ANA = {"first_name": "Ana", "last_name": "Reyes", "dob": "1991-02-03"}
BEN = {"first_name": "Ben", "last_name": "Okafor", "dob": "1988-11-30"}


def profile(user_id: str = NORA, *methods: str, **changes: Any) -> dict[str, Any]:
    names = methods or ("credit_card_11", "gift_card_21", "certificate_31")
    return {
        "user_id": user_id,
        "payment_methods": {
            name: {"id": name, "source": name.rpartition("_")[0], "amount": 500} for name in names
        },
        "membership": "regular",
        "reservations": ["RV0001"],
        **changes,
    }


def booked(*segments: Mapping[str, str], **changes: Any) -> dict[str, Any]:
    flights = changes.pop("flights", segments or (OUT,))
    return {
        "reservation_id": "RV0001",
        "user_id": NORA,
        "origin": "OAK",
        "destination": "BOI",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{**segment, "price": 100} for segment in flights],
        "passengers": [ANA],
        "payment_history": [{"payment_id": "credit_card_11", "amount": 100}],
        "created_at": "2024-05-02T10:00:00",
        "total_baggages": 0,
        "nonfree_baggages": 0,
        "insurance": "no",
        **changes,
    }


def found(number: str, origin: str, destination: str, date: str | None = None) -> dict[str, Any]:
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "status": "available",
        "date": date,
        "available_seats": {"basic_economy": 9, "economy": 9, "business": 9},
        "prices": {"basic_economy": 60, "economy": 100, "business": 400},
    }


def on(date: str) -> dict[str, str]:
    return {**OUT, "date": date}


class AirlineTalk(Talk):
    def __init__(self, domain: Domain = TAU2) -> None:
        super().__init__(domain)

    def profile(self, record: Mapping[str, Any] | None = None) -> AirlineTalk:
        record = record or profile()
        return self.tool("get_user_details", record, user_id=record["user_id"])

    def reservation(self, record: Mapping[str, Any] | None = None) -> AirlineTalk:
        record = record or booked()
        return self.tool("get_reservation_details", record, reservation_id=record["reservation_id"])

    def direct(self, origin: str, destination: str, date: str, *numbers: str) -> AirlineTalk:
        return self.tool(
            "search_direct_flight",
            [found(number, origin, destination) for number in numbers],
            origin=origin,
            destination=destination,
            date=date,
        )

    def status(self, number: str, date: str, value: str) -> AirlineTalk:
        return self.tool("get_flight_status", value, flight_number=number, date=date)

    def wrote(self, call: ToolCall, answer: Any = "done") -> AirlineTalk:
        return self.tool(call.name, answer, **call.arguments)

    def judge(self, call: ToolCall) -> Verdict:
        return Gate(domain=self.domain).judge(call, self.ledger)

    def stale(self, path: str) -> set[str]:
        entry = self.ledger.get(Path.parse(path))
        assert entry is not None
        return {".".join(mark.fields) for mark in entry.stale}


def known(domain: Domain = TAU2, **changes: Any) -> AirlineTalk:
    """The customer's profile and reservation have been read."""
    return AirlineTalk(domain).user("hello").profile().reservation(booked(**changes))


CANCEL = ToolCall(name="cancel_reservation", arguments={"reservation_id": "RV0001"})


def change(
    *flights: tuple[str, str], cabin: str = "economy", pay: str = "credit_card_11"
) -> ToolCall:
    chosen = [{"flight_number": number, "date": date} for number, date in flights]
    return ToolCall(
        name="update_reservation_flights",
        arguments={
            "reservation_id": "RV0001",
            "cabin": cabin,
            "flights": chosen,
            "payment_id": pay,
        },
    )


SAME = ("NV101", "2024-05-20")
NEW = ("NV201", "2024-05-21")
UPGRADE = change(SAME, cabin="business")


def bags(total: Any, paid: Any) -> ToolCall:
    return ToolCall(
        name="update_reservation_baggages",
        arguments={
            "reservation_id": "RV0001",
            "total_baggages": total,
            "nonfree_baggages": paid,
            "payment_id": "credit_card_11",
        },
    )


def passengers(*people: Any) -> ToolCall:
    return ToolCall(
        name="update_reservation_passengers",
        arguments={"reservation_id": "RV0001", "passengers": list(people)},
    )


def booking(total: Any = 100, **changes: Any) -> ToolCall:
    return ToolCall(
        name="book_reservation",
        arguments={
            "user_id": NORA,
            "origin": "OAK",
            "destination": "BOI",
            "flight_type": "one_way",
            "cabin": "economy",
            "flights": [{"flight_number": "NV201", "date": "2024-05-21"}],
            "passengers": [ANA],
            "payment_methods": [{"payment_id": "credit_card_11", "amount": total}],
            "total_baggages": 0,
            "nonfree_baggages": 0,
            "insurance": "no",
            **changes,
        },
    )


def certificate(amount: Any) -> ToolCall:
    return ToolCall(name="send_certificate", arguments={"user_id": NORA, "amount": amount})


REREAD = 'get_reservation_details(reservation_id="RV0001")'
REPROFILE = f'get_user_details(user_id="{NORA}")'


def looked_up(number: str, date: str) -> str:
    return f'get_flight_status(flight_number="{number}", date="{date}")'


def searched(origin: str, destination: str, date: str) -> str:
    return f'search_direct_flight(origin="{origin}", destination="{destination}", date="{date}")'


CONNECTION = [
    [
        found("NV401", "OAK", "RNO", "2024-05-21"),
        found("NV402", "RNO", "BOI", "2024-05-22"),
    ],
    [
        found("NV401", "OAK", "RNO", "2024-05-21"),
        found("NV403", "RNO", "BOI", "2024-05-21"),
    ],
]
ROUTE = {"origin": "OAK", "destination": "BOI", "date": "2024-05-21"}


def read(id: str, name: str, **arguments: str) -> ToolCall:
    return ToolCall(name=name, arguments=arguments, id=id)


HURT = {"passengers": [ANA, BEN], "insurance": "yes"}
