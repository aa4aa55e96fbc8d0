"""Agents as their frameworks make them, led to the gateway by nothing but the environment.

Their tools are the shop's. The scripted model refuses what a provider would; scenes are the suite's.
"""

from __future__ import annotations

import asyncio
import contextvars
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.adapters import anthropic as anthropic_loop
from ledgeragent.adapters import langchain as langchain_adapter
from ledgeragent.adapters import openai_agents as agents_adapter
from ledgeragent.adapters import openai_chat as chat_loop
from ledgeragent.adapters import pydantic_ai as pydantic_adapter
from ledgeragent.demo.shop.shop import tool_schemas
from ledgeragent.gateway.dialects.chat import ChatDialect
from ledgeragent.gateway.dialects.messages import MessagesDialect
from ledgeragent.gateway.dialects.responses import ResponsesDialect
from ledgeragent.journal import Journal, open_store, read
from ledgeragent.packs import load_domain
from ledgeragent.types import Message, ToolCall
from tests.conformance.drivers.base import FUNCTIONS
from tests.conformance.drivers.frameworks import agents_tool, pydantic_tool
from tests.conformance.drivers.gateway import Serving, Shown, distinct
from tests.conformance.drivers.langchain import langchain_tool
from tests.conformance.scene import CURRENT, Scene, Situation
from tests.conformance.situations import SITUATIONS
from tests.conformance.test_conformance import verify
from tests.conformance.upstream import Upstream
from tests.gateway.wires import WIRES

PLAYED = (
    "a write before any read, revised, then accepted",
    "a write that policy forbids",
    "a good and a bad write in one reply",
    "a wrong amount, mended from the feedback",
    "several turns: what was read is still known",
)
# The clients that frameworks make are theirs to close.
pytestmark = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
READERS = {reader.path: reader for reader in (ChatDialect(), MessagesDialect(), ResponsesDialect())}


class Provider(Upstream):
    """The scripted model in every format, whatever else the frameworks send with a request."""

    def respond(self, path: str, headers: Mapping[str, str], body: Any) -> tuple[str, bytes]:
        """The scene's next reply, and its content type."""
        key = headers["x-api-key"] or headers["Authorization"].removeprefix("Bearer ")
        scene = self.scenes[key]
        shown = READERS[path].conversation(body).messages
        tail = _last_text(body["messages"] if "messages" in body else body["input"])
        reply = scene.next(distinct(shown), tail)
        wire = next(wire for wire in WIRES if wire.path == path)
        name = f"resp_{scene.key}_{len(scene.prompts)}"
        if body.get("stream"):
            return "text/event-stream", b"".join(wire.events(reply, name))
        return "application/json", json.dumps(wire.answer(reply, name)).encode()


def _last_text(messages: Sequence[Any]) -> str:
    content = messages[-1]["content"]
    text: str = content if isinstance(content, str) else content[-1]["text"]
    return text


class Agent(ABC):
    """One agent in one conversation. `stream` makes its framework stream."""

    def __init__(self, stream: bool) -> None:
        self.stream = stream

    @abstractmethod
    async def hear(self, text: str) -> None:
        """One turn of the customer, until the agent has answered."""

    @abstractmethod
    def transcript(self) -> Iterable[Message]:
        """The whole conversation as the framework keeps it."""


class OpenAIAgents(Agent):
    """The OpenAI Agents SDK, which asks by Responses."""

    def __init__(self, stream: bool) -> None:
        import agents

        super().__init__(stream)
        tools: Any = [agents_tool(function) for function in FUNCTIONS]
        self.agent = agents.Agent(name="support", tools=tools)
        self.items: list[Any] = []

    async def hear(self, text: str) -> None:
        from agents import Runner

        items = [*self.items, {"role": "user", "content": text}]
        if not self.stream:
            self.items = (await Runner.run(self.agent, items)).to_input_list()
            return
        run = Runner.run_streamed(self.agent, items)
        async for _ in run.stream_events():
            pass
        self.items = run.to_input_list()

    def transcript(self) -> Iterable[Message]:
        return agents_adapter.map_history(self.items)


class PydanticAI(Agent):
    """Pydantic AI."""

    model = "openai-chat:gpt-4.1"

    def __init__(self, stream: bool) -> None:
        import pydantic_ai

        super().__init__(stream)
        tools = [pydantic_tool(function) for function in FUNCTIONS]
        self.agent: Any = pydantic_ai.Agent(self.model, tools=tools)
        self.messages: list[Any] = []

    async def hear(self, text: str) -> None:
        handler = _consume if self.stream else None
        result = await self.agent.run(
            text, message_history=self.messages, event_stream_handler=handler
        )
        self.messages = result.all_messages()

    def transcript(self) -> Iterable[Message]:
        return pydantic_adapter.map_history(self.messages)


