"""Clients that read the text of an answer as JSON: a refusal must not be what they try to read."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import anthropic
import openai
import pytest
from aiohttp import web
from pydantic import BaseModel

from ledgeragent.types import Reply
from tests.gateway.conftest import Client
from tests.gateway.upstream import Respond, sent
from tests.gateway.wires import MESSAGES, RESPONSES, WIRES, Wire, sse
from tests.gateway.world import KNOWN, LONG, SAY, TOOLS, World, given, run, world

SORRY = "I can't do that: a loan of 120 days is too long: 28 at most."
SILENT = Reply(calls=LONG.calls)


class Loan(BaseModel):
    """What the agent is to answer with."""

    days: int


def _chat(url: str, key: str = "k") -> Any:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0)
    tools: Any = [
        {
            "type": "function",
            "function": {"name": t, "parameters": {"type": "object"}, "strict": True},
        }
        for t in TOOLS
    ]
    asked: Any = {"model": "m", "messages": _body(0)["messages"], "tools": tools}
    return client.chat.completions, asked


def _body(index: int) -> Any:
    return WIRES[index].request(KNOWN, TOOLS, False)


def chat_whole(url: str) -> str:
    completions, asked = _chat(url)
    message = completions.parse(**asked, response_format=Loan).choices[0].message
    assert message.parsed is None
    return str(message.refusal)


def chat_stream(url: str) -> str:
    completions, asked = _chat(url)
    with completions.stream(**asked, response_format=Loan) as events:
        kinds = [event.type for event in events]
        message = events.get_final_completion().choices[0].message
    assert "refusal.done" in kinds and message.parsed is None
    return str(message.refusal)


def responses_whole(url: str) -> str:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
    got = client.responses.parse(model="m", input=_body(2)["input"], text_format=Loan)
    assert got.output_parsed is None
    return _refusal(got)


def responses_stream(url: str) -> str:
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
    asked: Any = {"model": "m", "input": _body(2)["input"], "text_format": Loan}
    with client.responses.stream(**asked) as events:
        kinds = [event.type for event in events]
        got = events.get_final_response()
    assert "response.refusal.done" in kinds and got.output_parsed is None
    return _refusal(got)


def _refusal(got: Any) -> str:
    return "".join(part.refusal for part in got.output[-1].content)


def _anthropic(url: str) -> Any:
    client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    asked: Any = {"model": "m", "max_tokens": 9, "messages": _body(1)["messages"]}
    return client.messages, asked


def messages_whole(url: str) -> str:
    messages, asked = _anthropic(url)
    got = messages.parse(**asked, output_format=Loan)
    assert (got.stop_reason, got.parsed_output) == ("refusal", None)
    return str(got.stop_details.explanation)


def messages_stream(url: str) -> str:
    messages, asked = _anthropic(url)
    with messages.stream(**asked, output_format=Loan) as events:
        got = events.get_final_message()
    assert (got.stop_reason, got.parsed_output) == ("refusal", None)
    return str(got.stop_details.explanation)


CLIENTS: tuple[Callable[[str], str], ...] = (
    chat_whole,
    chat_stream,
    responses_whole,
    responses_stream,
    messages_whole,
    messages_stream,
)


@pytest.mark.parametrize("ask", CLIENTS, ids=lambda ask: str(ask.__name__))
def test_a_refusal_is_none_of_the_text_that_is_parsed(ask: Callable[[str], str]) -> None:
    """With the providers' own clients, which raise where the text is not JSON."""

    async def scenario() -> None:
        async with world(SILENT, SILENT) as w:
            assert await asyncio.to_thread(ask, w.url) == SORRY

    run(scenario())


@pytest.mark.parametrize("ask", CLIENTS[::2], ids=lambda ask: str(ask.__name__))
def test_an_answer_as_asked_for_is_parsed(ask: Callable[[str], str]) -> None:
    """So the tests above ask for what is parsed."""

    async def scenario() -> None:
        async with world(Reply(text="no JSON")) as w:
            with pytest.raises(ValueError, match="JSON"):
                await asyncio.to_thread(ask, w.url)

    run(scenario())


