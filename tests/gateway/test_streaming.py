"""What a streaming client gets, and when: text and reads at once, writes once they are judged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ledgeragent.gateway.dialects.chat import ChatStream
from ledgeragent.gateway.dialects.messages import MessagesStream
from ledgeragent.gateway.dialects.reading import reading
from ledgeragent.gateway.dialects.responses import ResponsesStream
from ledgeragent.gateway.errors import BadReplyError
from ledgeragent.gateway.sse import EventParser, ServerEvent
from ledgeragent.types import Reply
from tests.gateway.upstream import stepwise
from tests.gateway.wires import Wire, sse
from tests.gateway.world import HELLO, KNOWN, MIXED, TOOLS, World, run, world
from tests.lending.domain import GET_BOOK, LEND

TALK = Reply(text="abcdef", calls=(GET_BOOK, LEND))


async def events(w: World, wire: Wire, body: dict[str, Any]) -> AsyncIterator[str]:
    async with w.http.post(f"{w.url}{wire.path}", data=json.dumps(body)) as response:
        rest = b""
        async for chunk in response.content.iter_any():
            *blocks, rest = (rest + chunk).split(b"\n\n")
            for block in blocks:
                yield block.decode()


def test_text_and_reads_pass_before_the_upstream_goes_on(wire: Wire) -> None:
    """Each event is released only when the client has everything that may follow from the last."""

    async def scenario() -> None:
        steps = asyncio.Semaphore(0)
        async with world(stepwise(TALK, steps)) as w:
            got = events(w, wire, wire.request(KNOWN, TOOLS, True))
            seen: list[str] = []

            async def until(text: str) -> None:
                while not any(text in block for block in seen):
                    pull = asyncio.ensure_future(anext(got))
                    while not pull.done():
                        assert not any("lend_book" in block for block in seen)
                        steps.release()
                        await asyncio.wait([pull], timeout=0.05)
                    seen.append(pull.result())

            await until("abc")
            assert not any("def" in block for block in seen)
            await until("get_book")
            assert not any("lend_book" in block for block in seen)
            total = len(wire.events(TALK, "resp_slow"))
            for _ in range(total):
                steps.release()
            seen += [block async for block in got]
            writes = [n for n, block in enumerate(seen) if "lend_book" in block]
            verdict = next(n for n, block in enumerate(seen) if block.startswith(": "))
            assert writes
            assert min(writes) == verdict

    run(scenario())


def test_a_held_write_is_released_only_by_the_end(wire: Wire) -> None:
    async def scenario() -> None:
        steps = asyncio.Semaphore(0)
        async with world(stepwise(MIXED, steps)) as w:
            total = len(wire.events(MIXED, "resp_slow"))
            body = wire.request(KNOWN, TOOLS, True)
            for _ in range(total - 1):
                steps.release()
            async with w.http.post(f"{w.url}{wire.path}", data=json.dumps(body)) as response:
                early = b""
                while b"get_book" not in early:
                    early += await response.content.readany()
                await asyncio.sleep(0.05)
                early += response.content.read_nowait()
                assert b"lend_book" not in early
                steps.release()
                steps.release()
                late = await response.content.read()
                assert b"lend_book" in late

    run(scenario())


def test_revised_text_joins_one_answer(wire: Wire) -> None:
    async def scenario() -> None:
        first = Reply(text="One.", calls=(LEND,))
        async with world(first, Reply(text="Two.")) as w:
            got = await w.ask(wire, (HELLO,), stream=True)
            assert got.reply == Reply(text="One.\n\nTwo.")
            again = await w.ask(wire, (HELLO,), stream=False) if w.upstream.script else None
            assert again is None

    run(scenario())


def feed(stream: Any, *data: Any) -> list[ServerEvent]:
    with reading():
        return [out for item in data for out in stream.feed(ServerEvent("", item))]


def test_chat_calls_that_share_an_index_are_two_calls() -> None:
    stream = ChatStream(frozenset({"get_book"}))

    def part(id: str, name: str) -> dict[str, Any]:
        function = {"name": name, "arguments": "{}"}
        delta = {"tool_calls": [{"index": 0, "id": id, "function": function}]}
        return {"choices": [{"index": 0, "delta": delta}]}

    feed(stream, part("a", "get_book"), part("b", "lend_book"))
    feed(stream, {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    assert [(c.id, c.name) for c in stream.reply().reply.calls] == [
        ("a", "get_book"),
        ("b", "lend_book"),
    ]


@pytest.mark.parametrize(
    "delta",
    [
        {"function_call": {"name": "lend_book"}},
        {"tool_calls": [{"index": 0, "type": "custom", "custom": {"name": "x"}}]},
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": 3}}]},
        {"tool_calls": 3},
        {"tool_calls": [3]},
    ],
)
def test_chat_deltas_that_cannot_be_judged(delta: Any) -> None:
    with pytest.raises(BadReplyError):
        feed(ChatStream(frozenset()), {"choices": [{"index": 0, "delta": delta}]})


def test_chat_call_renamed_under_way() -> None:
    stream = ChatStream(frozenset({"get"}))
    first = {"index": 0, "id": "a", "function": {"name": "get", "arguments": ""}}
    more = {"index": 0, "function": {"name": "_rid_of"}}
    with pytest.raises(BadReplyError):
        feed(
            stream,
            {"choices": [{"index": 0, "delta": {"tool_calls": [first]}}]},
            {"choices": [{"index": 0, "delta": {"tool_calls": [more]}}]},
        )


def test_messages_block_that_ran_upstream() -> None:
    block = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    with pytest.raises(BadReplyError):
        feed(
            MessagesStream(frozenset()),
            {"type": "content_block_start", "index": 0, "content_block": block},
        )


def test_messages_thinking_passes() -> None:
    stream = MessagesStream(frozenset())
    out = feed(
        stream,
        {
            "type": "content_block_start",
            "index": 0,
            "content_block": {"type": "thinking", "thinking": ""},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "thinking_delta", "thinking": "h"},
        },
        {
            "type": "content_block_delta",
            "index": 0,
            "delta": {"type": "signature_delta", "signature": "s"},
        },
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}},
    )
    assert len(out) == 4
    assert stream.reply().raw == [{"type": "thinking", "thinking": "h", "signature": "s"}]


def test_responses_item_that_turns_into_a_write() -> None:
    stream = ResponsesStream(frozenset({"get_book"}))
    read = {"type": "function_call", "call_id": "a", "name": "get_book", "arguments": "{}"}
    with pytest.raises(BadReplyError):
        feed(
            stream,
            {"type": "response.output_item.added", "output_index": 0, "item": read},
            {
                "type": "response.output_item.done",
                "output_index": 0,
                "item": {**read, "name": "lend_book"},
            },
        )


def test_responses_item_that_ran_upstream() -> None:
    item = {"type": "mcp_call", "name": "lend_book"}
    with pytest.raises(BadReplyError):
        feed(
            ResponsesStream(frozenset()),
            {"type": "response.output_item.added", "output_index": 0, "item": item},
        )


def test_parser_skips_comments_and_unfinished_events() -> None:
    parser = EventParser()
    data = b": ping\n\n" + sse({"a": 1}, "x") + b"data: {"
    found = [event for n in range(len(data)) for event in parser.feed(data[n : n + 1])]
    assert found == [ServerEvent("x", {"a": 1})]
