"""Scene: one scripted conversation, seen by the model, the tools, the judge and the transcript."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ledgeragent.demo.shop.shop import Shop
from ledgeragent.gate import Filtered
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from ledgeragent.verdict import Decision

PATIENCE = 30.0
"""Seconds after which a scene that waits for another is taken for stuck."""


Form = Literal["json", "python", "wrapped", "nested"]

FORMS: dict[Form, Callable[[str], str]] = {
    "json": lambda answer: answer,
    "python": lambda answer: answer if answer.startswith("Error") else str(json.loads(answer)),
    "wrapped": lambda answer: json.dumps({"result": answer}),
    "nested": lambda answer: json.dumps(answer),
}
"""How frameworks write down what a tool returned: as it is, by `str`, in a wrapper, as JSON text again."""


PREFIXES = ("", "mcp__shop__", "shop-", "shop_")
"""What may stand before the names of the shop's tools on the wire."""

CONTROLS = {"final_result": ("text",), "transfer_to_billing": ()}
"""Tools of no pack that frameworks add for their own affairs, with their arguments."""


@dataclass(frozen=True, slots=True)
class Step:
    """One reply of the scripted model: its calls with the verdicts they must get, or words."""

    calls: tuple[tuple[ToolCall, Decision], ...] = ()
    text: str = ""

    @property
    def reply(self) -> Reply:
        """The reply as a model gives it."""
        return Reply(text=self.text, calls=tuple(call for call, _ in self.calls))


@dataclass(frozen=True, slots=True)
class Turn:
    """What the customer says, and the replies until the model speaks to them again."""

    says: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """A conversation and what must come of it. `needs` names what a way in must be able to express.

    `ledger` are paths that must have been observed in the end, `told` words that the answers to
    rejected calls must contain. `waits` if it is one for ways in that hold the execution of calls, and
    let one wait for another (True), or for those that can only send it back (False). `loses` is a tool
    whose first answer gets lost, `fails` one whose first attempt fails before it does anything;
    `tells` if the model hears of that, and not only what repeats it. `drops` if the model's first
    answer never comes. `form` is
    how tools write down what they answer, `prefix` what stands before their names on the wire.
    """

    name: str
    turns: tuple[Turn, ...]
    needs: frozenset[str] = frozenset()
    ledger: tuple[str, ...] = ()
    told: tuple[str, ...] = ()
    waits: bool | None = None
    loses: str = ""
    fails: str = ""
    tells: bool = False
    drops: bool = False
    form: Form = "json"
    prefix: str = ""

    @property
    def verdicts(self) -> list[list[tuple[str, str]]]:
        """For each reply with calls: tool and decision of each."""
        steps = [step for turn in self.turns for step in turn.steps if step.calls]
        return [[(call.name, decision.name) for call, decision in step.calls] for step in steps]

    @property
    def allowed(self) -> list[str]:
        """The calls that must have been executed, each once."""
        return sorted(self._called(allowed=True))

    @property
    def ran(self) -> list[str]:
        """The calls that the tools did, each as often as it must have been done."""
        calls = list(self.allowed)
        if self.tells:
            calls.remove(next(call for call in calls if call.startswith(f"{self.fails}(")))
        return calls

    @property
    def forbidden(self) -> set[str]:
        """The calls that must never have been executed in this form."""
        return set(self._called(allowed=False)) - set(self.allowed)

    def _called(self, *, allowed: bool) -> Iterable[str]:
        for turn in self.turns:
            for step in turn.steps:
                for call, decision in step.calls:
                    if (decision is Decision.ALLOW) is allowed:
                        yield str(call)


class InvalidTranscript(AssertionError):
    """Messages that a provider would refuse."""


def check_valid(messages: Sequence[Message]) -> None:
    """InvalidTranscript unless every call has exactly one answer, before anything else is said."""
    unanswered: list[str] = []
    for position, message in enumerate(messages):
        match message:
            case ToolReturn():
                if message.call_id not in unanswered:
                    raise InvalidTranscript(f"{position}: {message.call_id!r} answers no open call")
                unanswered.remove(message.call_id)
            case UserMessage() if unanswered:
                raise InvalidTranscript(f"{position}: {unanswered} were never answered")
            case Reply():
                if unanswered:
                    raise InvalidTranscript(f"{position}: {unanswered} were never answered")
                if not message.text and not message.calls:
                    raise InvalidTranscript(f"{position}: an empty reply")
                unanswered = [call.id for call in message.calls]
                if len(set(unanswered)) < len(unanswered) or "" in unanswered:
                    raise InvalidTranscript(f"{position}: ids that are not distinct: {unanswered}")
    if unanswered:
        raise InvalidTranscript(f"{unanswered} were never answered")


