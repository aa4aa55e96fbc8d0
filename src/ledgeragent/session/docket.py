"""Docket: where the calls of a conversation are judged, and get their tickets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ledgeragent.gate import Filtered
from ledgeragent.journal.threads import Thread
from ledgeragent.session.live import LiveState
from ledgeragent.session.ticket import Ticket
from ledgeragent.session.tickets import Tickets, final_rejections, without
from ledgeragent.session.waiting import causes
from ledgeragent.types import Reply, ToolCall


class Docket:
    """Judges replies on the `live` state, and single calls again. `tell` hears of every verdict.

    The caller sees to it that one thread at a time is here. `notes` are warnings on allowed calls
    of the last reply.
    """

    def __init__(
        self, live: LiveState, tickets: Tickets, thread: Thread, tell: Callable[[Filtered], None]
    ) -> None:
        self.notes = ""
        self._live = live
        self._tickets = tickets
        self._thread = thread
        self._tell = tell

    def judge(
        self, reply: Reply, *, again: bool = False, running: Sequence[ToolCall] = ()
    ) -> Filtered:
        """The verdicts on a reply; its calls are open from here on."""
        live, before = self._live, self._live.state.rejections
        filtered = live.judge(reply, running)
        if self._thread.shadow:
            live.pend(*running, *reply.calls)
        tickets = self._tickets.issue(filtered, running)
        live.remember(final_rejections(before, filtered, tickets))
        self._tickets.open += tickets
        warned = (v for v in filtered.verdicts if v.allowed and v.feedback)
        self.notes = "\n".join(f"Note on {v.feedback}" for v in warned)
        self._record(reply, filtered, again=again)
        return filtered

    def _record(self, reply: Reply, filtered: Filtered, *, again: bool = False) -> None:
        self._thread.judged(reply, filtered, again=again)
        self._tell(filtered)

    def judge_again(self, ticket: Ticket) -> None:
        """The verdict on the ledger as it is now, with what has begun meanwhile, or goes before."""
        yielding = list(self._tickets.later_writes(ticket))
        running = without(self._live.state.pending, yielding)
        after, filtered = self._live.foresee(Reply(calls=(ticket.call,)), running)
        (ticket.verdict,) = filtered.verdicts
        ticket.waits_for = causes(ticket.verdict, running)
        tickets = self._tickets
        if tickets.waits_for_an_end(ticket) or tickets.waits_for_a_beginning(ticket):
            return
        if ticket.verdict.allowed:
            self._live.state = after
            for other in yielding:
                other.pending = True
        self._live.remember(after.rejections)
        tickets.decide(ticket)
        self._record(filtered.reply, filtered, again=True)

    def ticket_of(self, call: ToolCall) -> Ticket:
        """The ticket of a call that is about to run; judged now where it was not, or not like this."""
        named = self._tickets.named(call)
        same = next((ticket for ticket in named if ticket.is_of(call)), None)
        return same or (self._changed(named[0], call) if named else self._late(call))

    def _changed(self, ticket: Ticket, call: ToolCall) -> Ticket:
        """The ticket of a call whose arguments somebody edited after the reply was judged."""
        self._tickets.open.remove(ticket)
        self._tickets.wakeups.notify()
        self.judge(Reply(calls=(call,)), running=without(self._live.state.pending, [ticket]))
        return self._tickets.open[-1]

    def _late(self, call: ToolCall) -> Ticket:
        """The ticket of a call that is tried again, or that nobody judged before."""
        if (failed := self._tickets.failure_of(call)) is not None:
            self._tickets.failed.remove(failed)
            self.judge(Reply(calls=(call,)), again=True, running=self._live.state.pending)
            return self._tickets.open[-1]
        filtered = self._live.judge_unannounced(call)
        self._record(filtered.reply, filtered)
        return self._tickets.issue_one(*filtered.verdicts)
