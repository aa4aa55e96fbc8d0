"""Algorithm 1 of the paper: absorb, render, generate, gate. Nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ledgeragent.gate import Filtered, Gate
from ledgeragent.render import render
from ledgeragent.state import State
from ledgeragent.types import Message, Reply
from ledgeragent.verdict import Decision


class Model(Protocol):
    """The base model. `context` is the ledger block, `feedback` what the gate said last, if it did."""

    def generate(self, history: Sequence[Message], context: str, feedback: str) -> Reply:
        """One reply; both texts belong at the tail of the prompt, after the history."""
        ...


def whole_ledger(state: State) -> str:
    """The ledger as the paper shows it: every record that was read."""
    return render(state.ledger)


@dataclass(slots=True, kw_only=True)
class LedgerAgent:
    """A tool-calling agent with a ledger and a gate. `show` makes the context of a state.

    `watch` is given every reply as the model made it, with what the gate left of it.

    `generations` counts model calls: one per step, one more for each REVISE that leaves nothing to
    send (the model keeps its turn, at most `max_revisions` times in a row). With `keeps_turn` text
    beside a revised call is not sent either: the paper's model "keeps its turn".
    """

    gate: Gate
    model: Model
    max_revisions: int = 2
    keeps_turn: bool = False
    show: Callable[[State], str] = whole_ledger
    watch: Callable[[Reply, Filtered], None] = lambda reply, filtered: None
    history: list[Message] = field(default_factory=list)
    state: State = field(default_factory=State)
    feedback: str = ""
    generations: int = 0
    verdicts: list[Filtered] = field(default_factory=list)

    def observe(self, message: Message) -> None:
        """Takes in a message that is not answered yet."""
        self.history.append(message)
        self.state = self.state.observe(message, self.gate.domain)  # L <- Absorb(L, m)

    def step(self, *messages: Message) -> Reply:
        """The agent's answer to these messages and those observed before: text or calls to run."""
        for message in messages:
            self.observe(message)
        for _ in range(self.max_revisions + 1):
            context = self.show(self.state)  # C <- Render(L)
            self.generations += 1
            reply = self.model.generate(self.history, context, self.feedback)  # a <- Generate
            self.state, filtered = self.state.filter(reply, self.gate, "drop")  # GateFilter
            self.verdicts.append(filtered)
            self.feedback = filtered.feedback
            self.watch(reply, filtered)
            if filtered.decision is Decision.BLOCK and not filtered.execute:
                break
            stays = self.keeps_turn and filtered.decision is Decision.REVISE
            if filtered.reply.calls or (filtered.reply.text and not stays):
                return self._send(filtered.reply)
        return self._send(Reply(text=self.verdicts[-1].refusal))

    def _send(self, reply: Reply) -> Reply:
        self.history.append(reply)
        return reply