async def _consume(context: Any, events: Any) -> None:
    async for _ in events:
        pass


class PydanticAIResponses(PydanticAI):
    """Pydantic AI, asking by Responses."""

    model = "openai-responses:gpt-4.1"


class PydanticAIAnthropic(PydanticAI):
    """Pydantic AI, asking by Messages."""

    model = "anthropic:claude-scripted"


class LangChain(Agent):
    """LangChain's `create_agent`, which runs on LangGraph."""

    model = "openai:gpt-4.1"
    options: Mapping[str, Any] = {}

    def __init__(self, stream: bool) -> None:
        from langchain.agents import create_agent
        from langchain.chat_models import init_chat_model

        super().__init__(stream)
        tools = [langchain_tool(function) for function in FUNCTIONS]
        self.agent: Any = create_agent(init_chat_model(self.model, **self.options), tools)
        self.messages: list[Any] = []

    async def hear(self, text: str) -> None:
        state = {"messages": [*self.messages, {"role": "user", "content": text}]}
        if not self.stream:
            self.messages = (await self.agent.ainvoke(state))["messages"]
            return
        async for kind, part in self.agent.astream(state, stream_mode=["messages", "values"]):
            if kind == "values":
                self.messages = part["messages"]

    def transcript(self) -> Iterable[Message]:
        return langchain_adapter.map_history(self.messages)


class LangChainResponses(LangChain):
    """The same, asking by Responses."""

    options: Mapping[str, Any] = {"use_responses_api": True}


class LangChainAnthropic(LangChain):
    """The same, asking by Messages."""

    model = "anthropic:claude-scripted"


class OpenAIChat(Agent):
    """A loop around the client of `openai`, on Chat Completions."""

    def __init__(self, stream: bool) -> None:
        from openai import AsyncOpenAI

        super().__init__(stream)
        self.client = AsyncOpenAI()
        self.messages: list[Any] = []

    async def hear(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})
        while (said := await self.ask()).tool_calls:
            for call in said.tool_calls:
                content = await execute(call.function.name, call.function.arguments)
                answer = {"role": "tool", "tool_call_id": call.id, "content": content}
                self.messages.append(answer)

    async def ask(self) -> Any:
        """The model's reply, which stands in the messages from then on."""
        asked: Any = {"model": "gpt-4.1", "messages": self.messages, "tools": tool_schemas()}
        if self.stream:
            async with self.client.chat.completions.stream(**asked) as stream:
                answer: Any = await stream.get_final_completion()
        else:
            answer = await self.client.chat.completions.create(**asked)
        said = answer.choices[0].message
        self.messages.append(said.model_dump(exclude_none=True, include=SENT_BACK))
        return said

    def transcript(self) -> Iterable[Message]:
        return chat_loop.map_history(self.messages)


SENT_BACK = {
    "role": True,
    "content": True,
    "tool_calls": {"__all__": {"id": True, "type": True, "function": {"name", "arguments"}}},
}


class OpenAIResponses(Agent):
    """A loop around the client of `openai`, on Responses."""

    def __init__(self, stream: bool) -> None:
        from openai import AsyncOpenAI

        super().__init__(stream)
        self.client = AsyncOpenAI()
        self.tools: Any = [{"type": "function", **function} for function in FUNCTIONS]
        self.items: list[Any] = []

    async def hear(self, text: str) -> None:
        self.items.append({"role": "user", "content": text})
        while called := [item for item in await self.ask() if item.type == "function_call"]:
            for item in called:
                output = await execute(item.name, item.arguments)
                answer = {"type": "function_call_output", "call_id": item.call_id}
                self.items.append({**answer, "output": output})

    async def ask(self) -> Sequence[Any]:
        """The items of the model's reply, which stand in the input from then on."""
        asked: Any = {"model": "gpt-4.1", "input": self.items, "tools": self.tools}
        if self.stream:
            async with self.client.responses.stream(**asked) as stream:
                answer: Any = await stream.get_final_response()
        else:
            answer = await self.client.responses.create(**asked)
        self.items += [item.model_dump(exclude_none=True) for item in answer.output]
        found: Sequence[Any] = answer.output
        return found

    def transcript(self) -> Iterable[Message]:
        return agents_adapter.map_history(self.items)


