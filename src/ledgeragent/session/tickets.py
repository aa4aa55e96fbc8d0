"""Tickets: the calls of a conversation that are judged, waiting, running, or lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from time import monotonic

from ledgeragent.gate import Filtered
from ledgeragent.rejections import Rejections
from ledgeragent.session.ticket import Ticket
from ledgeragent.session.waiting import causes
from ledgeragent.session.wakeups import Wakeups
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Verdict


class Tickets:
    """Where each ticket stands. The caller holds `wakeups.lock`.

    `open` were judged and not begun, `waiting` are claimed and pending, `running` were begun and have
    no answer, of `lost` ones none will come. `failed` are those of the last reply that ended without
    success: their hosts may try again. `writes` tells whether a call may change the world; in
    `shadow` no call waits.
    """

    def __init__(self, *, shadow: bool, writes: Callable[[ToolCall], bool]) -> None:
        self.wakeups = Wakeups()
        self._shadow = shadow
        self._writes = writes
        self._number = 0
        self.open: list[Ticket] = []
        self.waiting: list[Ticket] = []
        self.running: list[Ticket] = []
        self.lost: list[Ticket] = []
        self.failed: list[Ticket] = []

    def issue(self, filtered: Filtered, running: Sequence[ToolCall] = ()) -> list[Ticket]:
        """The tickets of a reply that was judged while these calls ran, each waiting for its causes."""
        before = list(running)
        tickets: list[Ticket] = []
        for verdict in filtered.verdicts:
            ticket = self.issue_one(verdict)
            if not self._shadow:
                ticket.waits_for = causes(verdict, before)
                ticket.pending = bool(ticket.waits_for)
            if verdict.allowed:
                before.append(verdict.call)
            tickets.append(ticket)
        return tickets

    def issue_one(self, verdict: Verdict) -> Ticket:
        """The ticket of a call that waits for none."""
        self._number += 1
        call = verdict.call
        return Ticket(call, verdict, self._shadow, self._number, self._writes(call))

    def named(self, call: ToolCall) -> list[Ticket]:
        """The open tickets with the name and id of a call, whatever its arguments."""
        return [t for t in self.open if t.call.id == call.id and t.call.name == call.name]

    def failure_of(self, call: ToolCall) -> Ticket | None:
        """The ticket of a call that was begun, and failed."""
        same = (t for t in self.failed if t.call.id == call.id and t.call.name == call.name)
        return next((ticket for ticket in same if ticket.is_of(call)), None)

    def claim(self, ticket: Ticket) -> None:
        """Takes a ticket for its host: it runs, or waits, or is done with."""
        ticket.claimed = monotonic()
        if ticket in self.open:
            self.open.remove(ticket)
        if ticket.pending:
            self.waiting.append(ticket)
        elif ticket.allowed:
            self._start(ticket)

    def decide(self, ticket: Ticket) -> None:
        """Lets the verdict of a waiting ticket stand."""
        self.waiting.remove(ticket)
        ticket.pending = False
        if ticket.allowed:
            self._start(ticket)
        self.wakeups.notify()

    def _start(self, ticket: Ticket) -> None:
        for other in self.running:
            if other.writes:
                ticket.beside.append(other.call)
            if ticket.writes:
                other.beside.append(ticket.call)
        self.running.append(ticket)

    def end(self, ticket: Ticket, *, failed: bool = False) -> bool:
        """Takes a ticket out of those that run; False if it was not among them."""
        if ticket not in self.running:
            return False
        self.running.remove(ticket)
        if failed:
            self.failed.append(ticket)
        self.wakeups.notify()
        return True

    def withdraw(self, ticket: Ticket) -> None:
        """Forgets a call that was waiting: it did not run."""
        if ticket in self.waiting:
            self.waiting.remove(ticket)
            ticket.pending = False
            self.wakeups.notify()

    def clear(self) -> None:
        """Forgets what has not begun."""
        for ticket in (*self.open, *self.waiting):
            ticket.pending = False
        self.open, self.waiting, self.failed = [], [], []
        self.wakeups.notify()

    def waits_for_an_end(self, ticket: Ticket) -> bool:
        """True if a ticket waits for one that will end by itself."""
        return any(ticket.waits(other) for other in (*self.running, *self.waiting))

    def waits_for_a_beginning(self, ticket: Ticket) -> bool:
        """True if a ticket waits for one that its host has not begun."""
        return any(ticket.waits(other) for other in self.open)

    def later_writes(self, ticket: Ticket) -> Iterator[Ticket]:
        """The allowed writes that come after a ticket and have not begun."""
        return (t for t in self.open if t.allowed and t.writes and t.number > ticket.number)


def without(calls: Iterable[ToolCall], tickets: Iterable[Ticket]) -> tuple[ToolCall, ...]:
    """The calls that are not those of the tickets."""
    left_out = [ticket.call for ticket in tickets]
    return tuple(call for call in calls if not any(call is other for other in left_out))


def final_rejections(
    memory: Rejections, filtered: Filtered, tickets: Sequence[Ticket]
) -> Rejections:
    """The loop guard's memory after a reply: it hears of what was rejected for good."""
    if not any(ticket.pending for ticket in tickets):
        return filtered.rejections
    for ticket in tickets:
        if not ticket.verdict.allowed and not ticket.pending:
            memory = memory.add(ticket.verdict)
    return memory
