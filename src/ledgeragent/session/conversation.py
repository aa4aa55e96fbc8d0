"""A conversation that a host runs call by call: each reply judged once, each call answered once.

A call that only has to wait for others of its reply, or for some in flight, costs no turn of the
model: it waits here for their results, and is judged again on the ledger as it is then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import TypeAlias

from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.gate import NOT_EXECUTED, Delivery, Filtered, Gate
from ledgeragent.journal.threads import Thread
from ledgeragent.ledger import Ledger
from ledgeragent.rejections import Rejections
from ledgeragent.render import render
from ledgeragent.session.outcome import broke_on_the_way, failure, plain
from ledgeragent.session.ticket import Ticket
from ledgeragent.session.tickets import Tickets, without
from ledgeragent.session.unread import warn_of
from ledgeragent.session.waiting import causes
from ledgeragent.session.wakeups import sleep
from ledgeragent.state import State
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Decision, Finding, Kind, Verdict

UNJUDGED = "adapter/unjudged"
PATIENCE = 5.0
"""Seconds that a call waits for an earlier one which its host has not begun."""

_DELIVERY: Delivery = "tool_result"


class Conversation:
    """One conversation: a state that tool threads may share, and the open calls of its last reply.

    `judge` takes the whole reply as a plan; `take` hands out the ticket of one call of it, once its
    verdict stands; `observe` takes in what the call answered. A call that was taken and never
    observed was interrupted: it may have changed the world, so what it touches counts as unknown.
    """

    def __init__(self, gate: Gate, telling: Thread, watch: Watch | None = None) -> None:
        self.gate = gate
        self.state = State()
        self.used: set[str] = set()
        self.tools: frozenset[str] = frozenset()
        self.patience = PATIENCE
        self._telling = telling
        self._watch = watch
        self._tickets = Tickets()
        self._wakeups = self._tickets.wakeups
        self._lock = self._wakeups.lock
        self._numbered = 0
        self._notes = ""

    @property
    def domain(self) -> Domain:
        """The domain of its gate."""
        return self.gate.domain

    @property
    def ledger(self) -> Ledger:
        """The latest observed state."""
        return self.state.ledger

    @property
    def shadow(self) -> bool:
        """True if verdicts are recorded and change nothing."""
        return self._telling.shadow

    @property
    def name(self) -> str:
        """The conversation's name in the journal."""
        return self._telling.name

    def rebind(self, gate: Gate) -> None:
        """Judges by this gate from here on: the agent's tools have changed."""
        with self._lock:
            self.gate = gate

    def heard(self, text: str = "") -> None:
        """Notes a message of the user."""
        with self._lock:
            self.settle()
            self._observe(UserMessage(text=text))

    def replay(self, messages: Iterable[Message]) -> None:
        """Takes in a history: its reads, its writes, its rejections."""
        with self._lock:
            history = tuple(messages)
            told = self._telling.again(history)
            self._replay(history, told)

    def resume(self, messages: Iterable[Message]) -> None:
        """Takes in a history that ends with the reply whose calls are about to run."""
        *history, reply = messages
        assert isinstance(reply, Reply)
        with self._telling.sessions.lock, self._lock:
            again = self._telling.open((*history, reply))
            told = len(history) if again else self._telling.again(history)
            self._replay(history, told)
            self._cut(new=True)
            self.used.update(call.id for call in reply.calls)
            self._judge(reply, again=again)

    def _replay(self, history: Sequence[Message], told: int) -> None:
        for number, message in enumerate(history):
            self._again(message, new=number >= told)

    def _again(self, message: Message, *, new: bool) -> None:
        if not isinstance(message, ToolReturn):
            self._cut(new=new)
        if isinstance(message, Reply):
            self.used.update(call.id for call in message.calls)
            _, filtered = self.state.filter(message, self.gate, _DELIVERY)
            self._remember(filtered, self._ticketed(filtered, ()))  # for the loop guard
        # What a history shows as executed was executed, whatever the gate would say of it now.
        self._observe(message, new=new and not _refused(message))

    def _cut(self, *, new: bool) -> None:
        """Takes calls of a history that nobody answered for interrupted ones."""
        for call in self.state.pending:
            self._interrupted(call, new=new)

    def context(self) -> str:
        """The ledger block for the tail of the prompt, with warnings on calls that were allowed."""
        with self._lock:
            block = render(self.ledger)
            return f"{block}\n{self._notes}" if self._notes else block

    def ids(self, given: Sequence[str | None]) -> list[str]:
        """An id for each call of a reply: its own, or a fresh one where it is empty or taken."""
        with self._lock:
            if self.shadow:
                return [text or "" for text in given]
            return [self._id(text or "call") for text in given]

    def _id(self, wanted: str) -> str:
        chosen, number = wanted, 2
        while chosen in self.used:
            chosen, number = f"{wanted}-{number}", number + 1
        self.used.add(chosen)
        return chosen

    def judge(self, reply: Reply) -> Filtered:
        """The verdicts on a reply, judged as a plan; its calls are open from here on."""
        with self._lock:
            self.settle()
            return self._judge(reply)

    def judge_also(self, call: ToolCall) -> Filtered:
        """The verdict on one more call, for hosts that show calls singly; others keep running."""
        with self._lock:
            return self._judge(Reply(calls=(call,)), running=self.state.pending)

    def _judge(
        self, reply: Reply, *, again: bool = False, running: tuple[ToolCall, ...] = ()
    ) -> Filtered:
        before = self.state
        self.state, filtered = before.filter(reply, self.gate, _DELIVERY, running)
        self.state = self.state._replace(rejections=before.rejections)
        if self.shadow:
            self._pend(*running, *reply.calls)
        tickets = self._ticketed(filtered, running)
        self._remember(filtered, tickets)
        self._tickets.open += tickets
        warned = (v for v in filtered.verdicts if v.allowed and v.feedback)
        self._notes = "\n".join(f"Note on {v.feedback}" for v in warned)
        self._tell(reply, filtered, again=again)
        return filtered

    def _ticketed(self, filtered: Filtered, running: Sequence[ToolCall]) -> list[Ticket]:
        before = list(running)
        tickets: list[Ticket] = []
        for verdict in filtered.verdicts:
            ticket = self._ticket(verdict)
            if not self.shadow:
                ticket.waits_for = causes(verdict, before)
                ticket.pending = bool(ticket.waits_for)
            if verdict.allowed:
                before.append(verdict.call)
            tickets.append(ticket)
        return tickets

    def _ticket(self, verdict: Verdict) -> Ticket:
        self._numbered += 1
        writes = self._writes(verdict.call)
        return Ticket(verdict.call, verdict, self.shadow, self._numbered, writes)

    def _remember(self, filtered: Filtered, tickets: Sequence[Ticket]) -> None:
        """Tells the loop guard what was rejected for good."""
        memory = filtered.rejections
        if any(ticket.pending for ticket in tickets):
            memory = self.state.rejections
            for ticket in tickets:
                if not ticket.verdict.allowed and not ticket.pending:
                    memory = memory.add(ticket.verdict)
        self.state = self.state._replace(rejections=memory)

    def _tell(self, reply: Reply, filtered: Filtered, *, again: bool = False) -> None:
        self._telling.judged(reply, filtered, again=again)
        if self._watch is not None:
            self._watch(self, filtered)

    def _pend(self, *calls: ToolCall) -> None:
        self.state = self.state._replace(pending=calls)

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
            ticket = self._find(call) or self._late(call, self._unjudged(call))
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
                self._decide(ticket, self.state.rejections.add(ticket.verdict))
            else:
                self._judge_again(ticket)
        return 0

    def _judge_again(self, ticket: Ticket) -> None:
        """The verdict on the ledger as it is now, with what has begun meanwhile, or goes before."""
        yielding = list(self._tickets.later_writes(ticket))
        running = without(self.state.pending, yielding)
        before = self.state._replace(pending=running)
        after, filtered = before.filter(Reply(calls=(ticket.call,)), self.gate, _DELIVERY, running)
        (ticket.verdict,) = filtered.verdicts
        ticket.waits_for = causes(ticket.verdict, running)
        tickets = self._tickets
        if tickets.waits_for_an_end(ticket) or tickets.waits_for_a_beginning(ticket):
            return
        if ticket.verdict.allowed:
            self.state = after
            for other in yielding:
                other.pending = True
        self._decide(ticket, after.rejections)
        self._tell(filtered.reply, filtered, again=True)

    def _decide(self, ticket: Ticket, memory: Rejections) -> None:
        self.state = self.state._replace(rejections=memory)
        self._tickets.decide(ticket)

    def _writes(self, call: ToolCall) -> bool:
        return self.domain.effect(call.name) is Effect.WRITE

    def _find(self, call: ToolCall) -> Ticket | None:
        named = self._tickets.named(call)
        for ticket in named:
            if ticket.call.malformed is not None or ticket.call.intent == call.intent:
                return ticket
        return self._changed(named[0], call) if named else None

    def _changed(self, ticket: Ticket, call: ToolCall) -> Ticket:
        """The ticket of a call whose arguments somebody edited after the reply was judged."""
        self._tickets.open.remove(ticket)
        self._wakeups.notify()
        self._judge(Reply(calls=(call,)), running=without(self.state.pending, [ticket]))
        return self._tickets.open[-1]

    def _unjudged(self, call: ToolCall) -> Verdict:
        """The verdict on a call that no reply held: it does not run, unless verdicts change nothing."""
        if self.shadow:
            return self.gate.judge(call, self.ledger)
        reason = "this call was not part of the reply that was judged, so it was not done"
        finding = Finding(Kind.ERROR, UNJUDGED, None, Decision.BLOCK, reason)
        return Verdict(call, Decision.BLOCK, (finding,))

    def _late(self, call: ToolCall, verdict: Verdict) -> Ticket:
        """Tells of a verdict that was given when the call was about to run."""
        ticket = self._ticket(verdict)
        if ticket.allowed:
            self._pend(*self.state.pending, call)
        filtered = Filtered(
            reply=Reply(calls=(call,)),
            execute=(call,) if verdict.allowed else (),
            verdicts=(verdict,),
            returns=(),
            rejections=self.state.rejections,
        )
        self._tell(filtered.reply, filtered)
        return ticket

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
                self.state = self.state._replace(raced=tuple(ticket.beside))
                self._answered(ticket.call, plain(content), error=error, lost=lost)
            elif ticket in self._tickets.lost and not lost:
                self._tickets.lost.remove(ticket)
                late = ToolReturn(call_id=ticket.call.id, content=plain(content), error=error)
                self._observe(late)
            self._tickets.withdraw(ticket)

    def interrupted(self, ticket: Ticket) -> None:
        """Notes that the answer of a ticket will not come, whatever its call did."""
        with self._lock:
            if self._tickets.end(ticket):
                self._tickets.lost.append(ticket)
                self._interrupted(ticket.call)
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
            self._pend()

    def _interrupted(self, call: ToolCall, *, new: bool = True) -> None:
        if self._writes(call):
            self._answered(call, None, lost=True, new=new)
        else:
            self._pend(*(c for c in self.state.pending if c is not call))

    def _answered(
        self,
        call: ToolCall,
        content: Json,
        *,
        error: bool = False,
        lost: bool = False,
        new: bool = True,
    ) -> None:
        """Takes in an answer to this very call: where verdicts change nothing, ids may repeat."""
        rest = [c for c in self.state.pending if c is not call]
        if len(rest) < len(self.state.pending):
            self._pend(call, *rest)
        message = ToolReturn(call_id=call.id, content=content, error=error, lost=lost)
        self._observe(message, new=new)

    def _observe(self, message: Message, *, new: bool = True) -> None:
        before = self.state
        self.state = before.observe(message, self.domain)
        if isinstance(message, ToolReturn) and new:
            warn_of(before, message, self.state)
        if new:
            self._telling.note(message, before, self.state)


def _refused(message: Message) -> bool:
    """True for an answer of ours to a call that was rejected, which is no execution."""
    return isinstance(message, ToolReturn) and str(message.content).startswith(NOT_EXECUTED)


Watch: TypeAlias = Callable[[Conversation, Filtered], None]
"""Is told every judged reply."""
