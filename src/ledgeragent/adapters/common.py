"""What every adapter needs: a guarded conversation whose reply is judged once and answered call by call."""

from __future__ import annotations

import dataclasses
import json
import re
import threading
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TypeAlias

from ledgeragent.domain import Domain
from ledgeragent.effects import Effect
from ledgeragent.errors import MissingExtraError, UsageError
from ledgeragent.gate import Filtered, Gate
from ledgeragent.ledger import Ledger
from ledgeragent.packs import load_domain
from ledgeragent.session import Session
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Decision, Finding, Kind, Verdict

Policy: TypeAlias = Gate | Domain | str
"""A gate of your own making, a domain, or the name of a shipped pack."""

UNJUDGED = "adapter/unjudged"
_NUMBER = re.compile(r"\d+")


class UnguardableError(UsageError):
    """A framework is set up in a way that lets calls run without the gate; says which and what to do."""


def require(library: str, minimum: str, extra: str) -> None:
    """Nothing if `library` is installed in version `minimum` or newer; else MissingExtraError."""
    try:
        found = version(library)
    except PackageNotFoundError:
        raise MissingExtraError(library, extra) from None
    if _numbers(found) < _numbers(minimum):
        raise MissingExtraError(f"{library} {minimum} or newer (found {found})", extra)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in _NUMBER.findall(text)[:3])


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


def as_text(value: object) -> str:
    """A tool's answer as the text that a chat API carries."""
    content = plain(value)
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


def failure(error: Exception) -> str:
    """What the model is told of a tool that raised."""
    return (
        f"Error: {type(error).__name__}: {error}"
        if str(error)
        else f"Error: {type(error).__name__}"
    )


def refusal(verdict: Verdict) -> str:
    """The answer to a rejected call. It begins with `Error`, so that a history read again is right."""
    return f"Error: this call was not executed. {verdict.feedback}"


@dataclass(slots=True, eq=False)
class Ticket:
    """One judged call on its way to being answered."""

    call: ToolCall
    verdict: Verdict

    @property
    def allowed(self) -> bool:
        """True if the call may execute."""
        return self.verdict.allowed


class Conversation:
    """One conversation: a session that tool threads may share, and the open calls of its last reply.

    `judge` takes the whole reply on one snapshot; `take` hands out the verdict on one call of it;
    `observe` takes in what the call answered. A call that was taken and never observed was
    interrupted: it may have changed the world, so what it touches counts as unknown.
    """

    def __init__(self, gate: Gate, watch: Watch | None = None) -> None:
        self.session = Session(gate)
        self.used: set[str] = set()
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

    def heard(self, text: str = "") -> None:
        """Notes a message of the user."""
        with self._lock:
            self._settle()
            self.session.heard(text)

    def replay(self, messages: Iterable[Message]) -> None:
        """Takes in a history: its reads, its writes, its rejections."""
        with self._lock:
            for message in messages:
                self._again(message)

    def _again(self, message: Message) -> None:
        if isinstance(message, ToolReturn):
            self.session.observe(message)
            return
        for call in self.session.state.pending:
            self._interrupted(call)
        if isinstance(message, UserMessage):
            self.session.heard(message.text)
            return
        self.used.update(call.id for call in message.calls)
        self.session.filter(message)
        # What a history shows as executed was executed, whatever the gate would say of it now.
        self.session.state = self.session.state.observe(message, self.session.gate.domain)

    def context(self) -> str:
        """The ledger block for the tail of the prompt, with warnings on calls that were allowed."""
        with self._lock:
            block = self.session.context()
            return f"{block}\n{self._notes}" if self._notes else block

    def ids(self, given: Sequence[str | None]) -> list[str]:
        """An id for each call of a reply: its own, or a fresh one where it is empty or taken."""
        with self._lock:
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
            pending = (*before, *self.session.state.pending)
            self.session.state = dataclasses.replace(self.session.state, pending=pending)
            self._open = [*opened, *self._open]
            return filtered

    def _judge(self, reply: Reply) -> Filtered:
        self._snapshot = self.session.ledger
        filtered = self.session.filter(reply)
        self._open = [Ticket(v.call, v) for v in filtered.verdicts]
        warned = (v for v in filtered.verdicts if v.allowed and v.feedback)
        self._notes = "\n".join(f"Note on {v.call.name}: {v.feedback}" for v in warned)
        if self._watch is not None:
            self._watch(self, filtered)
        return filtered

    def take(self, call: ToolCall) -> Ticket:
        """The verdict on a call that is about to run. A call changed since is judged as it is now."""
        with self._lock:
            ticket = self._find(call) or Ticket(call, _unjudged(call))
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
        verdict = self.session.gate.judge(call, self._snapshot)
        state = self.session.state
        pending = tuple(c for c in state.pending if c is not ticket.call)
        if verdict.allowed:
            pending = (*pending, call)
        self.session.state = dataclasses.replace(state, pending=pending)
        self._open.remove(ticket)
        return Ticket(call, verdict)

    def observe(self, ticket: Ticket, content: object, *, error: bool = False) -> None:
        """Takes in what the call of a ticket answered."""
        with self._lock:
            if ticket in self._running:
                self._running.remove(ticket)
                self._absorb(
                    ToolReturn(call_id=ticket.call.id, content=plain(content), error=error)
                )

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

    def _interrupted(self, call: ToolCall) -> None:
        if self.session.gate.domain.effect(call.name) is Effect.WRITE:
            self._absorb(ToolReturn(call_id=call.id, content=None))

    def _absorb(self, returned: ToolReturn) -> None:
        self.session.observe(returned)


