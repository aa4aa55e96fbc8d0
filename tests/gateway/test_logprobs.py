"""Replies that say how likely each of their words was: long ones pass, and nothing hides in them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web

from ledgeragent.gateway.dialects.base import decode_reply
from ledgeragent.gateway.logprobs import Cut
from ledgeragent.gateway.sse import EventParser
from ledgeragent.gateway.values import DEFAULT_BOUND, TooManyValuesError
from ledgeragent.types import Reply
from tests.gateway.conftest import Client
from tests.gateway.upstream import Respond
from tests.gateway.wires import Wire, sse
from tests.gateway.world import HELLO, KNOWN, SAY, WRITE, run, world

TOKENS = 4_000
TOP = 20
LARGE = 64 << 20
"""A stream tells them several times over: with each word, and in each event that ends something."""


def told(tokens: int = TOKENS) -> list[Any]:
    def one(token: str) -> dict[str, Any]:
        return {"token": token, "logprob": -0.5, "bytes": [104, 105]}

    return [{**one('"]}{\\'), "top_logprobs": [one("hi")] * TOP} for _ in range(tokens)]


def with_logprobs(wire: Wire, value: Any, tokens: int = TOKENS) -> Any:
    """A body or an event, with logprobs wherever the format has them."""
    if isinstance(value, list):
        return [with_logprobs(wire, one, tokens) for one in value]
    if not isinstance(value, dict):
        return value
    inner = {name: with_logprobs(wire, one, tokens) for name, one in value.items()}
    if wire.name == "chat" and "finish_reason" in value:
        return {**inner, "logprobs": {"content": told(tokens), "refusal": None}}
    if value.get("type") in ("output_text", "response.output_text.done"):
        return {**inner, "logprobs": told(tokens)}
    return inner


def saying(reply: Reply) -> Respond:
    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        if not body.get("stream"):
            return web.json_response(with_logprobs(wire, wire.answer(reply, "r")))
        raw = b""
        for event in wire.events(reply, "r"):
            name, _, data = event.decode().strip().rpartition("data: ")
            plain = data if data == "[DONE]" else with_logprobs(wire, json.loads(data), 1_500)
            raw += sse(plain, name.removeprefix("event: ").strip())
        return web.Response(body=raw, content_type="text/event-stream")

    return respond


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_a_long_reply_passes(client: Client, mode: str) -> None:
    async def scenario() -> None:
        async with world(saying(SAY), mode=mode, max_body=LARGE) as w:
            got = await client.ask(w, *KNOWN)
            assert got.status == 200 and got.reply.text == SAY.text
            assert w.gateway.metrics.unjudged == 0
            if not client.stream:
                assert got.body == with_logprobs(client.wire, client.wire.answer(SAY, "r"))

    run(scenario())


def test_a_call_beside_them_is_judged(client: Client) -> None:
    async def scenario() -> None:
        async with world(max_body=LARGE) as w:
            w.upstream.choose = lambda body: saying(WRITE)
            got = await client.ask(w, HELLO)
            assert got.status == 200
            assert "lend_book" not in f"{got.reply.calls}"

    run(scenario())


def hidden(place: str) -> Any:
    """A chat reply whose logprobs stand where a call's arguments are, or anywhere else."""
    call: dict[str, Any] = {"name": "lend_book", "arguments": {"logprobs": told(1_500)}}
    message: dict[str, Any] = {"role": "assistant", "content": "x"}
    choice: dict[str, Any] = {"message": message, "finish_reason": "stop"}
    match place:
        case "arguments":
            message["tool_calls"] = [{"id": "1", "type": "function", "function": call}]
        case "message":
            message["logprobs"] = told(1_500)
        case "top":
            return {"choices": [choice], "logprobs": told(1_500)}
        case "beside":
            choice["delta"] = {"logprobs": told(1_500)}
        case "input":
            return {"content": [{"type": "tool_use", "input": {"logprobs": told(1_500)}}]}
    return {"choices": [choice]}


@pytest.mark.parametrize("place", ["arguments", "message", "top", "beside", "input"])
def test_nothing_is_left_out_elsewhere(place: str) -> None:
    raw = json.dumps(hidden(place)).encode()
    with pytest.raises(TooManyValuesError):
        decode_reply(raw, DEFAULT_BOUND)
    with pytest.raises(TooManyValuesError):
        list(EventParser().feed(b"data: " + raw + b"\n\n"))


@pytest.mark.parametrize(
    "text",
    [
        '{"a":"\\"logprobs\\":[1]"}',
        '{"a \\"logprobs": [1]}',
        '{"logprobs":[1',
        '{"logprobs":[{"a":"]}"',
        '{"logprobs":null,"b":"logprobs"}',
        '{"logprobs":[[[[[[[[1]]]]]]]]}',
    ],
)
def test_only_whole_members_are_cut(text: str) -> None:
    assert Cut(text.encode()).text == text.encode()


@pytest.mark.parametrize(
    "text", ['{"logprobs":[' * 9, '"logprobs":{"' * 9, '"logprobs":[[[[[["' * 9, '"logprobs":[' * 9]
)
def test_what_has_no_end_is_looked_at_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from ledgeragent.gateway import logprobs

    tries = []

    class Counting:
        def match(self, raw: bytes, place: int) -> Any:
            tries.append(place)

    monkeypatch.setattr(logprobs, "_VALUE", Counting())
    assert Cut(text.encode()).text == text.encode()
    assert len(tries) == 1
