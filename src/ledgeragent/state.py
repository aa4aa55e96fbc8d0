"""The reducer over a conversation: each message gives a new state.

Agent, session, replay and adapters are all folds of `State.observe` over the same messages.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from ledgeragent.absorb import Absorption, absorb
from ledgeragent.domain import Domain
from ledgeragent.gate import Delivery, Filtered, Gate, Rejections
from ledgeragent.ledger import Ledger
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What is known after the messages so far.

    `pending` are the calls of the latest reply that have no return yet, in order; `last` tells what
    the latest return did to the ledger.
    """

    ledger: Ledger = field(default_factory=Ledger)
    pending: tuple[ToolCall, ...] = ()
    rejections: Rejections = field(default_factory=Rejections)
    last: Absorption | None = None

    def observe(self, message: Message, domain: Domain) -> State:
        """The state one message later."""
        match message:
            case UserMessage():
                touched = domain.shared(self.ledger) if domain.shared is not None else ()
                return replace(self, ledger=self.ledger.heard(touched), last=None)
            case Reply():
                return replace(self, pending=message.calls, last=None)
            case ToolReturn():
                return self._answered(message, domain)

    def _answered(self, returned: ToolReturn, domain: Domain) -> State:
        """Pairs a return with the first unanswered call of that id: ids repeat in real runs."""
        ids = [call.id for call in self.pending]
        if returned.call_id not in ids:
            reason = f"no open call has the id {returned.call_id!r}"
            return replace(self, last=Absorption(ledger=self.ledger, skipped=reason))
        position = ids.index(returned.call_id)
        after = absorb(self.ledger, self.pending[position], returned, domain)
        rest = self.pending[:position] + self.pending[position + 1 :]
        return replace(self, ledger=after.ledger, pending=rest, last=after)

    def filter(self, reply: Reply, gate: Gate, delivery: Delivery) -> tuple[State, Filtered]:
        """The judged reply, and the state in which only its allowed calls await a return."""
        filtered = gate.filter(reply, self.ledger, self.rejections, delivery)
        state = replace(self, pending=filtered.execute, rejections=filtered.rejections, last=None)
        return state, filtered
