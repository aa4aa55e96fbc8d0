"""Where the airline's reads land, and what its writes make unknown."""

from __future__ import annotations

from typing import Any

import pytest

from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision
from tests.packs.airline.talk import (
    BEN,
    CANCEL,
    CONNECTION,
    NEW,
    NORA,
    OUT,
    REPROFILE,
    REREAD,
    ROUTE,
    SAME,
    TAU,
    TAU2,
    UPGRADE,
    AirlineTalk,
    bags,
    booked,
    booking,
    certificate,
    change,
    found,
    known,
    passengers,
    profile,
)
from tests.packs.talk import asked, violated

NV201 = {"flight_number": "NV201", "origin": "OAK", "destination": "BOI", "date": "2024-05-21"}

# Routes


def test_a_direct_search_stores_its_flights_under_the_date_asked_for_and_what_it_listed() -> None:
    talk = AirlineTalk().direct("OAK", "BOI", "2024-05-21", "NV201", "NV301")
    assert talk.value("flights.NV201.2024-05-21") == found("NV201", "OAK", "BOI")
    assert talk.value("flights.NV301.2024-05-21") is not None
    listing = talk.value("searches.direct.OAK.BOI.2024-05-21")
    assert listing == {"flights": ["NV201", "NV301"]}


def test_a_connection_stores_each_flight_under_its_own_date() -> None:
    talk = AirlineTalk().tool("search_onestop_flight", CONNECTION, **ROUTE)
    assert talk.value("flights.NV402.2024-05-22")["prices"]["economy"] == 100
    assert talk.value("flights.NV402.2024-05-21") is None
    listing = talk.value("searches.onestop.OAK.BOI.2024-05-21")
    assert listing == {"flights": ["NV401", "NV402", "NV403"]}


def test_a_search_that_finds_nothing_is_an_observation() -> None:
    talk = AirlineTalk().direct("OAK", "BOI", "2024-05-21")
    assert talk.value("searches.direct.OAK.BOI.2024-05-21") == {"flights": []}
    assert len(talk.ledger) == 1


@pytest.mark.parametrize("answer", ["{}", '"none"', "[1]", '[{"origin": "OAK"}]', "[[[]]]", "oops"])
def test_a_search_of_the_wrong_shape_stores_nothing(answer: str) -> None:
    entries = list(AirlineTalk().tool("search_direct_flight", answer, **ROUTE).ledger)
    assert not any(entry.typed for entry in entries), "what came back says nothing"


@pytest.mark.parametrize("airports", [{"OAK": "Oakland"}, [{"iata": "OAK", "city": "Oakland"}]])
def test_airports_and_statuses_and_profiles_without_an_id(airports: Any) -> None:
    bare = {name: value for name, value in profile().items() if name != "user_id"}
    talk = (
        AirlineTalk().tool("list_all_airports", airports).status("NV101", "2024-05-15", "on time")
    )
    talk.tool("get_user_details", bare, user_id=NORA)
    assert talk.value("airports") == airports
    assert talk.value("flight_status.NV101.2024-05-15") == "on time"
    assert talk.value(f"users.{NORA}") == bare


def test_every_tool_has_one_effect() -> None:
    kinds: dict[Effect, set[str]] = {effect: set() for effect in Effect}
    for tool in TAU2.tools:
        kinds[TAU2.effect(tool.tool)].add(tool.tool)
    assert len(kinds[Effect.READ]) == 6
    assert len(kinds[Effect.WRITE]) == 6
    assert kinds[Effect.NEUTRAL] == {"calculate", "transfer_to_human_agents"}


# What writes make unknown


def test_a_booking_uses_up_certificates_and_keeps_cards() -> None:
    paid = [
        {"payment_id": name, "amount": 10}
        for name in ("certificate_31", "gift_card_21", "credit_card_11")
    ]
    talk = AirlineTalk().profile().direct("OAK", "BOI", "2024-05-21", "NV201")
    talk.wrote(booking(payment_methods=paid))
    assert talk.stale(f"users.{NORA}") == {
        "reservations",
        "payment_methods.certificate_31",
        "payment_methods.gift_card_21.amount",
    }
    assert talk.stale("flights.NV201.2024-05-21") == {"available_seats"}
    assert talk.judge(booking()).allowed
    again = talk.judge(booking(payment_methods=[{"payment_id": "certificate_31", "amount": 100}]))
    assert asked(again) == {REPROFILE}
    assert not again.violations
    talk.profile(profile(NORA, "credit_card_11"))
    gone = talk.judge(booking(payment_methods=[{"payment_id": "certificate_31", "amount": 100}]))
    assert violated(gone) == {"airline/payment-in-profile"}


