"""A conversation that a host runs call by call: each reply judged once, each call answered once."""

from __future__ import annotations

import dataclasses
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from ledgeragent.effects import Effect
from ledgeragent.gate import Filtered, Gate
from ledgeragent.journal.threads import Thread
from ledgeragent.ledger import Ledger
from ledgeragent.session import Session
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Decision, Finding, Kind, Verdict

UNJUDGED = "adapter/unjudged"
NOT_EXECUTED = "Error: this call was not executed"


def plain(value: object) -> Json:
    """A tool's answer as JSON: text stays text, models and dataclasses become objects."""
    if isinstance(value, str):
        return value
    try:
        return json.loads(json.dumps(value, default=_simpler))
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _simpler(value: object) -> object:
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    return str(value)


def refusal(verdict: Verdict) -> str:
    """The answer to a rejected call. It begins with `Error`, so that a history read again is right."""
    return f"{NOT_EXECUTED}. {verdict.feedback}"


@dataclass(slots=True, eq=False)
class Ticket:
    """One judged call on its way to being answered; in `shadow` whatever the verdict is."""

    call: ToolCall
    verdict: Verdict
    shadow: bool = False

    @property
    def allowed(self) -> bool:
        """True if the call may execute."""
        return self.shadow or self.verdict.allowed


