"""The reducer over a conversation: each message gives a new state.

Agent, session, replay and adapters are all folds of `State.observe` over the same messages.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgeragent.absorb import Absorption, absorb
from ledgeragent.domain import Domain
from ledgeragent.gate import Delivery, Filtered, Gate, Rejections
from ledgeragent.ledger import Ledger
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

_new = tuple.__new__


class State(NamedTuple):
    """What is known after the messages so far.

    `pending` are the calls of the latest reply that have no return yet, in order; `last` tells what
    the latest return did to the ledger.
    """

    ledger: Ledger = Ledger()
    pending: tuple[ToolCall, ...] = ()
    rejections: Rejections = Rejections()
    last: Absorption | None = None

    def observe(self, message: Message, domain: Domain) -> State:
        """The state one message later."""
        match message:
            case UserMessage():
                touched = domain.shared(self.ledger) if domain.shared is not None else ()
                return self._next(self.ledger.heard(touched), self.pending)
            case Reply():
                return self._next(self.ledger, message.calls)
            case ToolReturn():
                return self._answered(message, domain)

    def _answered(self, returned: ToolReturn, domain: Domain) -> State:
        """Pairs a return with the first unanswered call of that id: ids repeat in real runs."""
        for position, call in enumerate(self.pending):
            if call.id == returned.call_id:
                after = absorb(self.ledger, call, returned, domain)
                rest = self.pending[:position] + self.pending[position + 1 :]
                return self._next(after.ledger, rest, after)
        reason = f"no open call has the id {returned.call_id!r}"
        skipped = Absorption(ledger=self.ledger, skipped=reason)
        return self._next(self.ledger, self.pending, skipped)

    def _next(
        self, ledger: Ledger, pending: tuple[ToolCall, ...], last: Absorption | None = None
    ) -> State:
        return _new(State, (ledger, pending, self.rejections, last))

    def filter(self, reply: Reply, gate: Gate, delivery: Delivery) -> tuple[State, Filtered]:
        """The judged reply, and the state in which only its allowed calls await a return."""
        filtered = gate.filter(reply, self.ledger, self.rejections, delivery)
        state = State(ledger=self.ledger, pending=filtered.execute, rejections=filtered.rejections)
        return state, filtered
