"""The airline pack: samples, routes, staleness, versions, the paper's example, the labelled cases."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from itertools import permutations
from pathlib import Path as File
from typing import Any

import pytest

from ledgeragent.absorb import absorb
from ledgeragent.agent import LedgerAgent
from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.gate import MALFORMED, Gate
from ledgeragent.ledger import Ledger
from ledgeragent.offline.traces import read_messages
from ledgeragent.packs import load_domain, versions
from ledgeragent.paths import Path
from ledgeragent.state import State
from ledgeragent.testing import ScriptedModel, ledger_of
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Decision, Kind, Verdict
from tests.packs.talk import Talk

TAU2 = load_domain("airline")
TAU = load_domain("airline", "tau")
SAMPLES = json.loads((files("ledgeragent.packs.airline") / "samples.json").read_text("utf-8"))

NORA = "nora_vale_1001"
OTTO = "otto_lind_2002"
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
    return {
        "reservation_id": "RV0001",
        "user_id": NORA,
        "origin": "OAK",
        "destination": "BOI",
        "flight_type": "one_way",
        "cabin": "economy",
        "flights": [{**segment, "price": 100} for segment in segments or (OUT,)],
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


def violated(verdict: Verdict) -> set[str]:
    return {f.predicate for f in verdict.violations}


def asked(verdict: Verdict) -> set[str]:
    return {str(read) for f in verdict.missing for read in f.reads}


REREAD = 'get_reservation_details(reservation_id="RV0001")'
REPROFILE = f'get_user_details(user_id="{NORA}")'


def looked_up(number: str, date: str) -> str:
    return f'get_flight_status(flight_number="{number}", date="{date}")'


def searched(origin: str, destination: str, date: str) -> str:
    return f'search_direct_flight(origin="{origin}", destination="{destination}", date="{date}")'


# Samples and clauses


def sample_ledger(sample: Mapping[str, Any]) -> Ledger:
    ledger = ledger_of(sample["ledger"], TAU2)
    for write in sample.get("writes", ()):
        call = ToolCall(name=write["name"], arguments=write["arguments"])
        ledger = absorb(ledger, call, ToolReturn(call_id="", content="done"), TAU2).ledger
    return ledger


def sample_cases() -> Iterable[Any]:
    for rule, sides in SAMPLES.items():
        for side, samples in sides.items():
            for number, sample in enumerate(samples):
                yield pytest.param(rule, side, sample, id=f"{rule}-{side}-{number}")


@pytest.mark.parametrize(("rule", "side", "sample"), list(sample_cases()))
def test_samples(rule: str, side: str, sample: Mapping[str, Any]) -> None:
    call = ToolCall(name=sample["call"]["name"], arguments=sample["call"]["arguments"])
    verdict = Gate(domain=TAU2).judge(call, sample_ledger(sample))
    if side == "allowed":
        assert verdict.decision is Decision.ALLOW
        assert not verdict.shadow
        return
    audited = rule == "airline/transfer-untried"
    against = {f.predicate: f for f in (verdict.shadow if audited else verdict.findings)}
    assert rule in against
    assert verdict.allowed is audited
    assert all(f.kind in (Kind.VIOLATION, Kind.EVIDENCE) for f in verdict.findings)
    assert "{" not in verdict.feedback


def test_every_predicate_has_samples_and_a_clause() -> None:
    ids = {rule.id for rule in TAU2.predicates}
    assert set(SAMPLES) == ids
    assert all(sides["allowed"] and sides["rejected"] for sides in SAMPLES.values())
    enforced = {name for clause in TAU2.clauses for name in clause.predicates}
    assert enforced == ids
    assert all(rule.summary for rule in TAU2.predicates)
    others = {rule.id: rule.clause for rule in TAU2.predicates if rule.id != rule.clause}
    assert others == {"airline/transfer-untried": "airline/transfer-only-out-of-scope"}


def test_what_no_change_of_arguments_can_mend_is_blocked() -> None:
    blocking = {rule.id for rule in TAU2.predicates if rule.decision is Decision.BLOCK}
    assert blocking == {"airline/acting-user", "airline/cancel-flown", "airline/cancel-basis"}


# Routes


def test_a_direct_search_stores_its_flights_under_the_date_asked_for_and_what_it_listed() -> None:
    talk = AirlineTalk().direct("OAK", "BOI", "2024-05-21", "NV201", "NV301")
    assert talk.value("flights.NV201.2024-05-21") == found("NV201", "OAK", "BOI")
    assert talk.value("flights.NV301.2024-05-21") is not None
    listing = talk.value("searches.direct.OAK.BOI.2024-05-21")
    assert listing == {"flights": ["NV201", "NV301"]}


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
    assert len(AirlineTalk().tool("search_direct_flight", answer, **ROUTE).ledger) == 0


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


def test_a_change_that_keeps_the_cabin_leaves_it_known() -> None:
    talk = known().direct("OAK", "BOI", "2024-05-21", "NV201").wrote(change(NEW))
    assert talk.judge(bags(1, 0)).allowed
    assert violated(talk.judge(bags(2, 0))) == {"airline/bag-allowance"}


def test_bags_of_an_upgraded_reservation_wait_for_the_new_cabin() -> None:
    talk = known().wrote(UPGRADE)
    assert asked(talk.judge(bags(2, 0))) == {REREAD}
    assert talk.reservation(booked(cabin="business")).judge(bags(2, 0)).allowed


# The paper's first running example: a cancellation without a basis

AMELIA = {
    "user_id": "amelia_rossi_1297",
    "payment_methods": {
        "credit_card_4579924": {"id": "credit_card_4579924", "source": "credit_card"}
    },
    "membership": "regular",
    "reservations": ["SI5UKW"],
}
SI5UKW = {
    "reservation_id": "SI5UKW",
    "user_id": "amelia_rossi_1297",
    "origin": "MIA",
    "destination": "PHX",
    "flight_type": "one_way",
    "cabin": "basic_economy",
    "flights": [
        {
            "flight_number": "HAT062",
            "origin": "MIA",
            "destination": "LAS",
            "date": "2024-05-16",
        },
        {
            "flight_number": "HAT284",
            "origin": "LAS",
            "destination": "PHX",
            "date": "2024-05-17",
        },
    ],
    "passengers": [{"first_name": "Amelia", "last_name": "Rossi", "dob": "1990-01-01"}],
    "payment_history": [{"payment_id": "credit_card_4579924", "amount": 124}],
    "created_at": "2024-05-11",
    "total_baggages": 0,
    "nonfree_baggages": 0,
    "insurance": "no",
}
CANCEL_SI5UKW = ToolCall(name="cancel_reservation", arguments={"reservation_id": "SI5UKW"}, id="w")


def read(id: str, name: str, **arguments: str) -> ToolCall:
    return ToolCall(name=name, arguments=arguments, id=id)


RESERVATION_READ = read("r1", "get_reservation_details", reservation_id="SI5UKW")
PROFILE_READ = read("r2", "get_user_details", user_id="amelia_rossi_1297")


def answers(call: ToolCall, content: Any) -> ToolReturn:
    text = content if isinstance(content, str) else json.dumps(content)
    return ToolReturn(call_id=call.id, content=text)


def play(replies: list[Reply], messages: list[Message]) -> tuple[LedgerAgent, list[Reply]]:
    agent = LedgerAgent(gate=Gate(domain=TAU2), model=ScriptedModel(replies))
    return agent, [agent.step(message) for message in messages]


def test_the_papers_cancellation_without_a_basis_is_blocked_end_to_end() -> None:
    refused = "Insurance can't be added afterwards, and the cancellation can't be made."
    agent, said = play(
        [
            Reply(calls=(RESERVATION_READ,)),
            Reply(calls=(PROFILE_READ,)),
            Reply(calls=(CANCEL_SI5UKW,)),
            Reply(calls=(RESERVATION_READ,)),
            Reply(text=refused),
        ],
        [
            UserMessage(text="Cancel SI5UKW and refund me. I do not accept no."),
            answers(RESERVATION_READ, SI5UKW),
            answers(PROFILE_READ, AMELIA),
            UserMessage(text="Add insurance now and then cancel, or get me a supervisor."),
            answers(RESERVATION_READ, SI5UKW),
        ],
    )
    verdict = agent.verdicts[2].verdicts[0]
    assert verdict.decision is Decision.BLOCK
    assert [f.predicate for f in verdict.findings] == ["airline/cancel-basis"]
    facts = {fact.path: fact.value for fact in verdict.findings[0].evidence}
    assert facts["reservations.SI5UKW.cabin"] == "basic_economy"
    assert facts["reservations.SI5UKW.created_at"] == "2024-05-11"
    assert facts["reservations.SI5UKW.insurance"] == "no"
    assert facts["reservations.SI5UKW.flights"] == SI5UKW["flights"]
    assert said[2].calls == ()
    for stated in ("SI5UKW", "basic economy", "2024-05-11", "no travel insurance", "HAT284"):
        assert stated in said[2].text
    assert said[-1].text == refused
    assert agent.state.ledger.writes == ()
    assert agent.generations == 5
    assert not any(
        call == CANCEL_SI5UKW for m in agent.history if isinstance(m, Reply) for call in m.calls
    )


@pytest.mark.parametrize(
    ("status", "decision"),
    [
        ("available", Decision.BLOCK),
        ("delayed", Decision.BLOCK),
        ("on time", Decision.BLOCK),
        ("cancelled", Decision.ALLOW),
    ],
)
def test_only_a_flight_cancelled_by_the_airline_changes_the_papers_verdict(
    status: str, decision: Decision
) -> None:
    first = read("s1", "get_flight_status", flight_number="HAT062", date="2024-05-16")
    second = read("s2", "get_flight_status", flight_number="HAT284", date="2024-05-17")
    reads = (RESERVATION_READ, PROFILE_READ, first, second)
    records = (SI5UKW, AMELIA, "available", status)
    agent, _ = play(
        [*(Reply(calls=(call,)) for call in reads), Reply(calls=(CANCEL_SI5UKW,))],
        [UserMessage(), *(answers(*pair) for pair in zip(reads, records, strict=True))],
    )
    verdict = agent.verdicts[-1].verdicts[0]
    assert verdict.decision is decision
    facts = {fact.path: fact.value for fact in verdict.evidence}
    assert facts["flight_status.HAT284.2024-05-17"] == status


# Cancelling


@pytest.mark.parametrize(
    "changes",
    [
        {"cabin": "business"},
        {"insurance": "yes"},
        {"created_at": "2024-05-14T15:00:00"},
        {"created_at": "2024-05-15T14:59:59"},
    ],
)
def test_each_basis_is_enough(changes: dict[str, str]) -> None:
    assert known(**changes).judge(CANCEL).allowed


def test_a_booking_of_more_than_a_day_ago_is_no_basis() -> None:
    verdict = known(created_at="2024-05-14T14:59:59").judge(CANCEL)
    assert violated(verdict) == {"airline/cancel-basis"}
    assert verdict.decision is Decision.BLOCK


def test_a_stale_cabin_is_no_basis_and_no_breach() -> None:
    verdict = known(cabin="business").wrote(change(SAME)).judge(CANCEL)
    assert not verdict.violations
    assert asked(verdict) == {REREAD}


@pytest.mark.parametrize("status", ["flying", "landed"])
def test_a_flight_of_today_that_took_off_blocks(status: str) -> None:
    talk = known(flights=[on("2024-05-15"), BACK], cabin="business")
    verdict = talk.status("NV101", "2024-05-15", status).judge(CANCEL)
    assert violated(verdict) == {"airline/cancel-flown"}
    assert status in verdict.feedback


@pytest.mark.parametrize("status", ["on time", "delayed", "available", "cancelled"])
def test_a_flight_of_today_that_stands_is_no_hindrance(status: str) -> None:
    talk = known(flights=[on("2024-05-15")], cabin="business")
    assert asked(talk.judge(CANCEL)) == {looked_up("NV101", "2024-05-15")}
    assert talk.status("NV101", "2024-05-15", status).judge(CANCEL).allowed


def test_a_past_flight_was_flown_unless_it_is_known_to_have_been_cancelled() -> None:
    talk = known(flights=[on("2024-05-15"), on("2024-05-14")], insurance="yes")
    verdict = talk.judge(CANCEL)
    assert violated(verdict) == {"airline/cancel-flown"}
    assert not verdict.missing, "the past flight decides without today's status"
    talk = known(flights=[on("2024-05-14")]).status("NV101", "2024-05-14", "cancelled")
    assert talk.judge(CANCEL).allowed


def test_a_status_read_twice_counts_as_read_last() -> None:
    talk = known().status("NV101", "2024-05-20", "cancelled")
    assert talk.judge(CANCEL).allowed
    assert violated(talk.status("NV101", "2024-05-20", "available").judge(CANCEL)) == {
        "airline/cancel-basis"
    }


# Whose reservation it is


def test_a_friends_profile_does_not_make_the_customers_reservation_foreign() -> None:
    talk = known(cabin="business").profile(profile(OTTO))
    assert talk.judge(CANCEL).allowed


def test_somebody_elses_reservation_is_blocked_without_naming_them() -> None:
    talk = AirlineTalk().profile().reservation(booked(user_id=OTTO, cabin="business"))
    verdict = talk.judge(CANCEL)
    assert verdict.decision is Decision.BLOCK
    assert violated(verdict) == {"airline/acting-user"}
    assert OTTO not in verdict.feedback
    assert AirlineTalk().reservation(booked(cabin="business")).judge(CANCEL).allowed


def test_a_booking_on_a_profile_never_read_is_somebody_elses() -> None:
    talk = AirlineTalk().profile().direct("OAK", "BOI", "2024-05-21", "NV201")
    assert "airline/acting-user" in violated(talk.judge(booking(user_id=OTTO)))
    assert talk.judge(booking(passengers=[BEN])).allowed, "a friend may well be the passenger"


# Flights


def test_kept_flights_need_no_search() -> None:
    assert known().judge(UPGRADE).allowed
    round_trip = known(flights=[OUT, BACK], flight_type="round_trip")
    assert round_trip.judge(change(SAME, ("NV102", "2024-05-25"), cabin="business")).allowed
    swapped = round_trip.judge(change(("NV102", "2024-05-25"), SAME))
    assert violated(swapped) == {"airline/same-route"}


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
    for kind, broken in (("one_way", set()), ("round_trip", {"airline/same-trip-type"})):
        talk = known(flights=[OUT, BACK], destination="OAK", flight_type=kind)
        talk.direct("BOI", "OAK", "2024-05-26", "NV503")
        assert talk.judge(change(SAME, ("NV503", "2024-05-26"))).allowed
        assert violated(talk.judge(change(SAME))) == {"airline/same-route", *broken}


def test_a_booking_pays_what_the_latest_search_asks() -> None:
    talk = AirlineTalk().profile().direct("OAK", "BOI", "2024-05-21", "NV201")
    assert talk.judge(booking(130, insurance="yes")).allowed
    verdict = talk.judge(booking(100, insurance="yes"))
    assert violated(verdict) == {"airline/booking-total"}
    assert "130" in verdict.feedback
    dearer = {**found("NV201", "OAK", "BOI"), "prices": {"economy": 120}}
    talk.tool("search_direct_flight", [dearer], **ROUTE)
    assert talk.judge(booking(120)).allowed


# Payment and bags


def test_a_card_that_paid_before_needs_no_profile_a_certificate_does() -> None:
    paid = [{"payment_id": name, "amount": 50} for name in ("credit_card_11", "certificate_31")]
    talk = AirlineTalk().reservation(booked(payment_history=paid))
    assert talk.judge(UPGRADE).allowed
    assert asked(talk.judge(change(SAME, cabin="business", pay="gift_card_21"))) == {REPROFILE}
    used = talk.judge(change(SAME, cabin="business", pay="certificate_31"))
    assert asked(used) == {REPROFILE}
    assert violated(used) == {"airline/change-payment-type"}


def test_the_kind_of_a_method_is_what_the_profile_says() -> None:
    odd = profile()
    odd["payment_methods"]["voucher-7"] = {"id": "voucher-7", "source": "certificate"}
    verdict = (
        AirlineTalk()
        .profile(odd)
        .reservation()
        .judge(change(SAME, cabin="business", pay="voucher-7"))
    )
    assert violated(verdict) == {"airline/change-payment-type"}


def test_the_profile_is_read_only_where_membership_decides_about_bags() -> None:
    talk = AirlineTalk().reservation(booked())
    assert talk.judge(bags(1, 0)).allowed
    assert asked(talk.judge(bags(2, 1))) == {REPROFILE}


# Compensation

HURT = {"passengers": [ANA, BEN], "insurance": "yes"}


def test_a_certificate_waits_for_the_facts() -> None:
    talk = AirlineTalk().user()
    assert asked(talk.judge(certificate(100))) == {REPROFILE}
    talk.profile(profile(reservations=["RV0001", "RV0002"]))
    assert asked(talk.judge(certificate(100))) == {
        REREAD,
        'get_reservation_details(reservation_id="RV0002")',
    }
    talk.reservation(booked(OUT, BACK, **HURT))
    assert asked(talk.judge(certificate(200))) == {
        looked_up("NV101", "2024-05-20"),
        looked_up("NV102", "2024-05-25"),
    }
    talk.status("NV102", "2024-05-25", "cancelled")
    assert talk.judge(certificate(200)).allowed
    assert talk.judge(certificate("200")).allowed
    assert violated(talk.judge(certificate("250"))) == {"airline/compensation-amount"}


def test_the_reservation_that_justifies_the_amount_is_the_one_that_is_eligible() -> None:
    talk = known(**HURT).status("NV101", "2024-05-20", "cancelled")
    talk.reservation(booked(BACK, reservation_id="RV0002")).status(
        "NV102", "2024-05-25", "cancelled"
    )
    assert talk.judge(certificate(200)).allowed
    assert violated(talk.judge(certificate(100))) == {"airline/compensation-amount"}
    assert talk.profile(profile(membership="gold")).judge(certificate(100)).allowed


def test_without_an_incident_in_any_reservation_there_is_no_certificate() -> None:
    talk = known(**HURT).status("NV101", "2024-05-20", "available")
    assert violated(talk.judge(certificate(200))) == {"airline/compensation-facts"}
    talk = (
        AirlineTalk()
        .profile(profile(reservations=["RV0001", "RV0002"]))
        .reservation(booked(**HURT))
    )
    verdict = talk.status("NV101", "2024-05-20", "landed").judge(certificate(200))
    assert asked(verdict) == {'get_reservation_details(reservation_id="RV0002")'}


def test_a_delay_pays_after_a_change_or_cancellation() -> None:
    def delayed() -> AirlineTalk:
        return known(flights=[on("2024-05-15")], **HURT).status("NV101", "2024-05-15", "delayed")

    assert violated(delayed().judge(certificate(100))) == {
        "airline/compensation-delay-after-change"
    }
    assert delayed().wrote(CANCEL).judge(certificate(100)).allowed
    assert (
        delayed()
        .reservation(booked(on("2024-05-15"), status="cancelled", **HURT))
        .judge(certificate(100))
        .allowed
    )
    rebooked = delayed().wrote(change(NEW)).reservation(booked(on("2024-05-21"), **HURT))
    assert rebooked.judge(certificate(100)).allowed
    assert violated(rebooked.judge(certificate(200))) == {"airline/compensation-amount"}


def test_the_membership_is_asked_for_only_where_the_reservation_leaves_it_open() -> None:
    talk = AirlineTalk().reservation(booked()).status("NV101", "2024-05-20", "cancelled")
    assert asked(talk.judge(certificate(100))) == {REPROFILE}
    assert violated(talk.profile().judge(certificate(100))) == {"airline/compensation-eligibility"}
    assert talk.profile(profile(membership="silver")).judge(certificate(100)).allowed


# Versions


def test_the_versions_and_what_they_share() -> None:
    assert list(versions("airline")) == ["tau2", "tau", "tau_trait"]
    for name, domain in versions("airline").items():
        assert domain.version == name
        ids = {rule.id for rule in domain.predicates}
        assert {p for clause in domain.clauses for p in clause.predicates} == ids
    assert {r.id for r in TAU2.predicates} - {r.id for r in TAU.predicates} == {
        "airline/cabin-change-flown"
    }


def test_a_gold_member_has_one_free_bag_less_in_business_in_the_older_rules() -> None:
    def gold(domain: Domain) -> AirlineTalk:
        talk = AirlineTalk(domain).profile(profile(membership="gold"))
        return talk.reservation(booked(cabin="business"))

    assert gold(TAU2).judge(bags(4, 0)).allowed
    assert violated(gold(TAU).judge(bags(4, 0))) == {"airline/bag-allowance"}
    assert gold(TAU).judge(bags(4, 1)).allowed


def test_the_older_rules_allow_another_cabin_after_a_flight() -> None:
    past = [on("2024-05-14"), BACK]
    call = change(("NV101", "2024-05-14"), ("NV102", "2024-05-25"), cabin="business")
    assert violated(known(flights=past).judge(call)) == {"airline/cabin-change-flown"}
    assert known(TAU, flights=past).judge(call).allowed


def test_without_a_status_tool_no_status_is_asked_for() -> None:
    for domain in (TAU, TAU2.bind({tool.tool for tool in TAU.tools})):
        talk = known(domain, flights=[on("2024-05-15")], cabin="business", **HURT)
        verdict = talk.judge(CANCEL)
        assert verdict.allowed
        assert [f.kind for f in verdict.shadow] == [Kind.UNDECIDED]
        assert talk.judge(certificate(200)).allowed
        assert violated(talk.judge(certificate(300))) == {"airline/compensation-amount"}


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


# Odd arguments


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


def test_numbers_may_be_text_but_must_be_numbers() -> None:
    assert known().judge(bags("2", "1")).allowed
    assert violated(known(total_baggages=2).judge(bags("1", "0"))) == {"airline/bags-no-removal"}
    for odd in ("NaN", float("nan"), "two", None, True, 1.5, [2]):
        verdict = known().judge(bags(odd, 0))
        assert [f.predicate for f in verdict.findings] == [MALFORMED]
        assert verdict.decision is Decision.REVISE


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


# Recorded data


def rows(file: File) -> list[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def outcome(verdict: Verdict) -> str:
    if verdict.violations or verdict.errors:
        return "reject"
    return "revise_read" if verdict.missing else "allow"


def is_right(expect: Mapping[str, Any], verdict: Verdict) -> bool:
    answer = outcome(verdict)
    if answer not in (expect.get("accept") or [expect["decision"]]):
        return False
    if answer == "reject":
        clauses = expect.get("clause_any") or [expect["clause"]]
        return any(f.clause in clauses for f in verdict.violations)
    wanted = [*(expect.get("read_any") or ()), *([expect["read"]] if expect["read"] else ())]
    named = [(read.name, dict(read.arguments)) for f in verdict.missing for read in f.reads]
    return not wanted or any((w["name"], w["arguments"]) in named for w in wanted)


def test_labelled_cases(data_dir: File) -> None:
    policy = json.loads((data_dir / "benchmarks/policy/airline.json").read_text("utf-8"))
    apart = {c["id"] for c in policy if c["checkable"] in ("dialogue", "mixed")}
    judged, wrong = 0, []
    for row in rows(data_dir / "benchmarks/cases/airline.jsonl.gz"):
        if row["clause"] in apart:
            continue
        state = State()
        for message in read_messages(row["messages"]):
            state = state.observe(message, TAU2)
        call = ToolCall(name=row["call"]["name"], arguments=row["call"]["arguments"])
        verdict = Gate(domain=TAU2).judge(call, state.ledger)
        judged += 1
        if not is_right(row["expect"], verdict):
            wrong.append((row["id"], row["expect"], outcome(verdict), verdict.feedback))
    assert judged > 400
    assert not wrong


def test_every_tool_of_the_environment_is_declared(data_dir: File) -> None:
    tools = json.loads((data_dir / "benchmarks/tau2/airline/tools.json").read_text("utf-8"))
    kinds = {"read": Effect.READ, "write": Effect.WRITE, "generic": Effect.NEUTRAL}
    declared = {tool["name"]: kinds[tool["type"]] for tool in tools}
    assert {tool.tool: TAU2.effect(tool.tool) for tool in TAU2.tools} == declared


def test_every_clause_is_in_the_clause_file(data_dir: File) -> None:
    policy = json.loads((data_dir / "benchmarks/policy/airline.json").read_text("utf-8"))
    listed = {c.id: (c.section, c.checkable) for c in TAU2.clauses}
    assert listed == {c["id"]: (c["section"], c["checkable"]) for c in policy}
    decidable = {c.id for c in TAU2.clauses if c.checkable == "state"}
    assert all(c.predicates for c in TAU2.clauses if c.id in decidable)
