"""A run of a result file: what was called, what should have been, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

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


class HelperCost(NamedTuple):
    """The calls, tokens and seconds that one helper took in a run."""

    calls: int = 0
    prompt: int = 0
    completion: int = 0
    seconds: float = 0.0

    def plus(self, entry: Json) -> HelperCost:
        """This and what one message tells of the helper."""
        return HelperCost(
            calls=self.calls + int(entry.get("calls") or 0),
            prompt=self.prompt + int(entry.get("prompt_tokens") or 0),
            completion=self.completion + int(entry.get("completion_tokens") or 0),
            seconds=self.seconds + float(entry.get("seconds") or 0.0),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """The cost of a run: tokens, generations of the agent, calls of helpers. 0 where not recorded.

    The tokens of helpers, told by helper in `by_helper`, are part of all tokens.
    """

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    generations: int = 0
    helpers: int = 0
    by_helper: Mapping[str, HelperCost] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt + self.completion

    @property
    def calls(self) -> int:
        """All calls of a model for the agent's side."""
        return self.generations + self.helpers

    @property
    def helper_tokens(self) -> int:
        """The tokens of helpers alone."""
        return sum(cost.prompt + cost.completion for cost in self.by_helper.values())


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
