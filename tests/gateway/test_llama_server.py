"""The gateway before llama.cpp's own server: writes of a real model, judged, in each of its three APIs.

The server's grammar makes the model call what it is offered, with arguments of the schema; nothing of
this says how good the model is.
"""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from ledgeragent.types import Message, Reply
from tests.gateway.conftest import Client
from tests.gateway.processes import process
from tests.gateway.wires import CHAT
from tests.gateway.world import HELLO, KNOWN, OUT
from tests.lending.domain import LEND
from tests.llama import BINDING, opted_in, serving

pytestmark = opted_in

KEY = "sk-llama"
ARGUMENTS = {
    "type": "object",
    "properties": {
        "member_id": {"enum": ["M1"]},
        "book_id": {"enum": ["B1"]},
        "days": {"enum": [14]},
    },
    "required": ["member_id", "book_id", "days"],
}
REQUIRED = {"chat": "required", "responses": "required", "messages": {"type": "any"}}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving(BINDING, KEY) as url:
        yield url


def _request(client: Client, messages: Sequence[Message]) -> dict[str, Any]:
    """A request that offers one write alone, and wants it called."""
    body = client.wire.request(messages, [LEND.name], client.stream)
    (tool,) = body["tools"]
    named = tool.get("function", tool)
    named["input_schema" if client.wire.name == "messages" else "parameters"] = ARGUMENTS
    limit = "max_output_tokens" if client.wire.name == "responses" else "max_tokens"
    choice = REQUIRED[client.wire.name]
    return {**body, "tool_choice": choice, "temperature": 0, limit: 120}


def _post(url: str, body: Any) -> str:
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as response:
            answer: str = response.read().decode()
    except urllib.error.HTTPError as error:
        error.add_note(error.read().decode())
        raise
    return answer


def _through_the_gateway(address: str, path: str, body: Any) -> str:
    async def asked() -> str:
        async with process(address) as (_, url, _coverage):
            return await asyncio.to_thread(_post, f"{url}{path}", body)

    return asyncio.run(asked())


def _reply(client: Client, answer: str) -> Reply:
    if not client.stream:
        return client.wire.read(json.loads(answer))
    lines = (line.removeprefix("data: ") for line in answer.splitlines() if "data: " in line[:6])
    return client.wire.read_events(
        [line if line == "[DONE]" else json.loads(line) for line in lines]
    )


def _asked(address: str, client: Client, messages: Sequence[Message]) -> Reply:
    body = _request(client, messages)
    return _reply(client, _through_the_gateway(address, client.wire.path, body))


def test_a_write_that_rests_on_nothing_read_does_not_arrive(address: str, client: Client) -> None:
    direct = _post(f"{address[:-3]}{client.wire.path}", _request(client, [HELLO]))
    assert LEND.name in direct  # the grammar leaves it no other answer
    reply = _asked(address, client, [HELLO])
    assert not reply.calls and reply.text


def test_the_same_write_arrives_once_its_records_were_read(address: str, client: Client) -> None:
    reply = _asked(address, client, KNOWN)
    assert [(call.name, call.arguments) for call in reply.calls] == [(LEND.name, LEND.arguments)]


def test_a_write_against_what_was_read_does_not_arrive(address: str, client: Client) -> None:
    reply = _asked(address, client, OUT)
    assert not reply.calls and reply.text


def test_the_template_would_refuse_the_ledger_at_the_end(address: str) -> None:
    """So that the writes above arrive shows that it was placed elsewhere."""
    body = _request(Client(CHAT, False), KNOWN)
    late = {**body, "messages": [*body["messages"], body["messages"][0]]}
    with pytest.raises(urllib.error.HTTPError):
        _post(f"{address}/chat/completions", late)


def test_the_server_wants_its_key(address: str) -> None:
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(urllib.request.Request(f"{address}/chat/completions", b"{}"))
