"""Guarding: the gateway's judgement inside another program, which asks the model itself.

A request is taken in before that program asks, and the reply is judged once it has come. Only a
revision asks again, through the program.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from dataclasses import dataclass
from typing import Any, TypeVar

from ledgeragent.domain import Domain
from ledgeragent.gateway.dialects.base import Body, Dialect, encode
from ledgeragent.gateway.dialects.chat import ChatDialect
from ledgeragent.gateway.dialects.messages import MessagesDialect
from ledgeragent.gateway.dialects.reading import reading
from ledgeragent.gateway.dialects.responses import ResponsesDialect
from ledgeragent.gateway.equipment import Admission, Equipment
from ledgeragent.gateway.errors import BadRequestError, GatewayError, TooLargeError
from ledgeragent.gateway.exchange import AskUpstream, Listen
from ledgeragent.gateway.memory import Histories
from ledgeragent.gateway.metrics import Metrics
from ledgeragent.gateway.overhearing import Overhearing
from ledgeragent.gateway.references import resolved
from ledgeragent.gateway.settings import Settings
from ledgeragent.gateway.shadow import Shadow
from ledgeragent.gateway.sse import ServerEvent
from ledgeragent.gateway.storage import SessionStorage
from ledgeragent.gateway.values import TooManyValuesError, check_returns
from ledgeragent.gateway.visits import Visitor
from ledgeragent.gateway.words import verdict_header
from ledgeragent.journal import Journal
from ledgeragent.stores.base import ProcessStore, SessionStore
from ledgeragent.text import visible

log = logging.getLogger("ledgeragent.gateway")

PATIENCE = 5.0
"""How many seconds an answer that passes may wait for the judge's session store."""

_Piece = TypeVar("_Piece")


@dataclass(slots=True)
class GuardedRequest:
    """One request: to be asked with `prompt`, and answered by `answer` or `stream`, once."""

    equipment: Equipment
    admission: Admission
    is_shadow: bool = False
    _is_over: bool = False

    @property
    def prompt(self) -> Body:
        """The request as the model is to get it."""
        exchange = self.admission.exchange
        return exchange.body if self.is_shadow else exchange.prompt()

    @property
    def verdicts(self) -> str:
        """Every verdict in order, as `tool=WORD`."""
        return verdict_header(self.admission.exchange.verdicts)

    async def answer(self, reply: bytes, ask: AskUpstream) -> bytes:
        """The judged answer to a request that doesn't stream; the same bytes if all is well."""
        if self.is_shadow:
            await self._overheard([reply], is_stream=False)
            return reply
        replies = [reply]

        async def next_reply(body: Body) -> bytes:
            return replies.pop() if replies else await ask(body)

        try:
            return await self.admission.exchange.answer(next_reply)
        finally:
            await self.close()

    async def stream(
        self, events: AsyncIterator[ServerEvent], listen: Listen
    ) -> AsyncGenerator[ServerEvent, None]:
        """The judged answer to a request that streams; in shadow nothing is, see `overheard`."""
        streams = [events]

        async def next_stream(body: Body) -> AsyncGenerator[list[ServerEvent], None]:
            if streams:
                async for event in _read(streams.pop()):
                    yield [event]
                return
            async for again in _read(listen(body)):
                yield list(again)

        try:
            async for batch in self.admission.exchange.stream(next_stream):
                for event in batch:
                    yield event
        finally:
            await self.close()

    async def close(self) -> None:
        """Counts what was judged, and lets the conversation go if nothing was answered."""
        if self._is_over:
            return
        self._is_over = True
        self.equipment.judged(self.admission.exchange)
        if not self.admission.visit.settled:
            await self.admission.visit.release()

    async def overheard(self, stream: Overhearing) -> None:
        """Judges a stream that has passed. What cannot be judged is counted, and changes nothing."""
        if stream.problem is None:
            await self._overheard(stream.parts, is_stream=True)
        else:
            self._passed(stream.problem)
            await self.close()

    async def _overheard(self, parts: list[bytes], *, is_stream: bool) -> None:
        visit, exchange = self.admission
        shadow = Shadow(
            dialect=exchange.dialect,
            gate=exchange.gate,
            memory=exchange.memory,
            recorder=exchange.recorder,
            bound=exchange.limits.bound,
        )
        hear = shadow.hear_stream if is_stream else shadow.hear_parts
        try:
            async with asyncio.timeout(PATIENCE):
                settlements = hear(parts)
                await exchange.recorder.written(exchange.memory)
                await visit.settle(settlements)
        except Exception as problem:
            self._passed(problem)
        exchange.verdicts += shadow.verdicts
        await self.close()

    def _passed(self, problem: Exception) -> None:
        self.equipment.metrics.unjudged += 1
        log.warning("a reply passed unjudged: %s", visible(repr(problem)))