class Anthropic(Agent):
    """A loop around the client of `anthropic`."""

    def __init__(self, stream: bool) -> None:
        from anthropic import AsyncAnthropic

        super().__init__(stream)
        self.client = AsyncAnthropic()
        self.tools: Any = [
            {"name": f["name"], "description": f["description"], "input_schema": f["parameters"]}
            for f in FUNCTIONS
        ]
        self.messages: list[Any] = []

    async def hear(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})
        while (said := await self.ask()).stop_reason == "tool_use":
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": block.id,
                    "content": await execute(block.name, json.dumps(block.input)),
                }
                for block in said.content
                if block.type == "tool_use"
            ]
            self.messages.append({"role": "user", "content": results})

    async def ask(self) -> Any:
        """The model's reply, which stands in the messages from then on."""
        asked: Any = {"model": "claude", "max_tokens": 100, "tools": self.tools}
        if self.stream:
            async with self.client.messages.stream(**asked, messages=self.messages) as stream:
                said: Any = await stream.get_final_message()
        else:
            said = await self.client.messages.create(**asked, messages=self.messages)
        content = [block.model_dump(exclude_none=True) for block in said.content]
        self.messages.append({"role": "assistant", "content": content})
        return said

    def transcript(self) -> Iterable[Message]:
        return anthropic_loop.map_history(self.messages)


async def execute(name: str, arguments: str) -> str:
    """What the shop's tool answers in the scene that is played."""
    return await CURRENT.get().aexecute(ToolCall.parse(name=name, arguments=arguments))


AGENTS: tuple[type[Agent], ...] = (
    OpenAIAgents,
    PydanticAI,
    PydanticAIResponses,
    PydanticAIAnthropic,
    LangChain,
    LangChainResponses,
    LangChainAnthropic,
    OpenAIChat,
    OpenAIResponses,
    Anthropic,
)


@dataclass(frozen=True)
class Stage:
    """The provider, the gateway in front of it, its journal, and the loop that agents run in."""

    provider: Provider
    serving: Serving
    journal: Path
    runner: asyncio.Runner

    def environment(self, key: str) -> dict[str, str]:
        """All that an agent is told."""
        return {
            "OPENAI_BASE_URL": f"{self.serving.url}/v1",
            "OPENAI_API_KEY": key,
            "ANTHROPIC_BASE_URL": self.serving.url,
            "ANTHROPIC_API_KEY": key,
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        }

    def judged(self) -> list[list[tuple[str, str]]]:
        """Tool and decision of every judged call, by reply."""
        store = open_store(self.journal)
        records = [record for record in read(store) if record["event"] == "judged"]
        store.close()
        return [
            [(v["call"]["name"], v["decision"]) for v in record["verdicts"]] for record in records
        ]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    file = tmp_path_factory.mktemp("gateway") / "journal.jsonl"
    journal = Journal(open_store(file, writable=True), load_domain("shop"))
    provider = Provider()
    serving = Serving(provider.url, journal)
    with asyncio.Runner() as runner:
        yield Stage(provider, serving, file, runner)
        runner.run(hang_up())
    serving.close()
    provider.close()
    journal.close()


async def hang_up() -> None:
    """Closes the connections that frameworks keep for as long as their process lives."""
    loop: Any = asyncio.get_running_loop()
    for transport in list(loop._transports.values()):
        transport.abort()
    await asyncio.sleep(0.01)


async def converse(agent: Agent, scene: Scene) -> None:
    """Plays every turn; a customer whose wish was refused goes on, so that the model can."""
    played = 0
    for turn in scene.situation.turns:
        played += len(turn.steps)
        says = turn.says
        while len(scene.prompts) < played:
            await agent.hear(says)
            says = "Go on."


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("make", AGENTS, ids=lambda make: make.__name__)
@pytest.mark.parametrize(
    "situation", [s for s in SITUATIONS if s.name in PLAYED], ids=lambda s: s.name
)
def test_an_unmodified_agent(
    stage: Stage,
    situation: Situation,
    make: type[Agent],
    stream: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = Scene(situation, key=f"{make.__name__}-{stream}-{situation.name}")
    stage.provider.scenes[scene.key] = scene
    for name, value in stage.environment(scene.key).items():
        monkeypatch.setenv(name, value)
    before = len(stage.judged())
    context = contextvars.copy_context()
    context.run(CURRENT.set, scene)
    agent = make(stream)
    stage.runner.run(converse(agent, scene), context=context)
    scene.close()
    scene.noted = stage.judged()[before:]
    scene.transcript = distinct(list(agent.transcript()))
    scene.feedback = scene.tails + [str(m) for prompt in scene.prompts for m in prompt]
    scene.ledger = Shown.read(scene.tails[-1])
    verify(scene)


def test_every_situation_is_there() -> None:
    assert {s.name for s in SITUATIONS} >= set(PLAYED)
