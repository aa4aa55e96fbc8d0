"""One exchange: a request judged and answered, with as many upstream calls as revisions allow."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from ledgeragent.agent import REFUSAL
from ledgeragent.effects import Effect
from ledgeragent.gate import Filtered, Gate
from ledgeragent.gateway.dialects.base import BadReplyError, Body, Dialect, Tail
from ledgeragent.gateway.memory import Memory
from ledgeragent.gateway.sse import Event
from ledgeragent.render import render
from ledgeragent.types import Reply
from ledgeragent.verdict import Decision

Mode = Literal["enforce", "shadow"]
"""`shadow` judges and records, and changes nothing."""

Ask = Callable[[Body], Awaitable[Body]]
Listen = Callable[[Body], AsyncIterator[Event]]
Record = Callable[[Reply, Filtered], None]


@dataclass(slots=True, kw_only=True)
class Exchange:
    """A request on its way.

    `verdicts` collects every judged reply, `upstream_calls` counts generations. When it is over,
    `sent` is the reply that the client got and `memory` what is known after it.
    """

    dialect: Dialect
    gate: Gate
    body: Body
    memory: Memory
    mode: Mode = "enforce"
    max_revisions: int = 1
    record: Record | None = None
    rejected: list[Filtered] = field(default_factory=list)
    verdicts: list[Filtered] = field(default_factory=list)
    upstream_calls: int = 0
    sent: Reply | None = None

    async def answer(self, ask: Ask) -> Body:
        """The judged answer to a request that doesn't stream."""
        while True:
            answer = await self._once(ask)
            judged = [self._judge(reply) for reply in self.dialect.replies(answer)]
            if len(judged) == 1 and self._may_revise(judged[0]):
                continue
            self._settle(judged[0], [judged[0].reply.text])
            if self.mode == "shadow" or all(f.decision is Decision.ALLOW for f in judged):
                return answer
            return self.dialect.answer(answer, [(f, refusal(f)) for f in judged])

    async def stream(self, listen: Listen) -> AsyncIterator[Event]:
        """The judged answer to a request that streams; text passes as it comes."""
        stream = self.dialect.stream(self._passing())
        texts: list[str] = []
        try:
            while True:
                self.upstream_calls += 1
                async for event in listen(self._prompt()):
                    for passed in stream.feed(event):
                        yield passed
                filtered = self._judge(stream.reply())
                texts.append(filtered.reply.text)
                if filtered.decision is Decision.ALLOW or not self._may_revise(filtered):
                    break
                stream.again()
        except BadReplyError as problem:
            for event in stream.fail(str(problem)):
                yield event
            return
        self._settle(filtered, texts)
        text = "" if self.mode == "shadow" else refusal(filtered)
        for event in stream.finish(filtered, text):
            yield event

    async def _once(self, ask: Ask) -> Body:
        self.upstream_calls += 1
        return await ask(self._prompt())

    def _prompt(self) -> Body:
        if self.mode == "shadow":
            return self.body
        context = render(self.memory.state.ledger)
        if self.memory.feedback:
            context = f"{context}\n{self.memory.feedback}"
        return self.dialect.prompt(self.body, Tail(rejected=self.rejected, context=context))

    def _judge(self, reply: Reply) -> Filtered:
        state, filtered = self.memory.state.filter(reply, self.gate, "drop")
        if self.mode == "shadow":
            state = replace(state, pending=reply.calls)
        self.verdicts.append(filtered)
        self.memory = replace(self.memory, state=state)
        if self.record is not None:
            self.record(reply, filtered)
        return filtered

    def _settle(self, filtered: Filtered, texts: list[str]) -> None:
        """Notes what the client is sent, and what the model must hear next turn of a mixed reply."""
        if self.mode == "shadow":
            self.sent = Reply(text=texts[-1], calls=self.memory.state.pending)
            return
        said = [text for text in (*texts, refusal(filtered)) if text]
        self.sent = Reply(text="\n\n".join(said), calls=filtered.execute)
        feedback = filtered.feedback if filtered.execute else ""
        self.memory = replace(self.memory, feedback=feedback)

    def _may_revise(self, filtered: Filtered) -> bool:
        """True if nothing of the reply can be sent and the model may try once more."""
        if self.mode == "shadow" or filtered.execute or filtered.decision is not Decision.REVISE:
            return False
        if len(self.rejected) >= self.max_revisions:
            return False
        self.rejected.append(filtered)
        return True

    def _passing(self) -> frozenset[str] | None:
        """The tools whose calls need no judging, None for all of them."""
        if self.mode == "shadow":
            return None
        domain = self.gate.domain
        return frozenset(t.tool for t in domain.tools if domain.effect(t.tool) is Effect.READ)


def refusal(filtered: Filtered) -> str:
    """What is said instead of a reply whose calls were all rejected, "" if something is left of it."""
    if filtered.decision is Decision.ALLOW or filtered.execute:
        return ""
    return REFUSAL.format(reason=filtered.feedback)
