"""The flights that a call names: what tells that they can be taken, and what is asked for."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import pytest

from ledgeragent.domain import Domain
from ledgeragent.types import ToolCall
from tests.packs.airline.talk import (
    CONNECTION,
    NEW,
    ROUTE,
    TAU,
    TAU2,
    booking,
    change,
    known,
    looked_up,
    searched,
)
from tests.packs.talk import asked, violated


def test_a_flight_never_seen_is_asked_for_by_the_search_that_would_list_it() -> None:
    verdict = known().judge(change(NEW))
    assert not verdict.violations
    assert asked(verdict) == {searched("OAK", "BOI", "2024-05-21")}


def test_the_route_of_a_flight_is_known_from_any_date_its_availability_is_not() -> None:
    verdict = known().judge(change(("NV101", "2024-05-22")))
    assert {f.predicate for f in verdict.missing} == {"airline/flight-available"}
    assert asked(verdict) == {searched("OAK", "BOI", "2024-05-22")}


def test_a_flight_whose_route_is_anyones_guess_is_asked_for_by_its_status() -> None:
    talk = known().tool("search_onestop_flight", [], **ROUTE)
    verdict = talk.judge(change(("NV601", "2024-05-21"), ("NV602", "2024-05-21")))
    assert looked_up("NV601", "2024-05-21") in asked(verdict)
    talk.status("NV601", "2024-05-21", "delayed")
    verdict = talk.judge(change(("NV601", "2024-05-21"), ("NV602", "2024-05-21")))
    assert violated(verdict) == {"airline/flight-available"}


AIRPORTS = {"OAK": "Oakland", "BOI": "Boise", "RNO": "Reno"}
UNSEEN = [{"flight_number": n, "date": "2024-05-21"} for n in ("NV601", "NV602")]


@pytest.mark.parametrize(
    ("domain", "airports"),
    [
        (TAU, AIRPORTS),
        (TAU2, [{"iata": code, "city": city} for code, city in AIRPORTS.items()]),
        (TAU2.bind({tool.tool for tool in TAU.tools}), AIRPORTS),
    ],
    ids=["tau", "tau2", "tau2 without statuses"],
)
@pytest.mark.parametrize(
    "call",
    [change(*((f["flight_number"], f["date"]) for f in UNSEEN)), booking(200, flights=UNSEEN)],
    ids=["change", "booking"],
)
def test_a_flight_that_no_search_lists_is_not_asked_for_without_end(
    domain: Domain, airports: Any, call: ToolCall
) -> None:
    talk = known(domain).tool("search_onestop_flight", [], **ROUTE)
    assert "list_all_airports()" not in asked(talk.judge(call))
    first, *others = permutations(AIRPORTS, 2)
    talk.direct(*first, "2024-05-21")
    assert "list_all_airports()" in asked(talk.judge(call))
    talk.tool("list_all_airports", airports)
    for route in others:
        verdict = talk.judge(call)
        assert 'search_direct_flight(date="2024-05-21")' in asked(verdict)
        assert "list_all_airports()" not in asked(verdict)
        assert not verdict.violations
        talk.direct(*route, "2024-05-21")
    verdict = talk.judge(call)
    assert violated(verdict) == {"airline/flight-available"}
    assert not verdict.missing
    assert "NV601" in verdict.feedback


@pytest.mark.parametrize(
    "call",
    [change(*((f["flight_number"], f["date"]) for f in UNSEEN)), booking(200, flights=UNSEEN)],
    ids=["change", "booking"],
)
def test_without_a_search_no_status_is_asked_for_once_it_was_read(call: ToolCall) -> None:
    searchless = TAU2.bind({tool.tool for tool in TAU2.tools} - {"search_direct_flight"})
    talk = known(searchless).tool("search_onestop_flight", [], **ROUTE)
    for flight in UNSEEN:
        look_up = looked_up(flight["flight_number"], flight["date"])
        assert look_up in asked(talk.judge(call))
        talk.status(flight["flight_number"], flight["date"], "available")
        assert look_up not in asked(talk.judge(call))


@pytest.mark.parametrize("airports", ["none", 7, [], {}, ["OAK"], [{"city": "Reno"}], None])
def test_airports_of_another_shape_decide_nothing(airports: Any) -> None:
    talk = known(TAU).tool("search_onestop_flight", [], **ROUTE)
    talk.direct("OAK", "RNO", "2024-05-21").tool("list_all_airports", airports)
    verdict = talk.judge(booking(200, flights=UNSEEN))
    assert not verdict.violations
    assert not verdict.errors
    assert 'search_direct_flight(date="2024-05-21")' in asked(verdict)


def test_two_flights_never_seen_are_asked_for_as_a_connection() -> None:
    verdict = known().judge(change(("NV401", "2024-05-21"), ("NV403", "2024-05-21")))
    route = 'origin="OAK", destination="BOI", date="2024-05-21"'
    assert f"search_onestop_flight({route})" in asked(verdict)
    talk = known().tool("search_onestop_flight", CONNECTION, **ROUTE)
    assert talk.judge(change(("NV401", "2024-05-21"), ("NV403", "2024-05-21"))).allowed
    assert talk.judge(change(("NV401", "2024-05-21"), ("NV402", "2024-05-22"))).allowed


def test_a_search_that_does_not_list_a_flight_is_evidence_against_it() -> None:
    verdict = known().direct("OAK", "BOI", "2024-05-21", "NV301").judge(change(NEW))
    assert violated(verdict) == {"airline/flight-available"}
    assert not verdict.missing
    assert "NV301" in verdict.feedback


def test_a_newer_search_that_no_longer_lists_a_flight_makes_it_unavailable() -> None:
    talk = known().direct("OAK", "BOI", "2024-05-21", "NV201", "NV301")
    assert talk.judge(change(NEW)).allowed
    talk.direct("OAK", "BOI", "2024-05-21", "NV301")
    assert violated(talk.judge(change(NEW))) == {"airline/flight-available"}
    assert talk.direct("OAK", "BOI", "2024-05-21", "NV201").judge(change(NEW)).allowed


def test_a_connection_that_vanished_says_nothing_for_sure_of_one_of_its_flights() -> None:
    talk = known().tool("search_onestop_flight", CONNECTION, **ROUTE)
    talk.tool("search_onestop_flight", [], **ROUTE)
    verdict = talk.judge(change(("NV401", "2024-05-21"), ("NV403", "2024-05-21")))
    assert not verdict.violations
    assert asked(verdict) == {searched("OAK", "RNO", "2024-05-21")}


@pytest.mark.parametrize("status", ["delayed", "on time", "flying", "landed", "cancelled"])
def test_the_newest_of_search_and_status_counts(status: str) -> None:
    talk = known().direct("OAK", "BOI", "2024-05-21", "NV201")
    talk.status("NV201", "2024-05-21", status)
    assert violated(talk.judge(change(NEW))) == {"airline/flight-available"}
    assert talk.user().direct("OAK", "BOI", "2024-05-21", "NV201").judge(change(NEW)).allowed
    talk.user().status("NV201", "2024-05-21", "available")
    assert talk.judge(change(NEW)).allowed


@pytest.mark.parametrize(
    ("others", "words"), [((), "lists no flight"), (("NV7",), "lists NV7, and not this one")]
)
def test_a_search_that_does_not_list_a_flight_says_what_it_lists(
    others: tuple[str, ...], words: str
) -> None:
    talk = known().direct("OAK", "BOI", "2024-05-22", *others)
    (finding, *_) = talk.judge(change(("NV101", "2024-05-22"))).violations
    assert words in finding.reason and "no flight, and" not in finding.reason
