"""What a refusal tells of another patient: a secret in each field of their records stays unsaid."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from ledgeragent.ledger import Entry, Ledger
from ledgeragent.types import Json, Reply, ToolCall
from tests.packs.telehealth.talk import (
    ANA,
    GATE,
    Talk,
    booking,
    calling,
    cancelling,
    details,
    listing,
    moving,
    prescribed,
    profile,
    provider,
    record,
)

SECRET = "Zanzibar 4711"
ME = "tom_reed_3"

CALLS = [
    cancelling(),
    cancelling("APPT901"),
    moving("APPT900", "2025-11-07", "09:00"),
    moving("APPT900", "soon", "9"),
    moving("APPT901", "2025-11-05", "09:00"),
    booking(patient_id=ANA),
    booking(patient_id=ANA, date="2025-11-08", time="23:00"),
    booking(patient_id=ANA, provider_id="dr_nemo"),
    booking(patient_id=ME, time="09:00"),
    calling("update_medical_record_note", record_id="REC900", note="x"),
    calling(
        "update_prescription_supplier",
        record_id="REC900",
        medication="Aspirin",
        supplier_company="Delta Labs",
        brand_name="Deltraline",
        price_usd=3.2,
    ),
]


def of_a_stranger() -> Talk:
    """A conversation in which everything of another patient was read."""
    talk = Talk().provider(provider()).details(details())
    talk.list(listing(("APPT901", "Completed"), ("APPT902", "Scheduled")))
    talk.prescriptions(prescribed())
    return talk.tool("get_medical_record", record(), record_id="REC900")


TALKS = {
    "nobody located": of_a_stranger(),
    "a stranger": of_a_stranger().located(ME),
    "a stranger whose profile was read": of_a_stranger().located(ME).profile(profile(), ANA),
    "a stranger who was located later": of_a_stranger().located(ME).named(),
    "a stranger after an own write": of_a_stranger()
    .located(ME)
    .done(booking(patient_id=ME, date="2025-11-07"), "Done."),
    "a stranger whose profile can't be read": of_a_stranger().located(ME).profile("Busy.", ANA),
}
THEIRS = {"appointments", "records", "patients", "appointment_lists", "record_lists"}


def planted(value: Json) -> Iterator[Json]:
    """The value with the secret in one of its places, for each place."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from ({**value, name: other} for other in planted(inner))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from ([*value[:place], o, *value[place + 1 :]] for o in planted(inner))
    else:
        yield SECRET


def with_secrets(ledger: Ledger) -> Iterator[tuple[Entry, Ledger]]:
    """The ledger with the secret in one place of one of the stranger's records, for each place."""
    for entry in ledger:
        if entry.path[0] in THEIRS:
            for value in planted(entry.value):
                yield entry, ledger.put(replace(entry, value=value))


def everything_told(call: ToolCall, ledger: Ledger) -> str:
    filtered = GATE.filter(Reply(calls=(call,)), ledger, delivery="tool_result")
    told = [filtered.feedback, *(str(answer.content) for answer in filtered.returns)]
    for verdict in filtered.verdicts:
        assert not verdict.errors
        told += [verdict.objection]
        told += [f"{f.reason} {f.public} {f.reads}" for f in (*verdict.findings, *verdict.shadow)]
    return "\n".join(told)


@pytest.mark.parametrize("name", TALKS)
@pytest.mark.parametrize("call", CALLS, ids=str)
def test_no_field_of_a_strangers_record_is_told(name: str, call: ToolCall) -> None:
    places = list(with_secrets(TALKS[name].ledger))
    assert len({entry.path for entry, _ in places}) > 5
    for entry, ledger in places:
        assert SECRET not in everything_told(call, ledger), entry.path


@pytest.mark.parametrize("call", [c for c in CALLS if ME not in c.arguments.values()], ids=str)
def test_no_call_on_a_strangers_record_passes(call: ToolCall) -> None:
    for talk in TALKS.values():
        assert not GATE.judge(call, talk.ledger).allowed


def test_the_owner_of_a_record_is_told_what_it_holds() -> None:
    ledger = of_a_stranger().located(ANA).ledger
    assert "completed" in everything_told(cancelling("APPT901"), ledger)
    assert "Ibuprofen" in everything_told(CALLS[-1], ledger)
