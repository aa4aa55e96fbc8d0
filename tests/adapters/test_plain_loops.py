"""The plain loops: their synchronous halves, histories, refusals, and turns that are cut short."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

from ledgeragent.adapters.common import UnguardableError
from ledgeragent.demo.shop.shop import Shop, tool_schemas
from ledgeragent.types import Json, ToolCall
from tests.conformance.drivers.base import FUNCTIONS
from tests.conformance.scene import Scene, Situation, check_valid
from tests.conformance.situations import SITUATIONS
from tests.conformance.upstream import Upstream, anthropic_message, chat_completion

MENDED = next(s for s in SITUATIONS if s.name.startswith("a write before any read"))
ANTHROPIC_TOOLS = [
    {"name": f["name"], "description": f["description"], "input_schema": f["parameters"]}
    for f in FUNCTIONS
]


@pytest.fixture
def upstream() -> Iterator[Upstream]:
    server = Upstream()
    yield server
    server.close()


@pytest.fixture
def scene(upstream: Upstream) -> Iterator[Scene]:
    made = Scene(MENDED)
    upstream.scenes[made.key] = made
    yield made
    made.close()


def openai_chat(**options: Any) -> Any:
    pytest.importorskip("openai", reason="openai is not installed")
    from ledgeragent.adapters.openai_chat import GuardedChat

    return GuardedChat("shop", **{"tools": tool_schemas(), **options})


def anthropic_chat(**options: Any) -> Any:
    pytest.importorskip("anthropic", reason="anthropic is not installed")
    from ledgeragent.adapters.anthropic import GuardedMessages

    return GuardedMessages("shop", **{"tools": ANTHROPIC_TOOLS, **options})


def test_openai_synchronously(upstream: Upstream, scene: Scene) -> None:
    chat = openai_chat(run=scene.execute, watch=scene.watch)
    from openai import OpenAI

    with OpenAI(api_key=scene.key, base_url=f"{upstream.url}/v1", max_retries=0) as client:
        chat.hear("Cancel G-1010.")
        while chat.step(client, model="scripted").tool_calls:
            pass
    assert scene.verdicts == MENDED.verdicts
    assert chat.messages[-1]["content"] == "Is there anything else?"


def test_anthropic_synchronously(upstream: Upstream, scene: Scene) -> None:
    chat = anthropic_chat(run=scene.execute, watch=scene.watch)
    from anthropic import Anthropic

    with Anthropic(api_key=scene.key, base_url=upstream.url, max_retries=0) as client:
        chat.hear("Cancel G-1010.")
        while chat.step(client, model="scripted", max_tokens=9).stop_reason == "tool_use":
            pass
    assert scene.verdicts == MENDED.verdicts
    assert chat.messages[-1]["role"] == "assistant"


def _reply(situation: Situation, number: int) -> Any:
    return [step.reply for turn in situation.turns for step in turn.steps][number]


@pytest.mark.parametrize("make", [openai_chat, anthropic_chat])
def test_a_history_is_taken_up(make: Any) -> None:
    with Shop() as shop:
        first = make(run=lambda call: shop.execute(call).content)
        wire = _wire(make)
        first.hear("Look up my order.")
        first.answer(wire(_reply(MENDED, 1)))
        first.answer(wire(_reply(MENDED, 3)))
        second = make(run=lambda call: shop.execute(call).content, history=first.messages)
        assert second.conversation.context() == first.conversation.context()
        second.hear("Cancel it.")
        second.answer(wire(_reply(MENDED, 2)))
        assert shop.snapshot()["orders"]["G-1010"]["status"] == "cancelled"


def _wire(make: Any) -> Any:
    if make is anthropic_chat:
        return anthropic_message
    return lambda reply: chat_completion(reply)["choices"][0]["message"]


@pytest.mark.parametrize("make", [openai_chat, anthropic_chat])
def test_a_turn_that_is_cut_short_leaves_a_valid_transcript(make: Any) -> None:
    async def never(call: ToolCall) -> Json:
        await asyncio.sleep(60)

    chat = make(run=never)
    chat.hear("Look.")

    async def cut() -> None:
        answering = asyncio.create_task(chat.aanswer(_wire(make)(_reply(MENDED, 1))))
        await asyncio.sleep(0)
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering

    asyncio.run(cut())
    chat.hear("Hello?")
    module = __import__(type(chat).__module__, fromlist=["map_history"])
    check_valid(list(module.map_history(chat.messages)))


def test_a_tool_that_openai_runs_is_refused() -> None:
    with pytest.raises(UnguardableError, match="web_search"):
        openai_chat(tools=[{"type": "web_search"}], run=print)


def test_a_tool_that_anthropic_runs_is_refused() -> None:
    tool = {"type": "web_search_20260101", "name": "web_search"}
    with pytest.raises(UnguardableError, match="web_search"):
        anthropic_chat(tools=[tool], run=print)


def test_servers_that_anthropic_asks_are_refused() -> None:
    with pytest.raises(UnguardableError, match="ledgeragent mcp"):
        anthropic_chat(run=print).step(_Anything(), mcp_servers=[{"url": "https://x"}])


@pytest.mark.parametrize("make", [openai_chat, anthropic_chat])
def test_a_streamed_reply_is_refused(make: Any) -> None:
    chat = make(run=print)
    with pytest.raises(UnguardableError, match="answer"):
        chat.step(_Anything(), stream=True)


class _Anything:
    """A client that must not be reached."""

    def __getattr__(self, name: str) -> _Anything:
        return self


def test_the_ledger_block_is_not_part_of_the_transcript() -> None:
    chat = anthropic_chat(run=print)
    chat.hear("Hi.")
    assert "<ledger>" in str(chat.prompt())
    assert "<ledger>" not in str(chat.messages)
    chat.answer({"content": [{"type": "text", "text": "Hello!"}]})
    assert chat.prompt()[-1]["role"] == "user"


def test_a_custom_tool_call_of_openai_is_never_executed() -> None:
    ran: list[ToolCall] = []
    chat = openai_chat(run=ran.append)
    call = {"id": "c1", "type": "custom", "custom": {"name": "cancel_order", "input": "G-1010"}}
    chat.answer({"role": "assistant", "content": None, "tool_calls": [call]})
    assert ran == []
    assert chat.messages[-1]["tool_call_id"] == "c1"
