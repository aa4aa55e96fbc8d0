"""What a change of flights or cabin must keep to."""

from __future__ import annotations

import pytest

from tests.packs.airline.talk import BACK, OUT, SAME, TAU, UPGRADE, change, known, looked_up, on
from tests.packs.talk import asked, violated


def test_kept_flights_need_no_search() -> None:
    assert known().judge(UPGRADE).allowed
    round_trip = known(flights=[OUT, BACK], flight_type="round_trip")
    assert round_trip.judge(change(SAME, ("NV102", "2024-05-25"), cabin="business")).allowed
    swapped = round_trip.judge(change(("NV102", "2024-05-25"), SAME))
    assert violated(swapped) == {"airline/same-route"}


@pytest.mark.parametrize(
    ("flights", "rule"),
    [
        ([("NV501", "2024-05-21")], "airline/same-route"),
        ([("NV502", "2024-05-21")], "airline/same-route"),
        ([("NV501", "2024-05-21"), SAME], "airline/same-route"),
        ([], "airline/same-route"),
        ([SAME, ("NV503", "2024-05-26")], "airline/same-trip-type"),
    ],
)
def test_a_one_way_keeps_its_route(flights: list[tuple[str, str]], rule: str) -> None:
    talk = known().direct("OAK", "RNO", "2024-05-21", "NV501")
    talk.direct("RNO", "BOI", "2024-05-21", "NV502").direct("BOI", "OAK", "2024-05-26", "NV503")
    assert violated(talk.judge(change(*flights))) == {rule}
    assert talk.judge(change(("NV501", "2024-05-21"), ("NV502", "2024-05-21"))).allowed


def test_a_round_trip_keeps_both_ways() -> None:
    talk = known(flights=[OUT, BACK], flight_type="round_trip")
    assert violated(talk.judge(change(SAME))) == {"airline/same-trip-type"}
    talk.direct("BOI", "OAK", "2024-05-26", "NV503")
    assert talk.judge(change(SAME, ("NV503", "2024-05-26"))).allowed


def test_a_trip_that_ends_where_it_began_goes_on_doing_so() -> None:
    for kind in ("one_way", "round_trip"):
        talk = known(flights=[OUT, BACK], destination="OAK", flight_type=kind)
        talk.direct("BOI", "OAK", "2024-05-26", "NV503")
        assert talk.judge(change(SAME, ("NV503", "2024-05-26"))).allowed
        assert violated(talk.judge(change(SAME))) == {"airline/same-route"}, "one reason is enough"


@pytest.mark.parametrize(
    ("kind", "ways", "asked", "broken"),
    [
        ("one_way", 1, 1, set()),
        ("one_way", 1, 2, {"airline/same-trip-type"}),
        ("round_trip", 2, 2, set()),
        ("round_trip", 2, 1, {"airline/same-trip-type"}),
    ],
)
def test_a_trip_that_ends_where_it_began_comes_back_as_often_as_booked(
    kind: str, ways: int, asked: int, broken: set[str]
) -> None:
    flights = [OUT, BACK, on("2024-05-27"), {**BACK, "date": "2024-05-28"}]
    talk = known(flights=flights[: 2 * ways], destination="OAK", flight_type=kind)
    talk.direct("OAK", "BOI", "2024-05-27", "NV101")
    for day in ("2024-05-26", "2024-05-28"):
        talk.direct("BOI", "OAK", day, "NV102")
    new = [SAME, ("NV102", "2024-05-26"), ("NV101", "2024-05-27"), ("NV102", "2024-05-28")]
    assert violated(talk.judge(change(*new[: 2 * asked]))) == broken


def test_the_older_rules_allow_another_cabin_after_a_flight() -> None:
    past = [on("2024-05-14"), BACK]
    call = change(("NV101", "2024-05-14"), ("NV102", "2024-05-25"), cabin="business")
    talk = known(flights=past)
    assert asked(talk.judge(call)) == {looked_up("NV101", "2024-05-14")}
    landed = talk.status("NV101", "2024-05-14", "landed")
    assert violated(landed.judge(call)) == {"airline/cabin-change-flown"}
    assert known(TAU, flights=past).judge(call).allowed


def test_a_basic_economy_reservation_hears_one_reason() -> None:
    talk = known(flights=[OUT, BACK], flight_type="round_trip", cabin="basic_economy")
    verdict = talk.judge(change(("NV503", "2024-05-26"), cabin="business"))
    assert violated(verdict) == {"airline/basic-economy-flights"}
    assert not verdict.missing, "no search would help"


def test_a_flight_is_named_once() -> None:
    assert violated(known().judge(change(SAME, SAME))) == {
        "airline/flight-available",
        "airline/same-route",
    }