class Conversation:
    """One conversation: a session that tool threads may share, and the open calls of its last reply.

    `judge` takes the whole reply on one snapshot; `take` hands out the verdict on one call of it;
    `observe` takes in what the call answered. A call that was taken and never observed was
    interrupted: it may have changed the world, so what it touches counts as unknown.
    """

    def __init__(self, gate: Gate, telling: Thread, watch: Watch | None = None) -> None:
        self.session = Session(gate)
        self.used: set[str] = set()
        self._telling = telling
        self._watch = watch
        self._lock = threading.RLock()
        self._open: list[Ticket] = []
        self._running: list[Ticket] = []
        self._snapshot = self.session.ledger
        self._notes = ""

    @property
    def ledger(self) -> Ledger:
        """The latest observed state."""
        return self.session.ledger

    @property
    def shadow(self) -> bool:
        """True if verdicts are recorded and change nothing."""
        return self._telling.shadow

    @property
    def name(self) -> str:
        """The conversation's name in the journal."""
        return self._telling.name

    def heard(self, text: str = "") -> None:
        """Notes a message of the user."""
        with self._lock:
            self._settle()
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
            self.used.update(call.id for call in reply.calls)
            self._judge(reply, again=again)

    def _replay(self, history: Sequence[Message], told: int) -> None:
        for number, message in enumerate(history):
            self._again(message, new=number >= told)

    def _again(self, message: Message, *, new: bool) -> None:
        if not isinstance(message, ToolReturn):
            for call in self.session.state.pending:
                self._interrupted(call, new=new)
        if isinstance(message, Reply):
            self.used.update(call.id for call in message.calls)
            self.session.filter(message)  # For the loop guard.
        # What a history shows as executed was executed, whatever the gate would say of it now.
        self._observe(message, new=new and not _refused(message))

    def context(self) -> str:
        """The ledger block for the tail of the prompt, with warnings on calls that were allowed."""
        with self._lock:
            block = self.session.context()
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
        """The verdicts on a reply, all on the ledger as it is now; its calls are open from here on."""
        with self._lock:
            self._settle()
            return self._judge(reply)

    def judge_also(self, call: ToolCall) -> Filtered:
        """The verdict on one more call, for hosts that show calls singly; others keep running."""
        with self._lock:
            before, opened = self.session.state.pending, self._open
            filtered = self._judge(Reply(calls=(call,)))
            self._pend(*before, *self.session.state.pending)
            self._open = [*opened, *self._open]
            return filtered

    def _judge(self, reply: Reply, *, again: bool = False) -> Filtered:
        self._snapshot = self.session.ledger
        filtered = self.session.filter(reply)
        if self.shadow:
            self._pend(*reply.calls)
        self._open = [Ticket(v.call, v, self.shadow) for v in filtered.verdicts]
        warned = (v for v in filtered.verdicts if v.allowed and v.feedback)
        self._notes = "\n".join(f"Note on {v.call.name}: {v.feedback}" for v in warned)
        self._tell(reply, filtered, again=again)
        return filtered

    def _tell(self, reply: Reply, filtered: Filtered, *, again: bool = False) -> None:
        self._telling.judged(reply, filtered, again=again)
        if self._watch is not None:
            self._watch(self, filtered)

    def _pend(self, *calls: ToolCall) -> None:
        self.session.state = self.session.state._replace(pending=calls)

    def take(self, call: ToolCall) -> Ticket:
        """The verdict on a call that is about to run. A call changed since is judged as it is now."""
        with self._lock:
            ticket = self._find(call) or self._late(call, self._unjudged(call))
            if ticket in self._open:
                self._open.remove(ticket)
            if ticket.allowed:
                self._running.append(ticket)
            return ticket

    def _find(self, call: ToolCall) -> Ticket | None:
        named = [t for t in self._open if t.call.id == call.id and t.call.name == call.name]
        for ticket in named:
            if ticket.call.malformed is not None or ticket.call.intent == call.intent:
                return ticket
        return self._changed(named[0], call) if named else None

    def _changed(self, ticket: Ticket, call: ToolCall) -> Ticket:
        """The verdict on a call whose arguments somebody edited after the reply was judged."""
        self._open.remove(ticket)
        self._pend(*(c for c in self.session.state.pending if c is not ticket.call))
        return self._late(call, self.session.gate.judge(call, self._snapshot))

    def _unjudged(self, call: ToolCall) -> Verdict:
        """The verdict on a call that no reply held: it does not run, unless verdicts change nothing."""
        if self.shadow:
            return self.session.gate.judge(call, self.session.ledger)
        reason = "this call was not part of the reply that was judged, so it was not done"
        finding = Finding(Kind.ERROR, UNJUDGED, None, Decision.BLOCK, reason)
        return Verdict(call, Decision.BLOCK, (finding,))

    def _late(self, call: ToolCall, verdict: Verdict) -> Ticket:
        """Tells of a verdict that was given when the call was about to run."""
        ticket = Ticket(call, verdict, self.shadow)
        reply, state = Reply(calls=(call,)), self.session.state
        if ticket.allowed:
            self._pend(*state.pending, call)
        filtered = Filtered(
            reply=reply,
            execute=(call,) if verdict.allowed else (),
            verdicts=(verdict,),
            returns=(),
            rejections=state.rejections,
        )
        self._tell(reply, filtered)
        return ticket

    def observe(self, ticket: Ticket, content: object, *, error: bool = False) -> None:
        """Takes in what the call of a ticket answered."""
        with self._lock:
            if ticket in self._running:
                self._running.remove(ticket)
                self._answered(ticket.call, plain(content), error=error)

    def interrupted(self, ticket: Ticket) -> None:
        """Notes that the answer of a ticket will not come, whatever its call did."""
        with self._lock:
            if ticket in self._running:
                self._running.remove(ticket)
                self._interrupted(ticket.call)

    def reopen(self, ticket: Ticket) -> None:
        """Puts a ticket back: its call has not run yet and will be asked for again."""
        with self._lock:
            self._running.remove(ticket)
            self._open.append(ticket)

    def _settle(self) -> None:
        """Takes what was begun and never observed for something that may have happened."""
        for ticket in self._running:
            self._interrupted(ticket.call)
        self._running, self._open = [], []

    def _interrupted(self, call: ToolCall, *, new: bool = True) -> None:
        if self.session.gate.domain.effect(call.name) is Effect.WRITE:
            self._answered(call, None, new=new)

    def _answered(
        self, call: ToolCall, content: Json, *, error: bool = False, new: bool = True
    ) -> None:
        """Takes in an answer to this very call: where verdicts change nothing, ids may repeat."""
        rest = [c for c in self.session.state.pending if c is not call]
        if len(rest) < len(self.session.state.pending):
            self._pend(call, *rest)
        self._observe(ToolReturn(call_id=call.id, content=content, error=error), new=new)

    def _observe(self, message: Message, *, new: bool = True) -> None:
        before = self.session.state
        self.session.state = before.observe(message, self.session.gate.domain)
        if new:
            self._telling.note(message, before, self.session.state)


def _refused(message: Message) -> bool:
    """True for an answer of ours to a call that was rejected, which is no execution."""
    return isinstance(message, ToolReturn) and str(message.content).startswith(NOT_EXECUTED)


Watch: TypeAlias = Callable[[Conversation, Filtered], None]
"""Is told every judged reply."""
