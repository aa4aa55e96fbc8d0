"""LangChain, with a scripted model behind its own model interface."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ledgeragent.journal import Journal
from ledgeragent.journal.recorder import Mode
from ledgeragent.types import ToolCall
from tests.conformance.drivers.base import Driver, functions, tailed
from tests.conformance.scene import CURRENT, PREFIXES, Scene, watch
from tests.conformance.upstream import argument_text


class LangChain(Driver):
    """`create_agent` with `LedgerMiddleware`, run asynchronously."""

    name = "langchain"
    libraries = ("langchain", "langgraph")
    prefixes = True

    def __init__(self, *, journal: Journal | None = None, mode: Mode = "enforce") -> None:
        super().__init__(journal=journal, mode=mode)
        from langchain.agents import create_agent

        from ledgeragent.adapters.langchain import LedgerMiddleware

        guard: Any = LedgerMiddleware("shop", watch=watch, journal=journal, mode=mode)
        self.agents = {
            prefix: create_agent(
                _langchain_model(),
                [langchain_tool(function) for function in functions(prefix)],
                middleware=self.middleware(guard),
            )
            for prefix in PREFIXES
        }

    @property
    def agent(self) -> Any:
        """The agent whose tools have the names of the current scene."""
        return self.agents[CURRENT.get().situation.prefix]

    def middleware(self, guard: Any) -> list[Any]:
        """The agent's middleware."""
        return [guard]

    async def play(self, scene: Scene) -> None:
        """Plays every turn of the scene."""
        from ledgeragent.adapters.langchain import map_history

        messages: list[Any] = []
        for turn in scene.situation.turns:
            messages.append({"role": "user", "content": turn.says})
            messages = await self.invoke({"messages": messages})
        scene.transcript = list(map_history(messages))

    async def invoke(self, state: Any) -> list[Any]:
        """The messages after one run."""
        found: list[Any] = (await self.agent.ainvoke(state))["messages"]
        return found


class LangChainSync(LangChain):
    """The same agent run synchronously, its tools in threads."""

    name = "langchain, synchronous"

    async def invoke(self, state: Any) -> list[Any]:
        """The messages after one run."""
        scene = CURRENT.get()
        if scene.hang is not None:
            return await super().invoke(state)
        found: list[Any] = self.agent.invoke(state)["messages"]
        return found


class LangChainStreamed(LangChain):
    """The same agent with `astream`, its replies streamed by the model.

    LangChain completes half an argument text by itself, so none arrives.
    """

    name = "langchain, streamed"
    lacks = frozenset({"argument text"})

    async def invoke(self, state: Any) -> list[Any]:
        """The messages after one run."""
        found: list[Any] = []
        streamed = 0
        async for kind, part in self.agent.astream(state, stream_mode=["messages", "values"]):
            if kind == "values":
                found = part["messages"]
            else:
                streamed += type(part[0]).__name__ == "AIMessageChunk"
        assert streamed, "the model did not stream"
        return found


def langchain_tool(function: Any) -> Any:
    """The shop's tool as LangChain's; the current scene runs it."""
    from langchain_core.tools import StructuredTool

    name = function["name"]

    def run(**arguments: Any) -> str:
        return CURRENT.get().execute(ToolCall(name=name, arguments=arguments))

    async def arun(**arguments: Any) -> str:
        return await CURRENT.get().aexecute(ToolCall(name=name, arguments=arguments))

    return StructuredTool(
        name=name,
        description=function["description"],
        args_schema=function["parameters"],
        func=run,
        coroutine=arun,
    )


def _langchain_model() -> Any:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, AIMessageChunk
    from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

    from ledgeragent.adapters.langchain import map_history

    class Scripted(BaseChatModel):
        @property
        def _llm_type(self) -> str:
            return "scripted"

        def bind_tools(self, tools: Any, **options: Any) -> Any:
            return self

        def _generate(self, messages: Any, *args: Any, **options: Any) -> ChatResult:
            history, tail = tailed(messages)
            reply = CURRENT.get().next(list(map_history(history)), tail.text if tail else "")
            raw = [{"name": c.name, "args": dict(c.arguments), "id": c.id} for c in reply.calls]
            good = [r for r, c in zip(raw, reply.calls, strict=True) if c.malformed is None]
            bad = [
                {"name": c.name, "args": c.malformed, "id": c.id, "error": "no JSON"}
                for c in reply.calls
                if c.malformed is not None
            ]
            message = AIMessage(content=reply.text, tool_calls=good, invalid_tool_calls=bad)
            return ChatResult(generations=[ChatGeneration(message=message)])

        def _stream(self, messages: Any, *args: Any, **options: Any) -> Iterator[Any]:
            history, tail = tailed(messages)
            reply = CURRENT.get().next(list(map_history(history)), tail.text if tail else "")
            pieces = [AIMessageChunk(content=word) for word in re.findall(r"\S+\s*", reply.text)]
            for n, call in enumerate(reply.calls):
                text = argument_text(call)
                first = {"name": call.name, "args": text[:5], "id": call.id, "index": n}
                rest = {"name": None, "args": text[5:], "id": None, "index": n}
                pieces += (AIMessageChunk(content="", tool_call_chunks=[c]) for c in (first, rest))
            for piece in pieces:
                yield ChatGenerationChunk(message=piece)

    return Scripted()


class LangChainRetried(LangChain):
    """The same agent with middlewares that repeat tool calls and requests which fail."""

    name = "langchain, retried"
    retries = True
    asks_again = True

    def middleware(self, guard: Any) -> list[Any]:
        """The retries stand before the guard, which judges each attempt."""
        from langchain.agents.middleware import ModelRetryMiddleware, ToolRetryMiddleware

        at_once: Any = {"initial_delay": 0.0, "jitter": False, "on_failure": "continue"}
        return [ModelRetryMiddleware(**at_once), ToolRetryMiddleware(**at_once), guard]
