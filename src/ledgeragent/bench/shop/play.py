"""One conversation of the benchmark: a customer by script, a model, a shop of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ledgeragent.agent import Model
from ledgeragent.bench.running.endpoint import wire
from ledgeragent.bench.shop.customer import ScriptedCustomer
from ledgeragent.bench.shop.tasks import Task, wanted
from ledgeragent.demo.shop.shop import Shop, ShopChange, changes
from ledgeragent.gate import Filtered, Gate
from ledgeragent.session.presenter import Presenter, RenderMode
from ledgeragent.state import State
from ledgeragent.types import Json, Message, Reply, ToolReturn, UserMessage
from ledgeragent.verdict import Decision

PLAIN, GUARDED = "fc", "ledgeragent"
ARMS = (PLAIN, GUARDED)
_MOST_REVISIONS = 2

ENDED, TOO_LONG, SILENT = "customer", "too long", "no reply"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShopEpisode:
    """A conversation as it went. `wrong` is where the database differs from what it should be.

    `messages` hold what the gate refused too, each call with its answer, as no model saw it.
    """

    task: Task
    arm: str
    messages: tuple[Message, ...]
    ended: str
    wrong: tuple[ShopChange, ...]
    generations: int
    rejected: int

    @property
    def reward(self) -> float:
        """1 if the customer was done and the database is right, else 0."""
        return 1.0 if self.ended == ENDED and not self.wrong else 0.0

    def as_json(self, id: str, trial: int, usage: Mapping[str, Json]) -> Json:
        """The conversation in the form of recorded runs, so that every reader of those takes it."""
        return {
            "id": id,
            "benchmark": "shop",
            "domain": "shop",
            "task_id": self.task.id,
            "trial": trial,
            "arm": self.arm,
            "kind": self.task.kind,
            "reward": self.reward,
            "ended": self.ended,
            "wrong": [list(change) for change in self.wrong],
            "generations": self.generations,
            "rejected": self.rejected,
            "usage": dict(usage),
            "gold_actions": [
                {"name": call.name, "arguments": dict(call.arguments)} for call in self.task.gold
            ],
            "messages": list(_recorded(self.messages)),
        }


def _recorded(messages: tuple[Message, ...]) -> Iterator[dict[str, Json]]:
    """The messages as they are kept: a failure is marked, which chat APIs have no place for."""
    for message, row in zip(messages, wire(messages), strict=True):
        is_failure = isinstance(message, ToolReturn) and message.failed
        yield {**row, "error": True} if is_failure else row


@dataclass(slots=True)
class Talk:
    """A conversation under way. Without a gate every call runs and the history is shown as it is.

    `messages` are the record; what the model is shown of them is the presenter's.
    """

    gate: Gate | None
    presenter: Presenter
    state: State = field(default_factory=State)
    messages: list[Message] = field(default_factory=list)
    feedback: str = ""
    generations: int = 0
    rejected: int = 0
    _on_record: Reply | None = None

    def saw(self, message: Message) -> None:
        """Takes in a message."""
        if message is not self._on_record:
            self.messages.append(message)
        if self.gate is not None:
            self.state = self.state.observe(message, self.gate.domain)
            self.presenter.saw(message, self.state)

    def reply(self, model: Model) -> Reply:
        """The agent's next message: calls that may run, or words for the customer."""
        for _ in range(_MOST_REVISIONS + 1):
            self.generations += 1
            if self.gate is None:
                return model.generate(self.messages, "", "")
            context = self.presenter.tail(self.state.ledger)
            reply = model.generate(self.presenter.messages, context, self.feedback)
            self.state, filtered = self.state.filter(reply, self.gate, "drop")
            self.feedback = filtered.feedback
            self._record_refusals(reply, filtered)
            if filtered.decision is Decision.BLOCK and not filtered.execute:
                break
            if filtered.reply.calls or filtered.reply.text:
                return filtered.reply
        return Reply(text=filtered.refusal if self.feedback else "")

    def _record_refusals(self, reply: Reply, filtered: Filtered) -> None:
        """Puts a reply of which something was refused on record as it was made, with the answers."""
        refused = [verdict for verdict in filtered.verdicts if not verdict.allowed]
        if refused:
            self.rejected += len(refused)
            self._on_record = filtered.reply
            self.messages.append(reply)
            self.messages += [
                ToolReturn(call_id=verdict.call.id, content=verdict.feedback, error=True)
                for verdict in refused
            ]


def play(
    task: Task, model: Model, gate: Gate | None, *, mode: RenderMode = "full", most: int = 40
) -> ShopEpisode:
    """The conversation, at most `most` messages of the agent long; with a gate, through LedgerAgent."""
    talk = Talk(gate, Presenter(mode=mode))
    customer = ScriptedCustomer(task)
    with Shop() as shop:
        talk.saw(UserMessage(text=task.opens))
        ended = _converse(talk, customer, model, shop, most)
        return ShopEpisode(
            task=task,
            arm=PLAIN if gate is None else GUARDED,
            messages=tuple(talk.messages),
            ended=ended,
            wrong=changes(wanted(task), shop.snapshot()),
            generations=talk.generations,
            rejected=talk.rejected,
        )


def _converse(talk: Talk, customer: ScriptedCustomer, model: Model, shop: Shop, most: int) -> str:
    """Until the customer is done; what the agent says beside a call is not for the customer."""
    for _ in range(most):
        reply = talk.reply(model)
        if not reply.calls and not reply.text.strip():
            return SILENT
        if reply.calls:
            _run(talk, reply, shop)
            continue
        talk.saw(reply)
        answer = customer.answer(reply.text)
        if answer is None:
            return ENDED
        talk.saw(UserMessage(text=answer))
    return TOO_LONG


def _run(talk: Talk, reply: Reply, shop: Shop) -> None:
    """Runs the calls of a reply, one after the other."""
    talk.saw(reply)
    for call in reply.calls:
        talk.saw(shop.execute(call))
