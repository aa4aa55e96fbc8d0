"""Replies of several writes: each is judged as if the allowed ones before it had been done."""

from __future__ import annotations

import pytest

from ledgeragent.gate import Gate
from ledgeragent.types import Reply, ToolCall
from ledgeragent.verdict import Verdict
from tests.packs.telehealth.talk import (
    CLINIC,
    Talk,
    booking,
    calling,
    cancelling,
    details,
    moving,
    prescribed,
    provider,
)
from tests.packs.telehealth.test_prescriptions import CATALOG

LISTED = Gate(domain=CLINIC, order="listed")
ANY = Gate(domain=CLINIC)


def supplying(medication: str, company: str, brand: str, price: float) -> ToolCall:
    return calling(
        "update_prescription_supplier",
        record_id="REC900",
        medication=medication,
        supplier_company=company,
        brand_name=brand,
        price_usd=price,
    )


def noting(note: str) -> ToolCall:
    return calling("update_medical_record_note", record_id="REC900", note=note)


DELTA = supplying("Sertraline", "Delta Labs", "Deltraline", 3.2)
FJORD = supplying("SERTRALINE 50mg", "Fjord Pharma", "Sertrafjord", 4.1)
IBUPROFEN = supplying("Ibuprofen", "Delta Labs", "Deltraline", 3.2)
FREED = booking(time="09:00")
TWICE_MOVED = (
    moving("APPT900", "2025-11-07", "09:00"),
    moving("APPT900", "2025-11-14", "09:00"),
)


def known() -> Talk:
    talk = Talk().located().provider(provider()).details(details())
    talk.details(details("APPT901").replace("09:00", "10:00"), "APPT901")
    talk.prescriptions(prescribed()).suppliers(CATALOG)
    return talk.suppliers(CATALOG.replace("Sertraline", "Ibuprofen"), medication="Ibuprofen")


def verdicts(gate: Gate, *calls: ToolCall) -> tuple[Verdict, ...]:
    filtered = gate.filter(Reply(calls=calls), known().ledger)
    assert not any(verdict.errors for verdict in filtered.verdicts)
    return filtered.verdicts


@pytest.mark.parametrize("gate", [LISTED, ANY], ids=["listed", "any"])
@pytest.mark.parametrize(
    "calls",
    [
        (booking(date="2025-11-12"), booking(date="2025-11-12", appointment_type="consultation")),
        (moving("APPT900", "2025-11-07", "09:00"), moving("APPT901", "2025-11-07", "09:00")),
        (moving("APPT900", "2025-11-07", "09:00"), booking(date="2025-11-07", time="09:00")),
        (booking(date="2025-11-07", time="09:00"), moving("APPT900", "2025-11-07", "09:00")),
        (cancelling(), moving("APPT900", "2025-11-07", "09:00")),
    ],
)
def test_the_second_waits_where_the_first_stands_in_its_way(
    gate: Gate, calls: tuple[ToolCall, ...]
) -> None:
    first, second = verdicts(gate, *calls)
    assert first.allowed
    assert not second.allowed
    assert not second.violations
    assert second.waits_for == (calls[0],)


@pytest.mark.parametrize("gate", [LISTED, ANY], ids=["listed", "any"])
@pytest.mark.parametrize(
    "calls",
    [
        (cancelling(), FREED),
        (moving("APPT900", "2025-11-07", "09:00"), FREED),
        (cancelling("APPT901"), moving("APPT900", "2025-11-05", "10:00")),
        (*TWICE_MOVED, booking(date="2025-11-07", time="09:00")),
    ],
)
def test_what_takes_a_slot_that_another_call_frees_waits_since_that_may_fail(
    gate: Gate, calls: tuple[ToolCall, ...]
) -> None:
    *_, last = verdicts(gate, *calls)
    assert not last.allowed and not last.violations
    assert calls[-2] in last.waits_for or gate is ANY


@pytest.mark.parametrize("count", [2, 5, 8])
@pytest.mark.parametrize("slot", [0, 1])
def test_of_many_moves_any_may_be_the_last_that_was_done(count: int, slot: int) -> None:
    days = [f"2025-11-{day:02}" for day in (7, 14, 21, 28)]
    days += [f"2025-12-{day:02}" for day in (5, 12, 19, 26)]
    moves = [moving("APPT900", day, "09:00") for day in days[:count]]
    *moved, booked = verdicts(LISTED, *moves, booking(date=days[slot], time="09:00"))
    assert all(verdict.allowed for verdict in moved)
    assert not booked.allowed and not booked.violations


@pytest.mark.parametrize(
    "calls",
    [(DELTA, FJORD), (DELTA, DELTA), (noting("a"), noting("a")), (cancelling(), cancelling())],
)
def test_two_writes_of_one_thing_are_not_let_through_at_once(calls: tuple[ToolCall, ...]) -> None:
    first, second = verdicts(ANY, *calls)
    assert first.allowed
    assert second.waits_for == (calls[0],)


@pytest.mark.parametrize(
    "calls",
    [
        (DELTA, IBUPROFEN),
        (DELTA, noting("a")),
        (noting("a"), noting("b")),
        (cancelling(), cancelling("APPT901")),
        (cancelling(), booking(date="2025-11-12")),
        (booking(date="2025-11-12"), booking(date="2025-11-19")),
        (moving("APPT900", "2025-11-07", "09:00"), moving("APPT901", "2025-11-14", "09:00")),
        (booking(date="2025-11-12"), moving("APPT900", "2025-11-07", "09:00"), noting("a"), DELTA),
    ],
)
def test_writes_that_do_not_meet_pass_together(calls: tuple[ToolCall, ...]) -> None:
    assert all(verdict.allowed for verdict in verdicts(ANY, *calls))


def test_nothing_is_asserted_that_a_call_of_the_same_reply_may_change() -> None:
    taken = booking(time="09:00")
    assert [v.allowed for v in verdicts(ANY, taken)] == [False]
    for moved_first in (cancelling(), moving("APPT900", "2025-11-07", "09:00")):
        assert not verdicts(ANY, moved_first, taken)[1].violations
