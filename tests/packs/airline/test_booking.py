"""What a booking must keep to, and passengers without details."""

from __future__ import annotations

from typing import Any

import pytest

from ledgeragent.gate import MALFORMED
from ledgeragent.verdict import Decision
from tests.packs.airline.talk import (
    ANA,
    CONNECTION,
    ROUTE,
    TAU,
    AirlineTalk,
    booking,
    found,
    known,
    passengers,
    searched,
)
from tests.packs.talk import asked, violated

NV201 = {"flight_number": "NV201", "date": "2024-05-21"}


def paid(payment_id: str, amount: float) -> dict[str, Any]:
    return {"payment_id": payment_id, "amount": amount}


def test_a_booking_pays_what_the_latest_search_asks() -> None:
    talk = AirlineTalk().profile().direct("OAK", "BOI", "2024-05-21", "NV201")
    assert talk.judge(booking(130, insurance="yes")).allowed
    verdict = talk.judge(booking(100, insurance="yes"))
    assert violated(verdict) == {"airline/booking-total"}
    assert "130" in verdict.feedback
    dearer = {**found("NV201", "OAK", "BOI"), "prices": {"economy": 120}}
    talk.tool("search_direct_flight", [dearer], **ROUTE)
    assert talk.judge(booking(120)).allowed


def test_tau_bench_prices_nothing_of_a_connections_day_after() -> None:
    flights = [
        {"flight_number": n, "date": d}
        for n, d in (("NV401", "2024-05-21"), ("NV402", "2024-05-22"))
    ]
    talk = AirlineTalk(TAU).profile().tool("search_onestop_flight", CONNECTION, **ROUTE)
    assert set(talk.value("flights.NV402.2024-05-22")) & {"prices", "status"} == set()
    verdict = talk.judge(booking(200, flights=flights))
    assert asked(verdict) == {searched("RNO", "BOI", "2024-05-22")}
    talk.direct("RNO", "BOI", "2024-05-22", "NV402")
    talk.tool("search_onestop_flight", CONNECTION, **ROUTE)
    assert talk.judge(booking(200, flights=flights)).allowed


@pytest.mark.parametrize(
    "person",
    [
        "Anya Garcia",
        None,
        7,
        ["Ana"],
        {},
        {**ANA, "dob": ""},
        {**ANA, "dob": 19910203},
        {**ANA, "last_name": None},
    ],
)
def test_a_passenger_without_details_is_told_so(person: Any) -> None:
    verdict = known().judge(passengers(person))
    assert verdict.decision is Decision.REVISE
    assert violated(verdict) == {"airline/passenger-details"}


@pytest.mark.parametrize(
    "changes",
    [
        {"flights": "[{'flight_number': 'NV201', 'date': '2024-05-21'}]"},
        {"flights": ["NV201"]},
        {"payment_methods": [{"id": "credit_card_11", "source": "credit_card"}]},
        {"payment_methods": [{"payment_id": "credit_card_11", "amount": float("inf")}]},
        {"passengers": "Ana Reyes"},
    ],
)
def test_arguments_that_cannot_be_read_are_sent_back(changes: dict[str, Any]) -> None:
    talk = AirlineTalk().profile().direct("OAK", "BOI", "2024-05-21", "NV201")
    verdict = talk.judge(booking(**changes))
    assert [f.predicate for f in verdict.findings] == [MALFORMED]


def test_odd_bookings_fail_no_rule() -> None:
    talk = AirlineTalk().profile().direct("OAK", "BOI", "2024-05-21", "NV201")
    for changes in (
        {"cabin": "first"},
        {"flights": []},
        {"flight_type": "round_trip"},
        {"passengers": []},
        {"payment_methods": []},
        {"total_baggages": -1},
        {"flights": [{"flight_number": "A.B", "date": 'x"y'}]},
    ):
        assert not talk.judge(booking(**changes)).errors, changes


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"payment_methods": []}, "payment-mix"),
        (
            {"payment_methods": [paid("gift_card_21", -100), paid("credit_card_11", 200)]},
            "payment-mix",
        ),
        (
            {"payment_methods": [paid("gift_card_21", 0), paid("credit_card_11", 100)]},
            "payment-mix",
        ),
        ({"payment_methods": [paid("gift_card_21", 50), paid("gift_card_21", 50)]}, "payment-mix"),
        ({"passengers": []}, "passenger-details"),
        ({"passengers": [], "payment_methods": [paid("credit_card_11", 0)]}, "passenger-details"),
        ({"flights": []}, "flight-available"),
        ({"flights": [NV201, NV201]}, "flight-available"),
        ({"total_baggages": -1}, "bag-allowance"),
        ({"total_baggages": -1, "nonfree_baggages": -1}, "bag-allowance"),
        ({"total_baggages": 3, "nonfree_baggages": -2}, "bag-allowance"),
        ({"total_baggages": 0, "nonfree_baggages": 1}, "bag-allowance"),
    ],
)
def test_a_booking_of_nothing_or_for_less_than_nothing(changes: dict[str, Any], rule: str) -> None:
    talk = AirlineTalk().profile().direct("OAK", "BOI", "2024-05-21", "NV201")
    assert talk.judge(booking()).allowed
    assert f"airline/{rule}" in violated(talk.judge(booking(**changes)))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cabin", "first"),
        ("cabin", "Economy"),
        ("flight_type", "return"),
        ("insurance", "maybe"),
        ("insurance", True),
    ],
)
def test_a_word_that_is_none_of_the_list_is_refused_by_name(name: str, value: Any) -> None:
    talk = AirlineTalk().profile().direct("OAK", "BOI", "2024-05-21", "NV201")
    verdict = talk.judge(booking(**{name: value}))
    assert [finding.predicate for finding in verdict.findings] == [MALFORMED]
    assert name in verdict.feedback
