"""Enforcing: a client gets what the gate lets through, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from ledgeragent.errors import MissingExtraError
from ledgeragent.gate import Filtered
from ledgeragent.gateway.equipment import Equipment
from ledgeragent.gateway.errors import RefusedTooOftenError
from ledgeragent.gateway.exchange import Exchange
from ledgeragent.gateway.inbound import Inbound
from ledgeragent.gateway.ledgertail import LEFT_OUT_HEADER
from ledgeragent.gateway.sse import ServerEvent
from ledgeragent.gateway.wholeresponse import whole_response
from ledgeragent.gateway.words import VERDICT_HEADER, verdict_header

try:
    from aiohttp import web
except ImportError:
    raise MissingExtraError("aiohttp", "gateway") from None

_SSE = {"content-type": "text/event-stream", "cache-control": "no-cache"}
_JSON = {"content-type": "application/json"}


@dataclass(frozen=True, slots=True)
class Enforcer:
    """Answers requests with judged replies."""

    equipment: Equipment

    async def answer(self, inbound: Inbound, raw: bytes) -> web.StreamResponse:
        """The judged answer; GatewayError where there is none."""
        visitor = inbound.visitor(len(raw))
        body, conversation = await inbound.read(raw, visitor, self.equipment)
        visit, exchange = await self.equipment.admit(
            inbound.dialect, body, conversation, visitor, inbound.belongs
        )
        if inbound.trace is not None:
            inbound.line = inbound.trace.line(inbound.line)
        try:
            if conversation.stream:
                return await self._stream(inbound, exchange)
            return await self._whole(inbound, exchange)
        except RefusedTooOftenError as problem:
            self.equipment.notices.ended(visit.memory.session, str(problem))
            raise
        finally:
            self._over(inbound, exchange)
            if not visit.settled:
                recorded = await exchange.recorder.is_written(visit.memory)
                await visit.release(is_recorded=recorded)

    def _over(self, inbound: Inbound, exchange: Exchange) -> None:
        account = inbound.account
        self.equipment.judged(exchange)
        account.upstream_calls = exchange.upstream_calls
        account.revisions = len(exchange.rejected)
        account.verdicts = verdict_header(exchange.verdicts)
        account.upstream_id = upstream_id(inbound.line.returned)
        if exchange.problem is not None:
            account.problem = type(exchange.problem).__name__
        if inbound.trace is not None:
            inbound.trace.judged(exchange.verdicts, len(exchange.rejected))
            if exchange.problem is not None:
                inbound.trace.failed(exchange.problem)

    async def _whole(self, inbound: Inbound, exchange: Exchange) -> web.StreamResponse:
        answer = await exchange.answer(inbound.line.ask)
        inbound.account.headers.update(_told_of_prompt(exchange))
        inbound.account.returned = len(answer)
        verdicts = verdict_headers(exchange.verdicts)
        headers = {**inbound.line.returned, **inbound.account.headers, **_JSON, **verdicts}
        return whole_response(inbound.request, answer, headers)

    async def _stream(self, inbound: Inbound, exchange: Exchange) -> web.StreamResponse:
        events = exchange.stream(inbound.line.listen)
        async with aclosing(events):
            first = await anext(events)
            inbound.account.headers.update(_told_of_prompt(exchange))
            headers = {**inbound.line.returned, **inbound.account.headers, **_SSE}
            response = web.StreamResponse(headers=headers)
            inbound.account.has_begun = True
            await response.prepare(inbound.request)
            await _write(inbound, response, first, is_last=exchange.is_ended)
            async for out in events:
                await _write(inbound, response, out, is_last=exchange.is_ended)
        return response


def _told_of_prompt(exchange: Exchange) -> dict[str, str]:
    """What the client is told of the ledger in the prompt: its form, and what it leaves out."""
    left_out = {LEFT_OUT_HEADER: str(exchange.left_out)} if exchange.left_out else {}
    return {**exchange.placement.headers, **left_out}


async def _write(
    inbound: Inbound,
    response: web.StreamResponse,
    events: Sequence[ServerEvent],
    *,
    is_last: bool,
) -> None:
    """Writes events; the last ones together with the end, which would be a packet of its own."""
    data = b"".join([event.encode() for event in events])
    inbound.account.returned += len(data)
    await (response.write_eof(data) if is_last else response.write(data))


def upstream_id(headers: Mapping[str, str]) -> str:
    """What the upstream calls its answer, for its operator to find it by."""
    return headers.get("x-request-id") or headers.get("request-id", "")


def verdict_headers(replies: Sequence[Filtered]) -> dict[str, str]:
    """The header that tells every verdict; none where there is nothing to tell."""
    header = verdict_header(replies)
    return {VERDICT_HEADER: header} if header else {}
