"""When a reservation can be cancelled, and the paper's first running example."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ledgeragent.agent import LedgerAgent
from ledgeragent.gate import Gate
from ledgeragent.testing import ScriptedModel
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Decision
from tests.packs.airline.talk import (
    BACK,
    CANCEL,
    OUT,
    REREAD,
    SAME,
    TAU2,
    change,
    known,
    looked_up,
    on,
    read,
)
from tests.packs.talk import asked, violated

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
            "price": 62,
        },
        {
            "flight_number": "HAT284",
            "origin": "LAS",
            "destination": "PHX",
            "date": "2024-05-17",
            "price": 62,
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


@pytest.mark.parametrize("answer", ["cancelle", "", "CANCELED!", "on hold", '["cancelled"]'])
@pytest.mark.parametrize("earlier", [None, "cancelled", "available"])
def test_a_status_that_nobody_understands_is_no_ground_to_refuse(
    answer: str, earlier: str | None
) -> None:
    talk = known(flights=[OUT, BACK]).status("NV102", "2024-05-25", "available")
    if earlier is not None:
        talk.status("NV101", "2024-05-20", earlier)
    verdict = talk.status("NV101", "2024-05-20", answer).judge(CANCEL)
    assert not verdict.violations
    assert asked(verdict) == {looked_up("NV101", "2024-05-20")}
    assert "could not be understood" in verdict.feedback
    assert talk.status("NV101", "2024-05-20", "cancelled").judge(CANCEL).allowed
    talk.status("NV101", "2024-05-20", "available")
    assert violated(talk.judge(CANCEL)) == {"airline/cancel-basis"}


def test_the_calendar_alone_shows_nothing_of_a_past_flight() -> None:
    first, second = looked_up("NV101", "2024-05-14"), looked_up("NV101", "2024-05-15")
    for basis in ({"insurance": "yes"}, {}):
        talk = known(flights=[on("2024-05-15"), on("2024-05-14")], **basis)
        verdict = talk.judge(CANCEL)
        assert not verdict.violations
        assert asked(verdict) == {first}, "the past flight is looked up first"
        talk.status("NV101", "2024-05-14", "cancelled")
        assert asked(talk.judge(CANCEL)) == {second}, "the other one may have left today"
        talk.status("NV101", "2024-05-15", "on time")
        assert talk.judge(CANCEL).allowed


@pytest.mark.parametrize(
    ("status", "broken"),
    [
        ("landed", {"airline/cancel-flown"}),
        ("flying", {"airline/cancel-flown"}),
        ("delayed", set()),
        ("on time", set()),
        ("available", set()),
        ("cancelled", set()),
    ],
)
def test_a_past_flight_is_what_its_status_says(status: str, broken: set[str]) -> None:
    talk = known(flights=[on("2024-05-14"), BACK], cabin="business")
    talk.status("NV101", "2024-05-14", status)
    assert violated(talk.judge(CANCEL)) == broken


@pytest.mark.parametrize(
    "answer", ["departed", "Landed", "It has landed.", "", "on-time", '{"status": "landed"}']
)
def test_a_status_that_is_none_is_asked_for_again(answer: str) -> None:
    talk = known(flights=[on("2024-05-15")], cabin="business")
    verdict = talk.status("NV101", "2024-05-15", answer).judge(CANCEL)
    assert not verdict.violations
    assert asked(verdict) == {looked_up("NV101", "2024-05-15")}


@pytest.mark.parametrize("wrapped", ['"landed"', '{"result": "landed"}', " landed\n"])
def test_a_status_in_its_wrapping_is_read(wrapped: str) -> None:
    talk = known(flights=[on("2024-05-15")], cabin="business")
    assert violated(talk.status("NV101", "2024-05-15", wrapped).judge(CANCEL)) == {
        "airline/cancel-flown"
    }


@pytest.mark.parametrize(
    ("created_at", "allowed"),
    [
        ("2024-05-15T10:00:00Z", True),
        ("2024-05-15T10:00:00-05:00", True),
        ("2024-05-14T20:00:00Z", True),
        ("2024-05-14T19:59:59Z", False),
        ("2024-05-14T15:00:00.000-05:00", True),
        ("2024-05-14T14:59:59-05:00", False),
        ("2024-05-15", True),
        ("2024-05-14", False),
    ],
)
def test_a_booking_time_may_have_a_zone(created_at: str, allowed: bool) -> None:
    assert known(created_at=created_at).judge(CANCEL).allowed == allowed


@pytest.mark.parametrize("created_at", ["yesterday", "", "2024-05-15T15:00:01", "2025-01-01"])
def test_a_booking_time_that_cannot_be_is_evidence_of_nothing(created_at: str) -> None:
    verdict = known(created_at=created_at).judge(CANCEL)
    assert not verdict.violations
    assert asked(verdict) == {REREAD}
    assert "created_at" in verdict.feedback


def test_a_clock_without_a_zone_reads_times_that_have_one() -> None:
    plain = replace(TAU2, parameters={**TAU2.parameters, "now": "2024-05-15T15:00:00"})
    assert known(plain, created_at="2024-05-15T10:00:00Z").judge(CANCEL).allowed


def test_a_status_read_twice_counts_as_read_last() -> None:
    talk = known().status("NV101", "2024-05-20", "cancelled")
    assert talk.judge(CANCEL).allowed
    assert violated(talk.status("NV101", "2024-05-20", "available").judge(CANCEL)) == {
        "airline/cancel-basis"
    }
