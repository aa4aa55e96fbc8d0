"""Nothing of a stranger's record is told, whatever is wrong with a call on it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.types import ToolCall
from tests.packs.airline.talk import (
    ANA,
    BACK,
    BEN,
    CANCEL,
    NEW,
    NORA,
    OUT,
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
    passengers,
    profile,
)
from tests.packs.secrets import leaks, planted, tellings

OTTO = "otto_lind_2002"
STRANGERS = booked(
    OUT, BACK, user_id=OTTO, flight_type="round_trip", cabin="basic_economy", total_baggages=3
)
PROFILE = {
    **profile(OTTO, "gift_card_88", "certificate_77"),
    "name": {"first_name": "Otto", "last_name": "Lind"},
    "email": "otto@example.com",
}
ON_THE_STRANGERS = [
    CANCEL,
    UPGRADE,
    change(NEW),
    change(SAME, NEW, pay="certificate_31"),
    change(),
    bags(0, 0),
    bags(9, 0),
    bags(3, -1),
    passengers(ANA, BEN),
    passengers(),
    booking(user_id=OTTO),
    booking(user_id=OTTO, payment_methods=[{"payment_id": "gift_card_88", "amount": -5}]),
    replace(certificate(100), arguments={"user_id": OTTO, "amount": 100}),
]


def conversation(domain: Domain) -> AirlineTalk:
    talk = AirlineTalk(domain).user(f"I am {NORA}").profile(profile(NORA, reservations=["RV0009"]))
    return talk.direct("OAK", "BOI", "2024-05-21", "NV201")


def read_secrets(domain: Domain, *, with_profile: bool) -> Iterator[tuple[str, Ledger]]:
    for place, record in planted(STRANGERS):
        if record.get("user_id") and record.get("reservation_id") == "RV0001":
            yield place, conversation(domain).reservation(record).ledger
    for place, record in planted(PROFILE) if with_profile else ():
        if record.get("user_id") == OTTO:
            yield place, conversation(domain).reservation(STRANGERS).profile(record).ledger


@pytest.mark.parametrize("domain", [TAU2, TAU])
@pytest.mark.parametrize("with_profile", [False, True])
def test_a_refusal_tells_nothing_of_a_strangers_records(domain: Domain, with_profile: bool) -> None:
    ledgers = list(read_secrets(domain, with_profile=with_profile))
    assert len(ledgers) > 40
    assert not tellings(ledgers, ON_THE_STRANGERS, Gate(domain=domain))


def own_calls() -> list[ToolCall]:
    """Calls on the customer's own reservation RV0009 that something is wrong with."""
    on_own = [
        CANCEL,
        change(("NV102", "2024-05-26")),
        change(NEW),
        bags(5, 0),
        passengers(ANA, BEN),
    ]
    own: list[ToolCall] = [
        replace(call, arguments={**call.arguments, "reservation_id": "RV0009"}) for call in on_own
    ]
    return [
        *own,
        booking(payment_methods=[{"payment_id": "gift_card_88", "amount": 100}]),
        booking(99),
        certificate(100),
    ]


def test_a_refusal_of_an_own_call_tells_nothing_of_a_strangers_records_read_beside() -> None:
    for place, record in planted(STRANGERS):
        if record.get("user_id") and record.get("reservation_id") == "RV0001":
            own: Any = booked(reservation_id="RV0009")
            talk = conversation(TAU2).reservation(own).reservation(record)
            for number, date in (("NV101", "2024-05-20"), ("NV102", "2024-05-25")):
                talk.status(number, date, "cancelled" if number == "NV102" else "available")
            for call in own_calls():
                assert not leaks(talk.judge(call)), (place, call)
