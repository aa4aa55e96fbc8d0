"""A conversation that a host runs call by call: each reply judged once, each call answered once.

A call that only has to wait for others of its reply, or for some in flight, costs no turn of the
model: it waits here for their results, and is judged again on the ledger as it is then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TypeAlias

from ledgeragent.gate import Filtered, Gate
from ledgeragent.journal.threads import Thread
from ledgeragent.ledger import Ledger
from ledgeragent.render import render
from ledgeragent.session.history import HistoryReader
from ledgeragent.session.ids import CallIds
from ledgeragent.session.live import LiveState
from ledgeragent.session.outcome import broke_on_the_way, failure, plain
from ledgeragent.session.ticket import Ticket
from ledgeragent.session.tickets import Tickets, final_rejections, without
from ledgeragent.session.waiting import causes
from ledgeragent.session.wakeups import sleep
from ledgeragent.types import Message, Reply, ToolCall, UserMessage

PATIENCE = 5.0
"""Seconds that a call waits for an earlier one which its host has not begun."""


class Conversation:
    """One conversation: a state that tool threads may share, and the open calls of its last reply.

    `judge` takes the whole reply as a plan; `take` hands out the ticket of one call of it, once its
    verdict stands; `observe` takes in what the call answered. A call that was taken and never
    observed was interrupted: it may have changed the world, so what it touches counts as unknown.
    """

    def __init__(self, gate: Gate, thread: Thread, watch: Watch | None = None) -> None:
        self.tools: frozenset[str] = frozenset()
        self.patience = PATIENCE
        self._thread = thread
        self._watch = watch
        self._live = LiveState(gate, thread)
        self._tickets = Tickets(shadow=thread.shadow, writes=self._live.writes)
        self._wakeups = self._tickets.wakeups
        self._lock = self._wakeups.lock
        self._ids = CallIds()
        self._history = HistoryReader(self._live, self._tickets, self._ids)
        self._notes = ""

    @property
    def gate(self) -> Gate:
        """The gate that judges."""
        return self._live.gate

    @property
    def ledger(self) -> Ledger:
        """The latest observed state."""
        return self._live.state.ledger

    @property
    def shadow(self) -> bool:
        """True if verdicts are recorded and change nothing."""
        return self._thread.shadow

    @property
    def name(self) -> str:
        """The conversation's name in the journal."""
        return self._thread.name

    def rebind(self, gate: Gate) -> None:
        """Judges by this gate from here on: the agent's tools have changed."""
        with self._lock:
            self._live.gate = gate

    def heard(self, text: str = "") -> None:
        """Notes a message of the user."""
        with self._lock:
            self.settle()
            self._live.observe(UserMessage(text=text))

    def replay(self, messages: Iterable[Message]) -> None:
        """Takes in a history: its reads, its writes, its rejections."""
        with self._lock:
            history = tuple(messages)
            self._history.read(history, self._thread.again(history))

    def resume(self, messages: Iterable[Message]) -> None:
        """Takes in a history that ends with the reply whose calls are about to run."""
        *history, reply = messages
        assert isinstance(reply, Reply)
        with self._thread.sessions.lock, self._lock:
            again = self._thread.open((*history, reply))
            self._history.read(history, len(history) if again else self._thread.again(history))
            self._history.cut(new=True)
            self._ids.use(call.id for call in reply.calls)
            self._judge(reply, again=again)

    def context(self) -> str:
        """The ledger block for the tail of the prompt, with warnings on calls that were allowed."""
        with self._lock:
            block = render(self.ledger)
            return f"{block}\n{self._notes}" if self._notes else block

    def ids(self, ids: Sequence[str | None]) -> list[str]:
        """An id for each call of a reply: its own, or a fresh one where it is empty or taken."""
        with self._lock:
            if self.shadow:
                return [name or "" for name in ids]
            return self._ids.distinct(ids)

    def judge(self, reply: Reply) -> Filtered:
        """The verdicts on a reply, judged as a plan; its calls are open from here on."""
        with self._lock:
            self.settle()
            return self._judge(reply)

    def judge_also(self, call: ToolCall) -> Filtered:
        """The verdict on one more call, for hosts that show calls singly; others keep running."""
        with self._lock:
            return self._judge(Reply(calls=(call,)), running=self._live.state.pending)

    def _judge(
        self, reply: Reply, *, again: bool = False, running: tuple[ToolCall, ...] = ()
    ) -> Filtered:
        live, before = self._live, self._live.state.rejections
        filtered = live.judge(reply, running)
        if self.shadow:
            live.pend(*running, *reply.calls)
        tickets = self._tickets.issue(filtered, running)
        live.remember(final_rejections(before, filtered, tickets))
        self._tickets.open += tickets
        warned = (v for v in filtered.verdicts if v.allowed and v.feedback)
        self._notes = "\n".join(f"Note on {v.feedback}" for v in warned)
        self._tell(reply, filtered, again=again)
        return filtered

    def _tell(self, reply: Reply, filtered: Filtered, *, again: bool = False) -> None:
        self._thread.judged(reply, filtered, again=again)
        if self._watch is not None:
            self._watch(self, filtered)

    def take(self, call: ToolCall) -> Ticket:
        """The ticket of a call that is about to run, once its verdict stands.

        Waits in this thread. A call changed since its reply was judged is judged as it is now.
        """
        with self._lock:
            ticket, since = self.claim(call), monotonic()
            while (seconds := self._delay(ticket, since)) != 0:
                self._wakeups.wait(seconds)
                since = since if seconds else monotonic()
            return ticket

    async def atake(self, call: ToolCall) -> Ticket:
        """The same for a task of an event loop, which goes on meanwhile."""
        return await self.astand(self.claim(call))

    async def astand(self, ticket: Ticket) -> Ticket:
        """The ticket that was claimed, once its verdict stands."""
        since = monotonic()
        try:
            while True:
                with self._lock:
                    if (seconds := self._delay(ticket, since)) == 0:
                        return ticket
                    woken = self._wakeups.sleeper()
                await sleep(woken, seconds)
                since = since if seconds else monotonic()
        except BaseException:
            self.interrupted(ticket)
            raise

    def ready(self, ticket: Ticket) -> bool:
        """True once the verdict of a claimed ticket stands, for hosts that must not wait here."""
        with self._lock:
            return self._delay(ticket, monotonic()) == 0

    def claim(self, call: ToolCall) -> Ticket:
        """The ticket of a call, which may be pending."""
        with self._lock:
            ticket = self._find(call) or self._late(call)
            self._tickets.claim(ticket)
            return ticket

    def _delay(self, ticket: Ticket, since: float) -> float | None:
        """Seconds to wait at most before looking again: 0 where the verdict stands, None for any."""
        while ticket in self._tickets.waiting:
            if self._tickets.waits_for_an_end(ticket):
                return None
            if self._tickets.waits_for_a_beginning(ticket):
                left = since + self.patience - monotonic()
                if left > 0:
                    return left
                self._live.remember(self._live.state.rejections.add(ticket.verdict))
                self._tickets.decide(ticket)
            else:
                self._judge_again(ticket)
        return 0

    def _judge_again(self, ticket: Ticket) -> None:
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
        self._tell(filtered.reply, filtered, again=True)

    def _find(self, call: ToolCall) -> Ticket | None:
        tickets = self._tickets.named(call)
        same = next((ticket for ticket in tickets if ticket.is_of(call)), None)
        return same or (self._changed(tickets[0], call) if tickets else None)

    def _changed(self, ticket: Ticket, call: ToolCall) -> Ticket:
        """The ticket of a call whose arguments somebody edited after the reply was judged."""
        self._tickets.open.remove(ticket)
        self._wakeups.notify()
        self._judge(Reply(calls=(call,)), running=without(self._live.state.pending, [ticket]))
        return self._tickets.open[-1]

    def _late(self, call: ToolCall) -> Ticket:
        """The ticket of a call that nobody judged before it was about to run."""
        filtered = self._live.judge_unannounced(call)
        self._tell(filtered.reply, filtered)
        return self._tickets.issue_one(*filtered.verdicts)

    @contextmanager
    def running(
        self, ticket: Ticket, postponed: tuple[type[BaseException], ...] = ()
    ) -> Iterator[None]:
        """Around the execution of a call, whose answer is given to `observe` within.

        What raises has failed, or is asked for again where `postponed` says so. What ends without an
        answer was interrupted.
        """
        try:
            yield
        except postponed:
            self.reopen(ticket)
            raise
        except Exception as error:
            self.observe(ticket, failure(error), error=True, lost=broke_on_the_way(error))
            raise
        finally:
            self.interrupted(ticket)

    def observe(
        self, ticket: Ticket, content: object, *, error: bool = False, lost: bool = False
    ) -> None:
        """Takes in what the call of a ticket answered; `lost` if that leaves open what it did."""
        with self._lock:
            if self._tickets.end(ticket):
                self._live.state = self._live.state._replace(raced=tuple(ticket.beside))
                self._live.answer(ticket.call, plain(content), error=error, lost=lost)
            elif ticket in self._tickets.lost and not lost:
                self._tickets.lost.remove(ticket)
                self._live.answer(ticket.call, plain(content), error=error)
            self._tickets.withdraw(ticket)

    def interrupted(self, ticket: Ticket) -> None:
        """Notes that the answer of a ticket will not come, whatever its call did."""
        with self._lock:
            if self._tickets.end(ticket):
                self._tickets.lost.append(ticket)
                self._live.interrupt(ticket.call)
            self._tickets.withdraw(ticket)

    def reopen(self, ticket: Ticket) -> None:
        """Puts a ticket back: its call has not run yet and will be asked for again."""
        with self._lock:
            if self._tickets.end(ticket):
                self._tickets.open.append(ticket)

    def settle(self) -> None:
        """Takes what was begun and never observed for something that may have happened."""
        with self._lock:
            for ticket in tuple(self._tickets.running):
                self.interrupted(ticket)
            self._tickets.clear()
            self._live.pend()


Watch: TypeAlias = Callable[[Conversation, Filtered], None]
"""Is told every judged reply."""
