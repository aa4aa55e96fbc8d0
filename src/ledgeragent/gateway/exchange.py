"""One exchange: a request judged and answered, with as many upstream calls as revisions allow."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ledgeragent.gate import Filtered, Gate
from ledgeragent.gateway.dialects.base import (
    Body,
    Dialect,
    Rejected,
    Tail,
    WireReply,
    decode_reply,
    encode,
)
from ledgeragent.gateway.dialects.reading import reading
from ledgeragent.gateway.errors import (
    BadReplyError,
    GatewayError,
    RefusedTooOftenError,
    UpstreamError,
)
from ledgeragent.gateway.placement import Placement
from ledgeragent.gateway.policycheck import briefing, warnings
from ledgeragent.gateway.recorder import MemoryRecorder
from ledgeragent.gateway.sending import sent_order, unsent_calls
from ledgeragent.gateway.settings import ExchangeLimits
from ledgeragent.gateway.settlement import Settlement
from ledgeragent.gateway.sse import ServerEvent
from ledgeragent.gateway.usage import total_of
from ledgeragent.gateway.words import VERDICT_HEADER, verdict_header
from ledgeragent.state import State
from ledgeragent.stores.memory import Memory, weight
from ledgeragent.types import Reply
from ledgeragent.verdict import Decision

AskUpstream = Callable[[Body], Awaitable[bytes]]
Listen = Callable[[Body], AsyncGenerator[Sequence[ServerEvent], None]]
Settle = Callable[[Sequence[Settlement]], Awaitable[None]]


# A look at an enum costs more than what is done with it, and a named tuple's own constructor three
# times as much as that of all tuples.
_ALLOW, _REVISE = Decision.ALLOW, Decision.REVISE
_tuple = tuple.__new__


class _Judgement(NamedTuple):
    wire: WireReply
    filtered: Filtered
    state: State
    size: int


@dataclass(slots=True)
class Exchange:
    """A request on its way.

    `passes` are the tools whose calls need no judging. `settle` is told, before the client hears of
    it, what each choice of the answer leaves behind. `verdicts` collects every judged reply,
    `upstream_calls` counts generations, `left_out` the records that the ledger in the prompt leaves
    out for length, `problem` is why an answer that had begun was not completed; `is_ended` once no
    events follow those that `stream` gave last.
    """

    dialect: Dialect
    gate: Gate
    passes: frozenset[str]
    body: Body
    memory: Memory
    recorder: MemoryRecorder
    settle: Settle
    placement: Placement
    limits: ExchangeLimits
    rejected: list[Rejected] = field(init=False, default_factory=list)
    verdicts: list[Filtered] = field(init=False, default_factory=list)
    upstream_calls: int = field(init=False, default=0)
    left_out: int = field(init=False, default=0)
    problem: Exception | None = field(init=False, default=None)
    is_ended: bool = field(init=False, default=False)

    async def answer(self, ask: AskUpstream) -> bytes:
        """The judged answer to a request that doesn't stream; upstream's own bytes if all is well."""
        self.check_refusals()
        reports: list[Any] = []
        while True:
            self.upstream_calls += 1
            raw = await self._asked(ask)
            with reading():
                answer = decode_reply(raw, self.limits.bound, distinct=True)
                replies = self.dialect.replies(answer)
            reports.append(answer.get("usage"))
            judgements = [self._judge(reply) for reply in replies]
            if len(judgements) > 1 or not self._revises(judgements[0], was_heard=False):
                break
        texts: list[str] = []
        changed = False
        for judgement in judgements:
            text = self._refusal(judgement.filtered)
            texts.append(text)
            changed = changed or text != "" or judgement.filtered.decision is not _ALLOW
        with reading():
            if changed:
                choices = [(j.filtered, text) for j, text in zip(judgements, texts, strict=True)]
                answer = self.dialect.answer(answer, choices)
            usage_sum = total_of(reports) if self.rejected else {}
            if changed or usage_sum:
                raw = encode({**answer, "usage": usage_sum} if usage_sum else answer)
            items = self._kept(self.dialect.items(answer))
        if self.recorder.journal is not None:
            await self.recorder.written(self.memory)
        await self.settle(
            [
                self._settled(j, [j.wire.reply.text, self._echo(t)], items=items)
                for j, t in zip(judgements, texts, strict=True)
            ]
        )
        return raw

    async def stream(self, listen: Listen) -> AsyncGenerator[Sequence[ServerEvent], None]:
        """The judged answer to a request that streams; text passes as it comes.

        The events that came in together go out together. A failure before anything has passed is
        raised; later ones end the answer in its own form.
        """
        self.check_refusals()
        stream = self.dialect.stream(self.passes)
        texts: list[str] = []
        first_id = ""
        has_begun = False
        try:
            while True:
                self.upstream_calls += 1
                async with aclosing(self._heard(listen)) as arrivals:
                    async for events in arrivals:
                        with reading():
                            out = [passing for event in events for passing in stream.feed(event)]
                        if out:
                            has_begun = True
                            yield out
                with reading():
                    wire = stream.reply()
                judgement = self._judge(wire)
                texts.append(judgement.wire.reply.text[stream.repeated :])
                first_id = first_id or judgement.wire.id
                if not self._revises(judgement, was_heard=True):
                    break
                with reading():
                    stream.again()
            text = self._refusal(judgement.filtered)
            with reading():
                ending = list(stream.finish(judgement.filtered, text))
            items = self._kept(stream.items)
            settlement = self._settled(
                judgement, [*texts, self._echo(text)], first_id, items=items, streamed=True
            )
            await self.recorder.written(self.memory)
            await self.settle([settlement])
        except GatewayError as problem:
            if not has_begun:
                raise
            self.problem = problem
            self.is_ended = True
            yield list(stream.fail(str(problem)))
            return
        header = verdict_header(self.verdicts)
        comment = [ServerEvent(f"{VERDICT_HEADER}: {header}", None)] if header else []
        self.is_ended = True
        yield [*comment, *ending]

    def check_refusals(self) -> None:
        """RefusedTooOftenError for a conversation that is not answered any more."""
        refusals = self.memory.refusals
        if 0 < self.limits.refusals <= refusals.times:
            raise RefusedTooOftenError(
                f"this conversation was refused the same {refusals.times} times in a row "
                f"({refusals.what}), so it is not answered any more; begin another one"
            )

    async def _asked(self, ask: AskUpstream) -> bytes:
        """The answer to the prompt, in the form that upstream takes it."""
        while True:
            try:
                raw = await ask(self.prompt())
            except UpstreamError as problem:
                self.placement.refused(problem)
            else:
                self.placement.taken()
                return raw

    async def _heard(self, listen: Listen) -> AsyncGenerator[Sequence[ServerEvent], None]:
        """The events of the answer to the prompt, in the form that upstream takes it."""
        while True:
            try:
                async with aclosing(listen(self.prompt())) as arrivals:
                    async for events in arrivals:
                        self.placement.taken()
                        yield events
                return
            except UpstreamError as problem:
                self.placement.refused(problem)

    def prompt(self) -> Body:
        """The request for upstream, as things stand: with the ledger, and what was rejected."""
        memory = self.memory
        text, owed, self.left_out = briefing(memory, self.gate, self.limits.ledger)
        tail = _tuple(Tail, (self.placement.form, text, self.rejected, memory.upstream, owed))
        with reading():
            return self.dialect.prompt(self.body, tail)

    def _judge(self, wire: WireReply) -> _Judgement:
        """Judges and records. Choices of one answer are alternatives, so none is judged after another."""
        try:
            state, filtered = self.memory.state.filter(wire.reply, self.gate, "drop")
            listens = self.gate.domain.listens
            size = self.memory.size + weight(wire.reply, listens=listens)
        except RecursionError:
            raise BadReplyError("the arguments of a call are nested too deeply") from None
        self.recorder.judged(self.memory.session, wire.reply, filtered, shadow=False)
        self.verdicts.append(filtered)
        return _tuple(_Judgement, (wire, filtered, state, size))

    def _revises(self, judgement: _Judgement, *, was_heard: bool) -> bool:
        """True if nothing of the reply can be sent and the model may try once more.

        Of a reply whose words no client heard, only the rejections are remembered.
        """
        filtered = judgement.filtered
        if filtered.execute or filtered.decision is not _REVISE:
            return False
        if len(self.rejected) >= self.limits.revisions:
            return False
        texts = tuple(verdict.feedback for verdict in filtered.verdicts)
        self.rejected.append(Rejected(judgement.wire.raw, filtered, texts))
        state = judgement.state
        if not was_heard:
            state = self.memory.state._replace(rejections=state.rejections)
        self.memory = self.memory._replace(state=state, size=judgement.size)
        return True

    def _settled(
        self,
        judgement: _Judgement,
        texts: list[str],
        name: str = "",
        *,
        items: Sequence[Body],
        streamed: bool = False,
    ) -> Settlement:
        """What the client is sent, and what the model must hear next turn of what it was not."""
        wire, filtered, state, size = judgement
        calls = filtered.execute
        if streamed and calls:
            order = sent_order((v.call for v in filtered.verdicts), self.passes)
            allowed = set(map(id, calls))
            calls = tuple(call for call in order if id(call) in allowed)
            state = state._replace(pending=calls)
        memory = self.memory.answered(state, wire.id, size)
        if filtered.verdicts or self.rejected:
            silenced = self._silenced(filtered)
            revised = [rejected.filtered for rejected in self.rejected]
            memory = memory._replace(
                unsent=tuple(unsent_calls(silenced or filtered, is_answered=silenced is not None)),
                warnings=warnings(filtered),
                refusals=self.memory.refusals.after(filtered, revised),
            )
        text = "\n\n".join(filter(None, texts))
        is_whole = text == wire.reply.text and calls == wire.reply.calls
        reply = wire.reply if is_whole else Reply(text=text, calls=calls)
        return _tuple(Settlement, (reply, memory, name or wire.id, items))

    def _echo(self, text: str) -> str:
        """What a client will give back of a text of ours."""
        return text if self.dialect.echoes else ""

    def _kept(self, items: Sequence[Body]) -> Sequence[Body]:
        """The items, unless the client said that it will send them whole."""
        return () if self.body.get("store") is False else tuple(items)

    def _refusal(self, filtered: Filtered) -> str:
        """What is said where every call was rejected, or where the model had no answer to that."""
        if filtered.execute:
            return ""
        if filtered.decision is not _ALLOW:
            return filtered.refusal
        rejected = self._silenced(filtered)
        return rejected.refusal if rejected is not None else ""

    def _silenced(self, filtered: Filtered) -> Filtered | None:
        """The rejected reply to which this one, which is empty, is all that the model had to say."""
        if filtered.verdicts or filtered.reply.text or not self.rejected:
            return None
        return self.rejected[-1].filtered