Watch: TypeAlias = Callable[[Conversation, Filtered], None]
"""Is told every judged reply."""


def _unjudged(call: ToolCall) -> Verdict:
    reason = "this call was not part of the reply that was judged, so it was not done"
    finding = Finding(Kind.ERROR, UNJUDGED, None, Decision.BLOCK, reason)
    return Verdict(call, Decision.BLOCK, (finding,))


@dataclass(slots=True)
class Guard:
    """Opens conversations under one policy. It holds no conversation itself, so agents may share it."""

    policy: Policy
    watch: Watch | None = None
    _bound: dict[frozenset[str] | None, Gate] = field(default_factory=dict, repr=False)

    def open(
        self, tools: Collection[str] | None = None, history: Iterable[Message] = ()
    ) -> Conversation:
        """A new conversation for an agent with these tools, after `history`."""
        conversation = Conversation(self.gate(tools), self.watch)
        conversation.replay(history)
        return conversation

    def gate(self, tools: Collection[str] | None = None) -> Gate:
        """The policy's gate for an agent with these tools: no rule asks for a read outside them."""
        names = frozenset(tools) if tools is not None else None
        if names not in self._bound:
            self._bound[names] = _gate(self.policy, names)
        return self._bound[names]


def _gate(policy: Policy, tools: frozenset[str] | None) -> Gate:
    if isinstance(policy, str):
        policy = load_domain(policy)
    gate = policy if isinstance(policy, Gate) else Gate(domain=policy)
    if tools is None or gate.domain.available is not None:
        return gate
    return dataclasses.replace(gate, domain=gate.domain.bind(tools))


def refuse(what: str, instead: str) -> UnguardableError:
    """The error for something that would run behind the gate's back."""
    return UnguardableError(f"{what} can't be guarded here; {instead}")


Run: TypeAlias = Callable[[ToolCall], object]
"""Executes a call and returns its answer; raising is answered with an error."""

AsyncRun: TypeAlias = Callable[[ToolCall], Awaitable[object]]

_CUT = "Error: this call was interrupted; it is not known what it did."
_NOT_BEGUN = "Error: this call was not executed, because the turn was interrupted."


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What one call of a reply is answered with."""

    call: ToolCall
    content: str
    error: bool = False


def execute(
    conversation: Conversation, calls: Sequence[ToolCall], run: Run, answers: list[Answer]
) -> None:
    """Runs the allowed calls of a judged reply; every call gets an answer, however this ends."""
    try:
        for call in calls:
            ticket = conversation.take(call)
            answers.append(_executed(conversation, ticket, run))
    finally:
        _complete(calls, answers)


async def aexecute(
    conversation: Conversation, calls: Sequence[ToolCall], run: AsyncRun, answers: list[Answer]
) -> None:
    """The same with an asynchronous `run`."""
    try:
        for call in calls:
            ticket = conversation.take(call)
            answers.append(await _aexecuted(conversation, ticket, run))
    finally:
        _complete(calls, answers)


def _executed(conversation: Conversation, ticket: Ticket, run: Run) -> Answer:
    if not ticket.allowed:
        return _rejected(ticket)
    try:
        content = run(ticket.call)
    except Exception as error:
        return _answered(conversation, ticket, failure(error), error=True)
    return _answered(conversation, ticket, content)


async def _aexecuted(conversation: Conversation, ticket: Ticket, run: AsyncRun) -> Answer:
    if not ticket.allowed:
        return _rejected(ticket)
    try:
        content = await run(ticket.call)
    except Exception as error:
        return _answered(conversation, ticket, failure(error), error=True)
    return _answered(conversation, ticket, content)


def _rejected(ticket: Ticket) -> Answer:
    return Answer(call=ticket.call, content=refusal(ticket.verdict), error=True)


def _answered(
    conversation: Conversation, ticket: Ticket, content: object, *, error: bool = False
) -> Answer:
    conversation.observe(ticket, content, error=error)
    text = as_text(content)
    return Answer(call=ticket.call, content=text, error=error or text.startswith("Error"))


def _complete(calls: Sequence[ToolCall], answers: list[Answer]) -> None:
    for position, call in enumerate(calls[len(answers) :]):
        answers.append(Answer(call=call, content=_NOT_BEGUN if position else _CUT, error=True))