def test_after_a_certificate_the_payment_methods_are_unknown() -> None:
    talk = known().wrote(certificate(100))
    assert talk.stale(f"users.{NORA}") == {"payment_methods"}
    new = change(NEW, pay="certificate_3221322")
    verdict = talk.direct("OAK", "BOI", "2024-05-21", "NV201").judge(new)
    assert REPROFILE in asked(verdict)
    assert not violated(verdict)


@pytest.mark.parametrize(
    ("call", "marks"),
    [
        (CANCEL, {"status", "payment_history"}),
        (UPGRADE, {"cabin", "flights", "payment_history"}),
        (change(NEW), {"flights", "payment_history"}),
        (bags(1, 0), {"total_baggages", "nonfree_baggages", "payment_history"}),
        (passengers(BEN), {"passengers"}),
    ],
)
def test_each_change_makes_unknown_what_it_changes(call: ToolCall, marks: set[str]) -> None:
    assert known().wrote(call).stale("reservations.RV0001") == marks
    assert not known().wrote(call, "Error: not possible").stale("reservations.RV0001")


def test_an_upgrade_not_read_again_asks_for_the_reservation_and_rejects_nothing() -> None:
    talk = known(cabin="basic_economy").direct("OAK", "BOI", "2024-05-21", "NV201")
    assert violated(talk.judge(change(NEW))) == {"airline/basic-economy-flights"}
    verdict = talk.wrote(change(SAME)).judge(change(NEW))
    assert verdict.decision is Decision.REVISE
    assert not verdict.violations
    assert asked(verdict) == {REREAD}
    assert talk.reservation(booked(cabin="economy")).judge(change(NEW)).allowed


def test_what_a_write_on_a_reservation_returns_needs_no_read() -> None:
    talk = known(cabin="basic_economy").wrote(UPGRADE, booked(cabin="business"))
    assert not talk.stale("reservations.RV0001")
    assert talk.judge(bags(2, 0)).allowed
    assert talk.judge(CANCEL).allowed
    talk.wrote(bags(2, 0), booked(cabin="business", total_baggages=2))
    assert violated(talk.judge(bags(1, 0))) == {"airline/bags-no-removal"}
    talk.wrote(passengers(BEN), booked(cabin="business", passengers=[BEN]))
    assert talk.value("reservations.RV0001")["passengers"] == [BEN]


def test_what_a_booking_returns_is_the_new_reservation() -> None:
    talk = AirlineTalk().profile().direct("OAK", "BOI", "2024-05-21", "NV201")
    talk.wrote(booking(), booked(NV201, reservation_id="RV0009", cabin="business"))
    new = ToolCall(name="cancel_reservation", arguments={"reservation_id": "RV0009"})
    assert talk.judge(new).allowed
    assert talk.stale(f"users.{NORA}") == {"reservations"}, "what a write returns says no more"


@pytest.mark.parametrize(
    ("domain", "write"),
    [
        *((TAU2, write) for write in (CANCEL, bags(2, 1), passengers(BEN), change(NEW), UPGRADE)),
        *((TAU, write) for write in (CANCEL, bags(2, 1), passengers(BEN), change(NEW))),
    ],
    ids=lambda value: getattr(value, "version", None) or value.name,
)
def test_the_reservation_from_before_tells_nothing_of_what_the_write_was_to_change(
    domain: Domain, write: ToolCall
) -> None:
    shown, told, lost = (
        known(domain).wrote(write, answer).stale("reservations.RV0001")
        for answer in (booked(), "done", "Error: 504")
    )
    assert shown == told == lost != set()


def test_a_booking_that_answers_with_another_trip_is_to_be_read() -> None:
    talk = AirlineTalk().profile().direct("OAK", "BOI", "2024-05-21", "NV201")
    talk.wrote(booking(), booked(OUT, reservation_id="RV0009", cabin="business"))
    new = ToolCall(name="cancel_reservation", arguments={"reservation_id": "RV0009"})
    assert asked(talk.judge(new)) == {'get_reservation_details(reservation_id="RV0009")'}


def test_the_older_airline_answers_with_the_cabin_from_before() -> None:
    talk = known(TAU, cabin="basic_economy").wrote(UPGRADE, booked(cabin="basic_economy"))
    assert talk.stale("reservations.RV0001") == {"cabin"}
    assert asked(talk.judge(CANCEL)) == {REREAD}
    kept = known(TAU).wrote(change(NEW), booked(NV201, cabin="economy"))
    assert not kept.stale("reservations.RV0001"), "naming the same cabin keeps it"
    assert violated(kept.judge(CANCEL)) == {"airline/cancel-basis"}


def test_a_change_that_keeps_the_cabin_leaves_it_known() -> None:
    talk = known().direct("OAK", "BOI", "2024-05-21", "NV201").wrote(change(NEW))
    assert talk.judge(bags(1, 0)).allowed
    assert violated(talk.judge(bags(2, 0))) == {"airline/bag-allowance"}
