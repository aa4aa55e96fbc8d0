"""The reducer over a conversation: each message gives a new state.

Agent, session, replay and adapters are all folds of `State.observe` over the same messages.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ledgeragent.absorb import Absorption, absorb, touched_by
from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.gate import NOT_EXECUTED, Delivery, Filtered, Gate
from ledgeragent.ledger import Entry, Ledger, Touch
from ledgeragent.opencalls import answer_first
from ledgeragent.paths import Path
from ledgeragent.rejections import Rejections
from ledgeragent.returned import unwrapped
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage

# A third of what a named tuple's own constructor costs.
_tuple = tuple.__new__


class State(NamedTuple):
    """What is known after the messages so far.

    `pending` are the calls of the latest reply that have no return yet, in order; `last` tells what
    the latest return did to the ledger. `raced` are writes that may run at the same time as the
    calls beside them, whose answers then may be older than they look.
    """

    ledger: Ledger = Ledger()
    pending: Sequence[ToolCall] = ()
    rejections: Rejections = Rejections()
    last: Absorption | None = None
    raced: tuple[ToolCall, ...] = ()

    def observe(self, message: Message, domain: Domain) -> State:
        """The state one message later."""
        match message:
            case UserMessage():
                touched = domain.shared(self.ledger) if domain.shared is not None else ()
                heard = self.ledger.heard(touched)
                heard = heard.uttered("user", message.text) if domain.listens else heard
                return self._next(heard, self.pending)
            case Reply():
                ledger = self._without_results(domain)
                ledger = at_time(ledger, message.at, domain)
                return self._next(_uttered(ledger, message, domain), message.calls)
            case ToolReturn():
                return self._answered(message, domain)

    def _answered(self, returned: ToolReturn, domain: Domain) -> State:
        """Pairs a return with the first unanswered call of that id: ids repeat in real runs."""
        call, rest = answer_first(self.pending, returned.call_id)
        if call is not None:
            after = self._absorbed(call, returned, domain)
            return self._next(after.ledger, rest, after)
        for doubt in self.ledger.unconfirmed:
            if doubt.call.id == returned.call_id and not _is_rejection(returned):
                after = self._absorbed_late(doubt.call, returned, domain)
                return self._next(after.ledger, self.pending, after)
        reason = f"no open call has the id {returned.call_id!r}"
        skipped = Absorption(ledger=self.ledger, skipped=reason)
        return self._next(self.ledger, self.pending, skipped)

    def _absorbed(self, call: ToolCall, returned: ToolReturn, domain: Domain) -> Absorption:
        """What the return does, where its answer may be older than what raced writes changed."""
        after = absorb(self.ledger, call, returned, domain)
        ledger = after.ledger
        for write in self.raced if after.stored else ():
            if write is not call:
                touched = touched_by(ledger, write, domain)
                ledger = ledger.marked([t for t in touched if t.path in after.stored], write)
        return Absorption(ledger, after.stored, after.skipped, after.problems, call)

    def _absorbed_late(self, call: ToolCall, returned: ToolReturn, domain: Domain) -> Absorption:
        """What a late result does. A record that it tells may have changed since: it has to be read."""
        after = absorb(self.ledger, call, returned, domain)
        ledger = after.ledger.marked([Touch(path) for path in after.stored], call)
        return Absorption(ledger, after.stored, after.skipped, after.problems, call)

    def _without_results(self, domain: Domain, running: Container[ToolCall] = ()) -> Ledger:
        """The ledger in which the writes that nobody has answered, and nobody will, may have been."""
        ledger = self.ledger
        for call in self.pending:
            if domain.effect(call.name) is Effect.WRITE and call not in running:
                touched = touched_by(ledger, call, domain)
                ledger = ledger.doubted(call, touched, running=False)
        return ledger

    def _next(
        self, ledger: Ledger, pending: Sequence[ToolCall], last: Absorption | None = None
    ) -> State:
        raced = self.raced if pending else ()
        return _tuple(State, (ledger, pending, self.rejections, last, raced))

    def filter(
        self, reply: Reply, gate: Gate, delivery: Delivery, running: Sequence[ToolCall] = ()
    ) -> tuple[State, Filtered]:
        """The judged reply, and the state in which only its allowed calls await a return.

        `running` are the open calls of earlier replies whose results will still come.
        """
        domain = gate.domain
        ledger = _uttered(self._without_results(domain, running), reply, domain)
        ledger = at_time(ledger, reply.at or (gate.clock() if domain.timed else ""), domain)
        filtered = gate.filter(reply, ledger, self.rejections, delivery, running)
        pending = (*running, *filtered.execute) if running else filtered.execute
        raced: list[ToolCall] = []
        if running or (len(pending) > 1 and gate.order == "any"):
            # What has returned may have raced a call that runs still: its answer is yet to come.
            calls = {id(c): c for c in ((*self.raced, *pending) if running else pending)}.values()
            raced = [c for c in calls if len(calls) > 1 and domain.effect(c.name) is Effect.WRITE]
        return _tuple(State, (ledger, pending, filtered.rejections, None, tuple(raced))), filtered


def _is_rejection(returned: ToolReturn) -> bool:
    """True for our own answer to a call that never ran: ids repeat, and it is not about that one."""
    return str(unwrapped(returned.content)).startswith(NOT_EXECUTED)


def at_time(ledger: Ledger, now: str, domain: Domain) -> Ledger:
    """The ledger at this time, where the rules ask for it; at the one it had, where none is told."""
    return replace(ledger, now=now) if domain.timed and now else ledger


def _uttered(ledger: Ledger, reply: Reply, domain: Domain) -> Ledger:
    return ledger.uttered("agent", reply.text) if domain.listens and reply.text else ledger


def ledger_of(records: Mapping[str, Json], domain: Domain | None = None) -> Ledger:
    """A ledger holding these records: `ledger_of({"orders.#W1": {"status": "pending"}})`.

    With a domain, each record's source is the read that would supply it.
    """
    ledger = Ledger()
    for text, value in records.items():
        path = Path.parse(text)
        reads = domain.reads_for(path) if domain is not None else ()
        source = reads[0] if reads else ToolCall(name="given")
        ledger = ledger.put(Entry(path=path, value=value, source=source, turn=0))
    return ledger
