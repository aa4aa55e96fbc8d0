"""What an answer took: the usage that a client reads is that of all the upstream calls behind it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from aiohttp import web
from opentelemetry.trace import SpanKind

from ledgeragent.types import Message, Reply
from tests.gateway.conftest import Client
from tests.gateway.recorded import Recorded
from tests.gateway.test_spans import ended, told
from tests.gateway.upstream import costing, sent
from tests.gateway.wires import CHAT, MESSAGES, Wire, sse
from tests.gateway.world import HELLO, KNOWN, LONG, SAY, WRITE, Answer, run, world

Usage = Mapping[str, Any]

USAGES: dict[str, tuple[Usage, Usage, Usage]] = {
    "chat": (
        {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": None},
            "completion_tokens_details": {"reasoning_tokens": 3},
            "cost": 0.5,
            "service_tier": "default",
        },
        {
            "prompt_tokens": 130,
            "completion_tokens": 7,
            "total_tokens": 137,
            "prompt_tokens_details": {"cached_tokens": 100, "audio_tokens": 2},
            "cost": 0.25,
            "is_byok": False,
        },
        {
            "prompt_tokens": 230,
            "completion_tokens": 27,
            "total_tokens": 257,
            "prompt_tokens_details": {"cached_tokens": 164, "audio_tokens": 2},
            "completion_tokens_details": {"reasoning_tokens": 3},
            "cost": 0.75,
            "service_tier": "default",
            "is_byok": False,
        },
    ),
    "messages": (
        {
            "input_tokens": 10,
            "cache_creation_input_tokens": 90,
            "cache_read_input_tokens": 0,
            "cache_creation": {"ephemeral_5m_input_tokens": 90, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 20,
            "server_tool_use": None,
            "service_tier": "standard",
        },
        {
            "input_tokens": 40,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 90,
            "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 7,
            "server_tool_use": None,
            "service_tier": "standard",
        },
        {
            "input_tokens": 50,
            "cache_creation_input_tokens": 90,
            "cache_read_input_tokens": 90,
            "cache_creation": {"ephemeral_5m_input_tokens": 90, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 27,
            "server_tool_use": None,
            "service_tier": "standard",
        },
    ),
    "responses": (
        {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 64},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 3},
            "total_tokens": 120,
        },
        {
            "input_tokens": 130,
            "input_tokens_details": {"cached_tokens": 100},
            "output_tokens": 7,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 137,
        },
        {
            "input_tokens": 230,
            "input_tokens_details": {"cached_tokens": 164},
            "output_tokens": 27,
            "output_tokens_details": {"reasoning_tokens": 3},
            "total_tokens": 257,
        },
    ),
}
"""By format: what a first call reports, what a second one does, and what both are together."""

ENDS: dict[str, tuple[Sequence[Message], Reply, Reply]] = {
    "an answer": (KNOWN, LONG, SAY),
    "an allowed call": (KNOWN, LONG, WRITE),
    "a refusal": (KNOWN, LONG, LONG),
    "silence": ((HELLO,), WRITE, Reply()),
}


def read(wire: Wire, answer: Answer) -> Any:
    """The usage as a client of this format reads it; None if there is none."""
    if answer.body is not None:
        return answer.body.get("usage")
    if wire is CHAT:
        reports = [e["usage"] for e in answer.events if e != "[DONE]" and e.get("usage")]
        assert len(reports) <= 1
        return reports[0] if reports else None
    if wire.name == "responses":
        return answer.events[-1]["response"].get("usage")
    (begun,) = (e["message"] for e in answer.events if e["type"] == "message_start")
    (done,) = (e for e in answer.events if e["type"] == "message_delta")
    if "usage" not in begun and "usage" not in done:
        return None
    return {**begun.get("usage", {}), **done.get("usage", {})}


@pytest.mark.parametrize("end", ENDS)
def test_all_calls_of_an_answer_are_counted(client: Client, end: str) -> None:
    one, other, both = USAGES[client.wire.name]
    history, first, second = ENDS[end]

    async def scenario() -> None:
        async with world(costing(first, one), costing(second, other)) as w:
            got = await client.ask(w, *history)
            assert read(client.wire, got) == both
            assert len(w.upstream.asked) == 2

    run(scenario())


def test_three_calls(client: Client) -> None:
    one, other, both = USAGES[client.wire.name]

    async def scenario() -> None:
        script = [costing(LONG, one), costing(LONG, other), costing(SAY, one)]
        async with world(*script, max_revisions=2) as w:
            got = read(client.wire, await client.ask(w, *KNOWN))
            counts = [name for name, value in one.items() if isinstance(value, int)]
            assert counts
            assert {n: got[n] for n in counts} == {n: both[n] + one[n] for n in counts}

    run(scenario())


def test_one_call_is_told_as_it_was(client: Client) -> None:
    one = USAGES[client.wire.name][0]

    async def scenario() -> None:
        async with world(costing(SAY, one), costing(LONG, one), max_revisions=0) as w:
            for _ in range(2):
                assert read(client.wire, await client.ask(w, *KNOWN)) == one

    run(scenario())


@pytest.mark.parametrize("revised", [False, True])
def test_where_upstream_tells_none_there_is_none(client: Client, revised: bool) -> None:
    async def scenario() -> None:
        script = [costing(LONG, None), costing(SAY, None)]
        async with world(*script[not revised :]) as w:
            got = await client.ask(w, *KNOWN)
            assert got.reply is not None
            assert got.reply.text.endswith(SAY.text)
            assert read(client.wire, got) is None

    run(scenario())


@pytest.mark.parametrize("last", [False, True])
def test_a_call_that_tells_none_takes_nothing_away(client: Client, last: bool) -> None:
    one = USAGES[client.wire.name][0]

    async def scenario() -> None:
        told = (one, None) if last else (None, one)
        async with world(costing(LONG, told[0]), costing(SAY, told[1])) as w:
            assert read(client.wire, await client.ask(w, *KNOWN)) == one

    run(scenario())


def test_what_is_no_count_is_not_added(client: Client) -> None:
    """Numbers past all counting, and members that change their kind, leave an answer that is JSON."""
    odd: Usage = {"output_tokens": 1e308, "total_tokens": 10**400, "a": {"b": 1}, "c": [1], "d": 1}
    other: Usage = {"output_tokens": 1e308, "total_tokens": 10**400, "a": 5, "c": [2], "d": {}}

    async def scenario() -> None:
        async with world(costing(LONG, odd), costing(SAY, other)) as w:
            assert read(client.wire, await client.ask(w, *KNOWN)) == other

    run(scenario())


def test_counts_that_grow_while_a_reply_streams() -> None:
    """Some upstreams tell with every chunk what the reply has taken so far."""

    def growing(reply: Reply) -> Any:
        async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
            pieces = []
            for number, event in enumerate(wire.events(reply, "r")[:-1], 1):
                chunk = event.decode().removeprefix("data: ").strip()
                usage = f'"usage":{{"prompt_tokens":10,"completion_tokens":{number}}}'
                pieces.append(sse(f"{chunk[:-1]},{usage}}}"))
            return await sent(request, [*pieces, sse("[DONE]")])

        return respond

    async def scenario() -> None:
        chunks = [len(CHAT.events(reply, "r")) - 1 for reply in (LONG, SAY)]
        async with world(growing(LONG), growing(SAY), growing(SAY)) as w:
            got = await w.ask(CHAT, KNOWN, stream=True)
            assert read(CHAT, got) == {"prompt_tokens": 20, "completion_tokens": sum(chunks)}
            got = await w.ask(CHAT, KNOWN, stream=True)
            assert read(CHAT, got) == {"prompt_tokens": 10, "completion_tokens": chunks[1]}

    run(scenario())


def test_counts_that_the_end_of_a_message_tells_again() -> None:
    """Of what its beginning told already, the input above all."""
    one, other, both = USAGES["messages"]

    def repeating(reply: Reply, usage: Usage) -> Any:
        async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
            *most, end, stop = wire.events(reply, "r")
            short = '"usage": {"output_tokens": 2}'
            assert short in end.decode()
            whole = end.decode().replace(short, f'"usage": {json.dumps(usage)}')
            return await sent(request, [*most, whole.encode(), stop])

        return respond

    async def scenario() -> None:
        async with world(repeating(LONG, one), repeating(SAY, other)) as w:
            assert read(MESSAGES, await w.ask(MESSAGES, KNOWN, stream=True)) == both

    run(scenario())


def test_spans_tell_of_each_call_what_the_client_is_told_of_all(client: Client) -> None:
    one, other, _ = USAGES[client.wire.name]

    async def scenario() -> None:
        kept = Recorded()
        async with world(costing(LONG, one), costing(SAY, other), spans=kept.spans) as w:
            got = read(client.wire, await client.ask(w, *KNOWN))
            await ended(kept)
        calls = [told(span) for span in kept.of(SpanKind.CLIENT)]
        spent = {
            kind: sum(call[f"gen_ai.usage.{kind}_tokens"] for call in calls)
            for kind in ("input", "output")
        }
        beside = ("cache_creation_input_tokens", "cache_read_input_tokens")
        taken = got.get("prompt_tokens", got.get("input_tokens"))
        assert spent == {
            "input": taken + sum(got.get(name, 0) for name in beside),
            "output": got.get("completion_tokens", got.get("output_tokens")),
        }

    run(scenario())
