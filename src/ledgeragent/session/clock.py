"""The clock of this machine, for gates whose rules ask for the time and that were given no other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from ledgeragent.gate import Gate, no_clock


def system_clock() -> str:
    """The time now, as ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def ticking(gate: Gate) -> Gate:
    """The gate with a clock: its own, else that of this machine where a rule asks for the time."""
    if gate.clock is not no_clock or not gate.domain.timed:
        return gate
    return replace(gate, clock=system_clock)
