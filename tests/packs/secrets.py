"""Secrets planted in a stranger's records, and looked for in everything a refusal tells.

One field at a time holds the secret, and all others stay as they are: a record that is odd all over
would be turned away before a rule says what it saw.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from ledgeragent.ledger import Ledger
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Verdict

SECRET = "Xyzzy-7731"
SECRET_NUMBER = 77310077


class Planted(NamedTuple):
    """A record with the secret in one place."""

    place: str
    record: Json


def planted(record: Json, place: str = "") -> Iterator[Planted]:
    """The record once for each of its values, with the secret there; dates and numbers keep their kind.

    Text is planted twice: in place of the value, and as a second word behind it, which leaves most
    words of a list no word of it, but names what they were.
    """
    if isinstance(record, dict):
        for name, value in record.items():
            for inner in planted(value, f"{place}.{name}".lstrip(".")):
                yield Planted(inner.place, {**record, name: inner.record})
        for name in record:
            kept = {(SECRET if other == name else other): v for other, v in record.items()}
            yield Planted(f"{place} key {name}", kept)
    elif isinstance(record, list):
        for number, value in enumerate(record):
            for inner in planted(value, f"{place}[{number}]"):
                yield Planted(inner.place, [*record[:number], inner.record, *record[number + 1 :]])
    elif isinstance(record, str):
        yield Planted(place, SECRET)
        yield Planted(place, f"{record} {SECRET}")
    elif isinstance(record, int | float) and not isinstance(record, bool):
        yield Planted(place, SECRET_NUMBER)


def told(verdict: Verdict) -> Iterator[str]:
    """Every text that leaves the gate for a model or a user."""
    yield verdict.objection
    yield verdict.feedback
    for finding in (*verdict.findings, *verdict.shadow):
        yield finding.reason
        yield str(finding.public)
        yield from map(str, (*finding.reads, *finding.waits_for))


def leaks(verdict: Verdict) -> list[str]:
    """The texts of a verdict that tell a secret."""
    return [text for text in told(verdict) if SECRET in text or str(SECRET_NUMBER) in text]


class Telling(NamedTuple):
    """A call on a stranger's record whose refusal told a secret."""

    place: str
    call: ToolCall
    text: str


def tellings(
    ledgers: Iterable[tuple[str, Ledger]], calls: Iterable[ToolCall], gate: Any
) -> list[Telling]:
    """What refusals told, of ledgers that each hold a secret at a place, for each of the calls.

    Fails where a call is let through: then it was no stranger's record.
    """
    calls = list(calls)
    found = []
    for place, ledger in ledgers:
        for call in calls:
            verdict = gate.judge(call, ledger)
            assert not verdict.allowed, f"{call} was allowed, with the secret at {place}"
            found += [Telling(place, call, text) for text in leaks(verdict)]
    return found
