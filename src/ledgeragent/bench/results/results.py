"""A run of a result file: what was called, what should have been, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ledgeragent.bench.results.spending import Spent
from ledgeragent.types import Json, canonical

_INFRASTRUCTURE = ("infrastructure_error", "unexpected_error")


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCall:
    """A call that was made, by the agent or by the customer (`own`), and whether it failed."""

    name: str
    arguments: Mapping[str, Json]
    own: bool = False
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """An action of the reference solution. `compare` are the arguments that count, None for all."""

    name: str
    arguments: Mapping[str, Json]
    own: bool = False
    compare: tuple[str, ...] | None = None

    def is_met_by(self, call: MadeCall) -> bool:
        """True as the tau2 evaluator has it: only arguments that the call gives are compared."""
        if call.name != self.name:
            return False
        names = call.arguments if self.compare is None else self.compare
        actual = {n: call.arguments[n] for n in names if n in call.arguments}
        expected = {n: self.arguments[n] for n in names if n in self.arguments}
        return actual == expected


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One trial of one task. `gold` is None where the file does not say what was expected.

    `policy` is what the agent was told to follow, "" where the file does not have it.
    """

    arm: str
    model: str
    domain: str
    task: str
    reward: float
    termination: str
    gold: tuple[Gold, ...] | None
    basis: frozenset[str]
    calls: tuple[MadeCall, ...]
    spent: Spent
    breakdown: Mapping[str, float]
    messages: Json
    policy: str = ""

    @property
    def success(self) -> bool:
        """True for a reward of 1, within a rounding error."""
        return abs(self.reward - 1.0) <= 1e-6

    @property
    def invalid(self) -> bool:
        """True if the harness failed, not the agent: such a run counts nowhere."""
        return self.termination in _INFRASTRUCTURE


def intent(call: MadeCall) -> str:
    """The content of a call, as text that equal calls share."""
    return f"{call.name} {canonical(dict(call.arguments))}"
