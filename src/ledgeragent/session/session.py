"""Session: the one mutable object, holding the state of one conversation for a host's loop."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ledgeragent.absorb import Absorption
from ledgeragent.dispatching import as_proposed, inner_reply
from ledgeragent.domain import Domain
from ledgeragent.gate import Delivery, Filtered, Gate
from ledgeragent.journal.recorder import Recorder, new_session
from ledgeragent.ledger import Ledger
from ledgeragent.render import render
from ledgeragent.session.clock import ticking
from ledgeragent.session.unread import warn_of
from ledgeragent.state import State
from ledgeragent.types import Message, Reply, ToolReturn, UserMessage

if TYPE_CHECKING:
    from ledgeragent.journal import Journal


class Session:
    """One conversation. Create one per run, never one per agent object.

    `gate` may be a domain (judged with the defaults) or a `Gate` of your own making; without a clock of
    its own it goes by this machine's. All that
    happens is recorded in `journal`, if given, under the session's `name`. Tools may run in threads:
    each step is taken whole. A reply ends the one before it, so a call of that which has no answer
    yet may have happened.
    """

    def __init__(
        self,
        gate: Gate | Domain,
        *,
        delivery: Delivery = "tool_result",
        journal: Journal | None = None,
    ) -> None:
        self.gate = ticking(gate if isinstance(gate, Gate) else Gate(domain=gate))
        self.delivery: Delivery = delivery
        self.state = State()
        self.name = new_session()
        self._recorder = Recorder(self.gate.domain, journal)
        self._lock = threading.RLock()

    @property
    def ledger(self) -> Ledger:
        """The latest observed state."""
        return self.state.ledger

    def heard(self, text: str = "") -> None:
        """Notes a message of the user."""
        self._advance(UserMessage(text=text))

    def context(self, budget: int | None = None) -> str:
        """The ledger block for the tail of the next prompt, within `budget` tokens if given."""
        return render(self.state.ledger, budget)

    def filter(self, reply: Reply) -> Filtered:
        """The judged reply: run `execute`, put `reply` (and `returns`) in the transcript."""
        with self._lock:
            meant = inner_reply(reply, self.gate.domain)
            self.state, filtered = self.state.filter(meant, self.gate, self.delivery)
            self._recorder.judged(self.name, meant, filtered)
            return filtered if meant is reply else as_proposed(filtered, reply)

    def observe(self, returned: ToolReturn) -> Absorption:
        """Takes in what a call of the last filtered reply answered; says what it did and why."""
        after = self._advance(returned)
        assert after.last is not None
        return after.last

    def _advance(self, message: Message) -> State:
        with self._lock:
            before = self.state
            after = self.state = before.observe(message, self.gate.domain)
            if isinstance(message, ToolReturn):
                warn_of(before, message, after)
            self._recorder.note(self.name, message, before, after)
            return after