@dataclass(eq=False)
class Scene:
    """A situation being played. Everything that a driver's model, tools and judge do goes through it.

    `feedback` are answers to rejected calls that the client's own transcript does not hold. In
    `shadow` verdicts change nothing, and no prompt has a ledger block.
    """

    situation: Situation
    key: str = "scene"
    barrier: threading.Barrier | None = None
    hang: str | None = None
    shadow: bool = False
    executed: list[str] = field(default_factory=list)
    noted: list[list[tuple[str, str]]] = field(default_factory=list)
    tails: list[str] = field(default_factory=list)
    prompts: list[tuple[Message, ...]] = field(default_factory=list)
    transcript: list[Message] = field(default_factory=list)
    feedback: list[str] = field(default_factory=list)
    ledger: Any = None

    def __post_init__(self) -> None:
        steps = [step for turn in self.situation.turns for step in turn.steps]
        self._replies = deque(self._on_the_wire(step.reply) for step in steps)
        # A database of SQLite belongs to one thread; frameworks call tools from several.
        self._counter = ThreadPoolExecutor(1)
        self._shop = self._counter.submit(Shop).result()
        self.hanging = asyncio.Event()
        self._loses = self.situation.loses
        self._fails = self.situation.fails
        self._drops = self.situation.drops
        self._judged: list[dict[str, tuple[str, str]]] = []

    def _on_the_wire(self, reply: Reply) -> Reply:
        prefix = self.situation.prefix
        calls = tuple(replace(call, name=f"{prefix}{call.name}") for call in reply.calls)
        return replace(reply, calls=calls) if prefix else reply

    def next(self, messages: Sequence[Message], tail: str) -> Reply:
        """The scripted model: checks what it is shown, and gives its next reply."""
        check_valid(messages)
        self.prompts.append(tuple(messages))
        self.tails.append(tail)
        return self.reply()

    def reply(self) -> Reply:
        """The next reply, once every scene that is played at the same time has come as far."""
        if self._drops:
            self._drops = False
            raise ConnectionError("connection reset")
        if self.barrier is not None:
            self.barrier.wait(PATIENCE)
        return self._replies.popleft()

    async def aexecute(self, call: ToolCall) -> str:
        """The tool's answer; a tool that is told to hang never gives one."""
        if call.name == self.hang:
            self.hanging.set()
            await asyncio.sleep(PATIENCE)
        return self.execute(call)

    def execute(self, call: ToolCall) -> str:
        """The tool's answer. Raises where its first attempt is to fail."""
        call = replace(call, name=call.name.removeprefix(self.situation.prefix))
        if call.name == self._fails:
            self._fails = ""
            raise ConnectionError("connection reset")
        self.executed.append(str(call))
        if call.name in CONTROLS:
            return "Done."
        answer = str(self._counter.submit(self._shop.execute, call).result().content)
        if call.name == self._loses:
            self._loses = ""
            return "Error: 504 Gateway Timeout"
        return FORMS[self.situation.form](answer)

    def close(self) -> None:
        """Closes the shop."""
        self._counter.submit(self._shop.close).result()
        self._counter.shutdown()

    def watch(self, conversation: Any, filtered: Filtered) -> None:
        """Notes the verdicts on a reply; what is judged again, after a wait, in the place it had."""
        told = {str(v.call.id): (v.call.name, v.decision.name) for v in filtered.verdicts}
        if told and self._judged and told.keys() < self._judged[-1].keys():
            self._judged[-1].update(told)
        else:
            self._judged.append(told)
        self.noted = [list(judged.values()) for judged in self._judged]
        self.ledger = conversation

    @property
    def answers(self) -> list[str]:
        """What calls were answered with, whether they were executed or rejected."""
        returns = (m for m in self.transcript if isinstance(m, ToolReturn))
        return [*(str(message.content) for message in returns), *self.feedback]

    @property
    def verdicts(self) -> list[list[tuple[str, str]]]:
        """For each judged reply with calls: tool and decision of each."""
        return [verdicts for verdicts in self.noted if verdicts]


CURRENT: ContextVar[Scene] = ContextVar("scene")
"""The scene that this task plays: one agent object serves many scenes."""


def watch(conversation: Any, filtered: Filtered) -> None:
    """Tells the current scene of a judged reply."""
    CURRENT.get().watch(conversation, filtered)
