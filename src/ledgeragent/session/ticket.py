"""Ticket: one judged call on its way to being answered."""

from __future__ import annotations

from dataclasses import dataclass, field

from ledgeragent.gate import NOT_EXECUTED
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Verdict


def refusal(verdict: Verdict) -> str:
    """The answer to a rejected call. It begins with `Error`, so that a history read again is right."""
    return f"{NOT_EXECUTED}. {verdict.objection}"


@dataclass(slots=True, eq=False)
class Ticket:
    """A judged call, the `number`th of its conversation, which `writes` or does not. In `shadow` it
    runs whatever the verdict.

    While it is `pending` its verdict is not the last word: it is judged again when `waits_for` have
    been answered. It was `claimed` by its host at that time of a clock. `beside` are the writes that
    ran at some time while it did.
    """

    call: ToolCall
    verdict: Verdict
    shadow: bool = False
    number: int = 0
    writes: bool = False
    pending: bool = False
    claimed: float = 0.0
    waits_for: tuple[ToolCall, ...] = ()
    beside: list[ToolCall] = field(default_factory=list)

    @property
    def allowed(self) -> bool:
        """True if the call may execute."""
        return self.shadow or (self.verdict.allowed and not self.pending)

    def is_of(self, call: ToolCall) -> bool:
        """True if this call is the one that was judged, not one that somebody has edited since."""
        return self.call.malformed is not None or self.call.intent == call.intent

    def waits(self, other: Ticket) -> bool:
        """True if the other call has to be answered, or judged, before this one is judged again."""
        named = any(call is other.call for call in self.waits_for)
        return named or (other.pending and other.number < self.number)
