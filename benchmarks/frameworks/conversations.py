"""The conversations that agents have: a wrong refund is mended and runs once; a cancellation is blocked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from benchmarks.frameworks.scene import SCENES, Call
from benchmarks.frameworks.scripted import OWN_TOOL, Step

_READS = {"find_customer", "get_order", "get_parcel"}
_ASKS = {
    "revise": (
        "Hello, elena.ricci@example.net. One of my secateurs is blunt: order G-1012, parcel P-33.",
        "Then refund that one, please.",
    ),
    "block": (
        "Hello, maya.brandt@example.org. It is about my order G-1007.",
        "Cancel it, please.",
    ),
}


@dataclass(frozen=True, slots=True)
class Conversation:
    """What the customer says, what the model does with it, what must run, and what must be told.

    `told_to_model` if the words must reach the model, else the customer. `outcome` is what the agent
    must say last.
    """

    name: str
    asks: tuple[str, str]
    reads: tuple[Call, ...]
    writes: tuple[Call, ...]
    runs: tuple[Call, ...]
    told: str
    told_to_model: bool
    ends_with: tuple[Step, ...] = ("It is done.",)
    outcome: str = ""

    def turns(self, count: int) -> list[str]:
        """What the customer says, in one turn or in two."""
        return [" ".join(self.asks)] if count == 1 else list(self.asks)

    def steps(self, count: int) -> list[Step]:
        """What the model does: all in one turn, or the reads in a turn of their own."""
        pause: list[Step] = [] if count == 1 else ["I have your order here."]
        return [*self.reads, *pause, *self.writes, *self.ends_with]

    def problem(self, executed: Sequence[Step], said: str, asked: str) -> str:
        """What was not as it should be, or nothing. `asked` is all that the model was sent."""
        if list(executed) != list(self.runs):
            return f"the agent ran {', '.join(map(_shown, executed)) or 'nothing'}"
        heard = asked if self.told_to_model else said
        if self.told not in heard:
            return f"nobody hears {self.told!r}; the agent said {said[:120]!r}"
        if not said.startswith(self.outcome):
            return f"the agent said {said[:120]!r}"
        return ""


def writes_of(executed: Sequence[Step]) -> list[str]:
    """The writes among what the shop executed, with the amount of each."""
    return [_shown(step) for step in executed if step[0] not in _READS]


def _shown(step: Step) -> str:
    if isinstance(step, str):
        return step
    name, arguments = step
    return f"{name}({arguments['amount']})" if "amount" in arguments else name


def _conversations() -> tuple[Conversation, ...]:
    return tuple(
        Conversation(
            name=scene.name,
            asks=_ASKS[scene.name],
            reads=tuple(call for call in scene.calls if call[0] in _READS),
            writes=tuple(call for call in scene.calls if call[0] not in _READS),
            runs=tuple(c for place, c in enumerate(scene.calls) if place not in scene.refused),
            told=scene.told,
            told_to_model=scene.name == "revise",
        )
        for scene in SCENES
    )


CONVERSATIONS = _conversations()
CONTROL = replace(
    CONVERSATIONS[0],
    name="control",
    ends_with=(OWN_TOOL, "It is done."),
    outcome="by its own tool: ",
)
"""The first of them in one turn, at whose end the model calls an output tool, or hands over."""
