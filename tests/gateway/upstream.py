"""A model API that plays prepared replies over a real port, and fails in every way one can."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from ledgeragent.types import Reply
from tests.gateway.wires import CHAT, WIRES, Wire, sse

Respond = Callable[[web.Request, Wire, dict[str, Any]], Awaitable[web.StreamResponse]]
Play = Reply | Respond


@dataclass
class Upstream:
    """Plays `script` in order, or what `choose` picks for a request; keeps what it was asked."""

    script: deque[Play] = field(default_factory=deque)
    choose: Callable[[dict[str, Any]], Play] | None = None
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    raw: list[bytes] = field(default_factory=list)
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    def app(self) -> web.Application:
        app = web.Application(client_max_size=1 << 26)
        for wire in WIRES:
            app.router.add_post(wire.path, self._handler(wire))
        app.router.add_get("/v1/models", self._models)
        return app

    async def _models(self, request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": []})

    def _handler(self, wire: Wire) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        async def handle(request: web.Request) -> web.StreamResponse:
            raw = await request.read()
            body = json.loads(raw)
            self.raw.append(raw)
            self.asked.append(body)
            self.headers.append({n.lower(): v for n, v in request.headers.items()})
            play = self.choose(body) if self.choose is not None else self.script.popleft()
            try:
                if isinstance(play, Reply):
                    return await self._play(request, wire, body, play)
                return await play(request, wire, body)
            except asyncio.CancelledError:
                self.cancelled.set()
                raise

        return handle

    async def _play(
        self, request: web.Request, wire: Wire, body: dict[str, Any], reply: Reply
    ) -> web.StreamResponse:
        name = f"resp_{len(self.asked)}"
        if not body.get("stream"):
            return web.json_response(wire.answer(reply, name))
        return await sent(request, wire.events(reply, name))


def costing(reply: Reply, usage: Mapping[str, Any] | None) -> Respond:
    """The reply, with this usage where the format has its own."""

    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        if not body.get("stream"):
            return web.json_response(_with(wire.answer(reply, "r"), usage))
        return await sent(request, list(_costing(wire, reply, usage)))

    return respond


def _costing(wire: Wire, reply: Reply, usage: Mapping[str, Any] | None) -> Iterator[bytes]:
    for event in wire.events(reply, "r"):
        head, data = event.decode().split("data: ")
        if wire is CHAT:
            if data.strip() == "[DONE]" and usage is not None:
                yield sse({"id": "r", "model": "m", "choices": [], "usage": usage})
            yield event
            continue
        told = json.loads(data)
        match told["type"]:
            case "message_start":
                begun = usage and {**usage, "output_tokens": 1}
                told["message"] = _with(told["message"], begun)
            case "message_delta":
                told = _with(told, usage and {"output_tokens": usage["output_tokens"]})
            case "response.completed":
                told["response"] = _with(told["response"], usage)
        yield f"{head}data: {json.dumps(told)}\n\n".encode()


def _with(body: dict[str, Any], usage: Mapping[str, Any] | None) -> dict[str, Any]:
    kept = {name: value for name, value in body.items() if name != "usage"}
    return {**kept, "usage": usage} if usage is not None else kept


async def started(request: web.Request) -> web.StreamResponse:
    response = web.StreamResponse(headers={"content-type": "text/event-stream"})
    await response.prepare(request)
    return response


async def sent(request: web.Request, pieces: list[bytes]) -> web.StreamResponse:
    response = await started(request)
    for piece in pieces:
        await response.write(piece)
    await response.write_eof()
    return response


def status(code: int, headers: dict[str, str] | None = None) -> Respond:
    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        return web.json_response({"error": {"code": code}}, status=code, headers=headers)

    return respond


def garbage() -> Respond:
    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        if body.get("stream"):
            return await sent(request, [b"data: {]\n\n"])
        return web.Response(body=b"\xff<html>", content_type="application/json")

    return respond


def cut(reply: Reply, *, keep: float, reset: bool = False, stall: bool = False) -> Respond:
    """Only the first part of the answer, and then an end, a reset or silence."""

    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        if body.get("stream"):
            data = b"".join(wire.events(reply, "resp_cut"))
        else:
            data = json.dumps(wire.answer(reply, "resp_cut")).encode()
        response = await started(request)
        await response.write(data[: int(len(data) * keep)])
        if stall:
            await asyncio.sleep(60)
        if reset:
            assert request.transport is not None
            request.transport.abort()
        await response.write_eof()
        return response

    return respond


def broken(data: bytes, *, reset: bool) -> Respond:
    """These bytes, and then an end or a reset."""

    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        response = await started(request)
        await response.write(data)
        if reset:
            assert request.transport is not None
            await asyncio.sleep(0)
            request.transport.abort()
        await response.write_eof()
        return response

    return respond


def stepwise(reply: Reply, steps: asyncio.Semaphore) -> Respond:
    """Streams one event for each step that is released."""

    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        response = await started(request)
        for piece in wire.events(reply, "resp_slow"):
            await steps.acquire()
            await response.write(piece)
        await response.write_eof()
        return response

    return respond
