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
from ledgeragent.session.docket import Docket
from ledgeragent.session.history import HistoryReader
from ledgeragent.session.ids import CallIds
from ledgeragent.session.live import LiveState
from ledgeragent.session.meaning import Meaning
from ledgeragent.session.outcome import broke_on_the_way, failure, plain
from ledgeragent.session.ticket import Ticket, refusal
from ledgeragent.session.tickets import Tickets
from ledgeragent.session.wakeups import sleep
from ledgeragent.session.wirenames import WireNames
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

PATIENCE = 5.0
"""Seconds that a call waits, while nothing else happens, for one that its host has not begun."""

ENDURANCE = 600.0
"""Seconds that a call waits for one that runs: a tool that calls itself, or hangs, never ends."""


class Conversation:
    """One conversation: a state that tool threads may share, and the open calls of its last reply.

    `judge` takes the whole reply as a plan; `take` hands out the ticket of one call of it, once its
    verdict stands; `observe` takes in what the call answered. A call that was taken and never
    observed was interrupted: it may have changed the world, so what it touches counts as unknown.
    Its host may have other `names` for tools: calls come under these, and tickets have the gate's.
    """

    def __init__(self, gate: Gate, thread: Thread, watch: Watch | None = None) -> None:
        self.tools: frozenset[str] = frozenset()
        self.controls: frozenset[str] = frozenset()
        self.names = WireNames()
        self.patience = PATIENCE
        self.endurance = ENDURANCE
        self._thread = thread
        self._watch = watch
        self._live = LiveState(gate, thread)
        self._tickets = Tickets(shadow=thread.shadow, writes=self._live.writes)
        self._wakeups = self._tickets.wakeups
        self._lock = self._wakeups.lock
        self._ids = CallIds()
        self._history = HistoryReader(self._live, self._tickets, self._ids)
        self._docket = Docket(self._live, self._tickets, thread, self._tell)

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

    def rebind(self, gate: Gate, names: WireNames | None = None) -> None:
        """Judges by this gate from here on, and by these names: the agent's tools have changed."""
        with self._lock:
            self._live.gate = gate
            self.names = self.names if names is None else names

    def heard(self, text: str = "") -> None:
        """Notes a message of the user."""
        with self._lock:
            self.settle()
            self._live.observe(UserMessage(text=text))

    def replay(self, messages: Iterable[Message]) -> None:
        """Takes in a history: its reads, its writes, its rejections."""
        with self._lock:
            history = self._meaning.messages(messages)
            self._history.read(history, self._thread.again(history))

    def resume(self, messages: Iterable[Message]) -> None:
        """Takes in a history that ends with the reply whose calls are about to run.

        Some of them may have been answered already.
        """
        history = self._meaning.messages(messages)
        last = max(n for n, message in enumerate(history) if isinstance(message, Reply))
        past, reply, answers = history[:last], history[last], history[last + 1 :]
        assert isinstance(reply, Reply)
        with self._thread.sessions.lock, self._lock:
            again = self._thread.open((*past, reply))
            self._history.read(past, len(past) if again else self._thread.again(past))
            self._history.cut(new=True)
            self._ids.use(call.id for call in reply.calls)
            self._docket.judge(reply, again=again)
            for answer in answers:
                if isinstance(answer, ToolReturn):
                    self._answer(reply, answer, new=not again)

    def _answer(self, reply: Reply, answer: ToolReturn, *, new: bool) -> None:
        """Takes in an answer that the history has for a call of its last reply."""
        call = next((call for call in reply.calls if call.id == answer.call_id), None)
        if call is None:
            return
        ticket = self._claim(call)
        if self._tickets.end(ticket, failed=answer.error):
            self._live.answer(call, answer.content, error=answer.error, new=new)
        self._tickets.withdraw(ticket)

    def context(self) -> str:
        """The ledger block for the tail of the prompt, with warnings on calls that were allowed."""
        with self._lock:
            block, notes = render(self.ledger), self._docket.notes
            return self._meaning.spoken(f"{block}\n{notes}" if notes else block)

    def refusal(self, ticket: Ticket) -> str:
        """The answer to a rejected call, which names tools as the host does."""
        return self._meaning.spoken(refusal(ticket.verdict))

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
            return self._docket.judge(self._meaning.reply(reply))

    def judge_also(self, call: ToolCall) -> Filtered:
        """The verdict on one more call, for hosts that show calls singly; others keep running."""
        with self._lock:
            reply = self._meaning.reply(Reply(calls=(call,)))
            return self._docket.judge(reply, running=self._live.state.pending)

    @property
    def _meaning(self) -> Meaning:
        return Meaning(self.names, self.gate.domain)

    def _tell(self, filtered: Filtered) -> None:
        if self._watch is not None:
            self._watch(self, filtered)

    def lets_through(self, call: ToolCall) -> bool:
        """True if a call of the last reply may run, as far as can be told before it begins."""
        call = self._meaning.call(call)
        with self._lock:
            return self.shadow or any(
                ticket.is_of(call) and (ticket.allowed or ticket.pending)
                for ticket in self._tickets.named(call)
            )

    def take(self, call: ToolCall) -> Ticket:
        """The ticket of a call that is about to run, once its verdict stands.

        Waits in this thread. A call changed since its reply was judged is judged as it is now.
        """
        with self._lock:
            ticket, since = self.claim(call), monotonic()
            while seconds := self._delay(ticket, since):
                if self._wakeups.wait(seconds):
                    since = monotonic()
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
                    seconds = self._delay(ticket, since)
                    if not seconds:
                        return ticket
                    woken = self._wakeups.sleeper()
                if await sleep(woken, seconds):
                    since = monotonic()
        except BaseException:
            self.interrupted(ticket)
            raise

    def ready(self, ticket: Ticket) -> bool:
        """True once the verdict of a claimed ticket stands, for hosts that must not wait here."""
        with self._lock:
            return not self._delay(ticket, monotonic())

    def claim(self, call: ToolCall) -> Ticket:
        """The ticket of a call, which may be pending."""
        return self._claim(self._meaning.call(call))

    def _claim(self, call: ToolCall) -> Ticket:
        """The same for a call under the gate's name."""
        with self._lock:
            ticket = self._docket.ticket_of(call)
            self._tickets.claim(ticket)
            return ticket

    def _delay(self, ticket: Ticket, since: float) -> float:
        """Seconds to wait at most before looking again, 0 where the verdict stands."""
        while ticket in self._tickets.waiting:
            is_for_an_end = self._tickets.waits_for_an_end(ticket)
            if is_for_an_end or self._tickets.waits_for_a_beginning(ticket):
                limit = ticket.claimed + self.endurance if is_for_an_end else since + self.patience
                left = limit - monotonic()
                if left > 0:
                    return left
                self._live.remember(self._live.state.rejections.add(ticket.verdict))
                self._tickets.decide(ticket)
            else:
                self._docket.judge_again(ticket)
        return 0

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
            if self._tickets.end(ticket, failed=error):
                self._live.state = self._live.state._replace(raced=tuple(ticket.beside))
                self._live.answer(ticket.call, plain(content), error=error, lost=lost)
            elif ticket in self._tickets.lost and not lost:
                self._tickets.lost.remove(ticket)
                self._live.answer(ticket.call, plain(content), error=error)
            self._tickets.withdraw(ticket)

    def interrupted(self, ticket: Ticket) -> None:
        """Notes that the answer of a ticket will not come, whatever its call did."""
        with self._lock:
            if self._tickets.end(ticket, failed=True):
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
