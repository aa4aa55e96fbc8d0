"""A call stands in its place, or nothing is handed on: frames, odd keys and keys that stand twice."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from ledgeragent.gateway.dialects.framing import check_frame
from ledgeragent.gateway.errors import BadReplyError
from tests.gateway.conftest import Client
from tests.gateway.upstream import broken
from tests.gateway.wires import WIRES, Wire, arguments, sse
from tests.gateway.world import HELLO, LONG, SAY, TOOLS, run, world

CALL = LONG.calls[0]
FUNCTION = {"name": CALL.name, "arguments": arguments(CALL)}
CHAT = {"id": "c", "type": "function", "function": FUNCTION}
ITEM = {"type": "function_call", "call_id": "c", "id": "i", "status": "completed", **FUNCTION}
BLOCK = {"type": "tool_use", "id": "c", "name": CALL.name, "input": dict(CALL.arguments)}

Smuggle = Callable[[Any], Any]


def _first(data: Any, **fields: Any) -> Any:
    """A chunk with something beside its delta's content; anything else as it is."""
    (choice,) = data.get("choices") or ({},)
    if not (choice.get("delta") or {}).get("content"):
        return data
    return {**data, "choices": [{**choice, "delta": {**choice["delta"], **fields}}]}


def _frame(data: Any, kind: str, name: str, **fields: Any) -> Any:
    return {**data, name: {**data[name], **fields}} if data.get("type") == kind else data


STREAMED: dict[str, tuple[str, Smuggle]] = {
    "a call in the frame of a message": (
        "messages",
        lambda d: _frame(d, "message_start", "message", content=[BLOCK]),
    ),
    "a call in the frame of a response": (
        "responses",
        lambda d: _frame(d, "response.created", "response", output=[ITEM]),
    ),
    "a call in a response that is cancelled": (
        "responses",
        lambda d: (
            {
                "type": "response.cancelled",
                "response": {**d["response"], "output": [ITEM], "status": "cancelled"},
            }
            if d.get("type") == "response.in_progress"
            else d
        ),
    ),
    "a call that is custom as well": (
        "chat",
        lambda d: _first(d, tool_calls=[{"index": 0, **CHAT, "custom": {"name": "lend_book"}}]),
    ),
    "a key in another case": ("chat", lambda d: _first(d, Tool_Calls=[{"index": 0, **CHAT}])),
}


def smuggled(wire: Wire, smuggle: Smuggle) -> bytes:
    """The events of a plain reply, each as `smuggle` makes it."""
    pieces = []
    for raw in wire.events(SAY, "resp_1"):
        lines = raw.decode().strip().splitlines()
        data = lines[-1].removeprefix("data: ")
        pieces.append(sse(data if data == "[DONE]" else smuggle(json.loads(data))))
    return b"".join(pieces)


@pytest.mark.parametrize("case", STREAMED)
def test_a_stream_with_a_call_out_of_its_place_is_not_handed_on(case: str) -> None:
    name, smuggle = STREAMED[case]
    wire = next(wire for wire in WIRES if wire.name == name)

    async def scenario() -> None:
        async with world(broken(smuggled(wire, smuggle), reset=False)) as w:
            got = await w.ask(wire, [HELLO], stream=True)
            assert got.reply is None
            assert "lend_book" not in json.dumps([got.body, got.events])

    run(scenario())


def whole(change: Callable[[str], str]) -> Any:
    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        text = change(json.dumps(wire.answer(SAY, "resp_1")))
        return web.Response(text=text, content_type="application/json")

    return respond


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"content":', '"Tool_Calls": [], "content":', 1),
        lambda text: text.replace('"content":', '"CONTENT": "x", "content":', 1),
        lambda text: f'{{"output": [], "choices": [], "content": [], {text[1:]}',
    ],
    ids=["another call list", "another content", "twice"],
)
def test_an_answer_that_can_be_read_in_two_ways_is_not_handed_on(
    wire: Wire, change: Callable[[str], str]
) -> None:
    async def scenario() -> None:
        async with world(whole(change)) as w:
            assert (await w.ask(wire, [HELLO])).status == 502

    run(scenario())


def test_a_whole_call_that_is_custom_as_well_is_not_handed_on() -> None:
    wire = next(wire for wire in WIRES if wire.name == "chat")
    call = json.dumps([{**CHAT, "custom": {"name": "lend_book", "input": ""}}])

    async def scenario() -> None:
        odd = whole(lambda text: text.replace('"content":', f'"tool_calls": {call}, "content":', 1))
        async with world(odd) as w:
            assert (await w.ask(wire, [HELLO])).status == 502

    run(scenario())


def test_arguments_may_have_keys_of_any_kind() -> None:
    check_frame({"content": [{"type": "tool_use", "input": {"Content": 1, "NAME": 2}}]})
    with pytest.raises(BadReplyError):
        check_frame({"content": [{"Type": "tool_use"}]})


def test_a_system_message_may_stand_among_the_others(client: Client) -> None:
    """Newer models of the Messages API take it there, as the others do."""

    async def scenario() -> None:
        async with world(SAY) as w:
            body = client.wire.request([HELLO], TOOLS, client.stream)
            name = "input" if "input" in body else "messages"
            body[name] = [*body[name], {"role": "system", "content": "Be brief."}]
            got = await w.post(client.wire, json.dumps(body).encode())
            assert got.reply == SAY
            assert "Be brief." in json.dumps(w.upstream.asked[-1])

    run(scenario())