async def _read(source: AsyncIterator[_Piece]) -> AsyncGenerator[_Piece, None]:
    """What another program hands on; what it cannot read itself is a BadReplyError."""
    while True:
        with reading():
            piece = await anext(source, None)
        if piece is None:
            return
        yield piece


class Guarding:
    """One domain's rules inside another program."""

    def __init__(
        self,
        domain: Domain,
        settings: Settings,
        *,
        journal: Journal | None = None,
        store: SessionStore | None = None,
    ) -> None:
        self.domain = domain
        self.is_shadow = settings.mode == "shadow"
        self.metrics = Metrics(tools=frozenset(tool.tool for tool in domain.tools))
        self._store = SessionStorage(store if store is not None else ProcessStore())
        self._opening = asyncio.Lock()
        self._is_open = False
        place = settings.context_role
        dialects: tuple[Dialect, ...] = (
            ChatDialect(place),
            MessagesDialect(place),
            ResponsesDialect(place),
        )
        self._dialects = {dialect.path: dialect for dialect in dialects}
        self._equipment = Equipment.of(
            domain,
            settings,
            journal=journal,
            memories=Histories(settings.max_remembered),
            store=self._store,
            metrics=self.metrics,
        )

    async def begin(
        self, path: str, body: Body, name: str | None, scope: str
    ) -> GuardedRequest | None:
        """A request of the format with this path, with the conversation that it is of.

        `name` is the session's, if the client gave one, in this `scope`. GatewayError where it cannot
        be judged; in shadow None instead.
        """
        try:
            return await self._begun(path, body, name, scope)
        except Exception as problem:
            if not self.is_shadow:
                raise
            self.passed(problem)
            return None

    def passed(self, problem: Exception) -> None:
        """Counts and tells a request that passed unjudged, since there was this problem."""
        self.metrics.unjudged += 1
        log.warning("a request passed unjudged: %s", visible(str(problem) or repr(problem)))

    async def _begun(self, path: str, body: Body, name: str | None, scope: str) -> GuardedRequest:
        await self._open()
        dialect = self._dialects[path]
        words = body.get("messages", body.get("input"))
        visitor = Visitor(name=name, scope=scope, size=self._size(words))
        body = await resolved(body, visitor.item_key, self._store)
        conversation = dialect.conversation(body)
        check_returns(conversation.messages, self._equipment.bound)
        admission = await self._equipment.admit(
            dialect, body, conversation, visitor, lambda visit, gate: gate
        )
        guarded = GuardedRequest(self._equipment, admission, self.is_shadow)
        if not self.is_shadow:
            try:
                admission.exchange.check_refusals()
            except GatewayError:
                await guarded.close()
                raise
        return guarded

    def _size(self, words: Any) -> int:
        """How many bytes a history has; GatewayError for one that is too large to be read."""
        try:
            raw = encode({"words": words})
            self._equipment.bound.check(raw, "the history")
        except TooManyValuesError as problem:
            raise TooLargeError(str(problem)) from None
        except (RecursionError, TypeError, ValueError):
            raise BadRequestError("the history cannot be read as JSON") from None
        return len(raw)

    async def _open(self) -> None:
        async with self._opening:
            if not self._is_open:
                await self._store.open()
                self._is_open = True