FORMATS: dict[str, dict[str, Any]] = {
    "chat": {"response_format": {"type": "json_object"}},
    "messages": {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
    "responses": {"text": {"format": {"type": "json_schema", "name": "l", "schema": {}}}},
}


async def refused(client: Client, w: World) -> Any:
    """The agent's turn, as the client gives back what it was sent, without `None`s."""
    asked = {**client.wire.request(KNOWN, TOOLS, False), **FORMATS[client.wire.name]}
    async with w.http.post(f"{w.url}{client.wire.path}", json=asked) as response:
        assert response.status == 200
        body = await response.json()
    match client.wire.name:
        case "chat":
            return [body["choices"][0]["message"]]
        case "responses":
            return body["output"]
        case _:
            return [{"role": "assistant", "content": body["content"]}]


def test_the_conversation_goes_on_from_a_refusal(client: Client) -> None:
    """It is found again by what the client gives back, so the model hears what became of its call."""

    async def scenario() -> None:
        if client.stream:
            return
        async with world(SILENT, SILENT, SAY) as w:
            turn = await refused(client, w)
            field = "input" if client.wire is RESPONSES else "messages"
            body = client.wire.request(KNOWN, TOOLS, False)
            body[field] = [*body[field], *turn, {"role": "user", "content": "Why?"}]
            async with w.http.post(f"{w.url}{client.wire.path}", json=body) as response:
                assert response.status == 200
            assert "rejected before" in client.wire.told(w.upstream.asked[-1])

    run(scenario())


def thinking(reply: Reply, signature: str) -> Respond:
    """A message that begins with signed thoughts."""

    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        at = {"index": 90}
        block = {"type": "thinking", "thinking": "", "signature": ""}
        said = {"type": "thinking_delta", "thinking": "hm"}
        signed = {"type": "signature_delta", "signature": signature}
        head, *rest = wire.events(reply, "r")
        thought = [
            {"type": "content_block_start", **at, "content_block": block},
            {"type": "content_block_delta", **at, "delta": said},
            {"type": "content_block_delta", **at, "delta": signed},
            {"type": "content_block_stop", **at},
        ]
        return await sent(request, [head, *(sse(d, d["type"]) for d in thought), *rest])

    return respond


def test_signed_thoughts_of_two_replies_do_not_stand_in_one_message() -> None:
    async def scenario() -> None:
        async with world(thinking(LONG, "ONE"), thinking(SAY, "TWO")) as w:
            body = MESSAGES.request(KNOWN, TOOLS, True)
            async with w.http.post(f"{w.url}{MESSAGES.path}", json=body) as response:
                data = (await response.read()).decode()
            assert '"ONE"' in data and '"TWO"' not in data
            starts, stops = (data.count(f"event: content_block_{k}") for k in ("start", "stop"))
            assert starts == stops == 3
            assert '"ONE"' in str(w.upstream.asked[-1]).replace("'", '"')

    run(scenario())


REASONED = {"type": "reasoning", "id": "rs_1", "summary": []}


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("encrypted", [True, False])
def test_a_revision_names_no_item_that_upstream_does_not_keep(
    stored: bool, encrypted: bool
) -> None:
    item = {**REASONED, **({"encrypted_content": "xyz"} if encrypted else {})}

    async def first(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        answer = wire.answer(given(*LONG.calls), "r")
        return web.json_response({**answer, "output": [item, *answer["output"]]})

    async def scenario() -> None:
        async with world(first, SAY) as w:
            await w.ask(RESPONSES, KNOWN, store=stored)
            items = w.upstream.asked[-1]["input"]
            reasoned = [i for i in items if i.get("type") == "reasoning"]
            assert reasoned == ([item] if stored or encrypted else [])
            call = next(i for i in items if i.get("call_id") == LONG.calls[0].id)
            assert ("id" in call) is stored
            assert items[-2]["type"] == "function_call_output"

    run(scenario())
