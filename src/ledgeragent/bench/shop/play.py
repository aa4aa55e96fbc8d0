"""One conversation of the benchmark: a customer by script, a model, a shop of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ledgeragent.agent import LedgerAgent, Model
from ledgeragent.bench.running.endpoint import wire
from ledgeragent.bench.shop.customer import ScriptedCustomer
from ledgeragent.bench.shop.tasks import Task, wanted
from ledgeragent.demo.shop.shop import Shop, ShopChange, changes
from ledgeragent.gate import Filtered, Gate
from ledgeragent.journal.verdicts import verdict_row
from ledgeragent.session.presenter import Presenter, RenderMode
from ledgeragent.types import Json, Message, Reply, ToolReturn, UserMessage
from ledgeragent.verdict import Verdict

PLAIN, GUARDED = "fc", "ledgeragent"
ARMS = (PLAIN, GUARDED)

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
    stopped: tuple[Verdict, ...]

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
            "rejected": len(self.stopped),
            "stopped": [verdict_row(verdict) for verdict in self.stopped],
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


class Talk:
    """A conversation under way: every call runs, and the model is shown the history as it is.

    `messages` are the record, `generations` counts how often the model was asked.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.messages: list[Message] = []
        self.generations = 0
        self.stopped: list[Verdict] = []

    def saw(self, message: Message) -> None:
        """Takes in a message of the customer or of a tool."""
        self.messages.append(message)

    def reply(self) -> Reply:
        """The agent's next message: calls that may run, or words for the customer; empty if silent."""
        reply = self.generate(self.messages, "", "")
        if not is_silent(reply):
            self.messages.append(reply)
        return reply

    def generate(self, history: Sequence[Message], context: str, feedback: str) -> Reply:
        """One reply of the model."""
        self.generations += 1
        return self.model.generate(history, context, feedback)


class GuardedTalk(Talk):
    """A conversation through LedgerAgent; what the model is shown of it is the presenter's."""

    def __init__(self, model: Model, gate: Gate, mode: RenderMode) -> None:
        super().__init__(model)
        self._presenter = presenter = Presenter(mode=mode)
        self._agent = LedgerAgent(
            gate=gate,
            model=self,
            show=lambda state: presenter.tail(state.ledger),
            watch=self._record_refusals,
        )

    def saw(self, message: Message) -> None:
        """Takes in a message of the customer or of a tool."""
        super().saw(message)
        self._agent.observe(message)
        self._presenter.saw(message, self._agent.state)

    def reply(self) -> Reply:
        """The agent's next message: calls that may run, or words for the customer; empty if silent."""
        agent = self._agent
        reply, last = agent.step(), agent.verdicts[-1]
        if reply is not last.reply and not last.feedback:
            return Reply()  # it said nothing in the end, so that there is nothing to refuse either
        if reply is not last.reply or all(verdict.allowed for verdict in last.verdicts):
            self.messages.append(reply)
        self._presenter.saw(reply, agent.state)
        return reply

    def generate(self, history: Sequence[Message], context: str, feedback: str) -> Reply:
        """One reply of the model, before the gate has seen it."""
        return super().generate(self._presenter.messages, context, feedback)

    def _record_refusals(self, draft: Reply, filtered: Filtered) -> None:
        """Puts a reply of which something was refused on record as it was made, with the answers."""
        refused = [verdict for verdict in filtered.verdicts if not verdict.allowed]
        if refused:
            self.stopped += refused
            self.messages.append(draft)
            self.messages += [
                ToolReturn(call_id=verdict.call.id, content=verdict.feedback, error=True)
                for verdict in refused
            ]


def is_silent(reply: Reply) -> bool:
    """True if there is nothing to run and nothing to say."""
    return not reply.calls and not reply.text.strip()


def play(
    task: Task, model: Model, gate: Gate | None, *, mode: RenderMode = "full", most: int = 40
) -> ShopEpisode:
    """The conversation, at most `most` messages of the agent long; with a gate, through LedgerAgent."""
    talk = Talk(model) if gate is None else GuardedTalk(model, gate, mode)
    customer = ScriptedCustomer(task)
    with Shop() as shop:
        talk.saw(UserMessage(text=task.opens))
        ended = _converse(talk, customer, shop, most)
        return ShopEpisode(
            task=task,
            arm=PLAIN if gate is None else GUARDED,
            messages=tuple(talk.messages),
            ended=ended,
            wrong=changes(wanted(task), shop.snapshot()),
            generations=talk.generations,
            stopped=tuple(talk.stopped),
        )


def _converse(talk: Talk, customer: ScriptedCustomer, shop: Shop, most: int) -> str:
    """Until the customer is done; what the agent says beside a call is not for the customer."""
    for _ in range(most):
        reply = talk.reply()
        if is_silent(reply):
            return SILENT
        for call in reply.calls:
            talk.saw(shop.execute(call))
        if reply.calls:
            continue
        answer = customer.answer(reply.text)
        if answer is None:
            return ENDED
        talk.saw(UserMessage(text=answer))
    return TOO_LONG
