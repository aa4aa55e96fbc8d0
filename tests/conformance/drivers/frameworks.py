"""The other agent frameworks, each with a scripted model behind its own model interface."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Any

from ledgeragent.journal import Journal
from ledgeragent.journal.recorder import Mode
from ledgeragent.types import Message, ToolCall
from tests.conformance.drivers.base import Driver, functions, tailed
from tests.conformance.scene import CURRENT, PREFIXES, Scene, watch
from tests.conformance.upstream import argument_text


class OpenAIAgents(Driver):
    """`LedgerRunner.run`."""

    name = "openai agents"
    libraries = ("agents",)
    prefixes = True
    tells = True
    asks_again = True

    def __init__(self, *, journal: Journal | None = None, mode: Mode = "enforce") -> None:
        super().__init__(journal=journal, mode=mode)
        from agents import Agent, ModelRetrySettings, ModelSettings, RunConfig, set_tracing_disabled

        from ledgeragent.adapters.openai_agents import LedgerRunner

        set_tracing_disabled(True)
        at_once: Any = {"initial_delay": 0.0, "jitter": False}
        again = ModelRetrySettings(max_retries=1, backoff=at_once, policy=lambda _: True)
        self.agents: dict[str, Any] = {
            prefix: Agent(
                name="support",
                tools=[agents_tool(function) for function in functions(prefix)],
                model=_agents_model(),
                model_settings=ModelSettings(retry=again),
            )
            for prefix in PREFIXES
        }
        self.runner = LedgerRunner("shop", watch=watch, journal=journal, mode=mode)
        # Without this an unknown tool ends the run: a choice of the SDK's users, not ours.
        self.config = RunConfig(tool_not_found_behavior="return_error_to_model")

    @property
    def agent(self) -> Any:
        """The agent whose tools have the names of the current scene."""
        return self.agents[CURRENT.get().situation.prefix]

    async def play(self, scene: Scene) -> None:
        """Plays every turn of the scene."""
        from ledgeragent.adapters.openai_agents import map_history

        items: list[Any] = []
        for turn in scene.situation.turns:
            items = await self.invoke([*items, {"role": "user", "content": turn.says}])
        scene.transcript = list(map_history(items))

    async def invoke(self, items: list[Any]) -> list[Any]:
        """The items after one run."""
        result = await self.runner.run(self.agent, items, run_config=self.config)
        return result.to_input_list()


class OpenAIAgentsStreamed(OpenAIAgents):
    """`LedgerRunner.run_streamed`."""

    name = "openai agents, streamed"

    async def invoke(self, items: list[Any]) -> list[Any]:
        """The items after one run."""
        result = self.runner.run_streamed(self.agent, items, run_config=self.config)
        async for _ in result.stream_events():
            pass
        return result.to_input_list()


def agents_tool(function: Any) -> Any:
    """The shop's tool as the SDK's; the current scene runs it."""
    from agents import FunctionTool, default_tool_error_function

    async def invoke(context: Any, arguments: str) -> str:
        call = ToolCall(name=function["name"], arguments=json.loads(arguments))
        try:
            return await CURRENT.get().aexecute(call)
        except ConnectionError as problem:  # as the SDK's own function tools do
            return default_tool_error_function(context, problem)

    return FunctionTool(
        name=function["name"],
        description=function["description"],
        params_json_schema=function["parameters"],
        on_invoke_tool=invoke,
    )


def _agents_model() -> Any:
    from agents import Model, ModelResponse, Usage

    from ledgeragent.adapters.openai_agents import map_history
    from tests.adapters.agents_model import ScriptedModel, assistant_message, function_call

    def output(input: list[Any]) -> list[Any]:
        history, tail = tailed(input)
        reply = CURRENT.get().next(list(map_history(history)), tail["content"] if tail else "")
        items: list[Any] = [assistant_message(reply.text)] if reply.text else []
        calls = (function_call(c.name, argument_text(c), call_id=c.id) for c in reply.calls)
        return [*items, *calls]

    class Scripted(Model):
        async def get_response(self, system: Any, input: Any, *rest: Any, **where: Any) -> Any:
            return ModelResponse(output=output(input), usage=Usage(), response_id=None)

        async def stream_response(
            self, system: Any, input: Any, *rest: Any, **where: Any
        ) -> AsyncIterator[Any]:
            one = ScriptedModel([output(input)])
            async for event in one.stream_response(system, input, *rest, **where):
                yield event

    return Scripted()


class PydanticAI(Driver):
    """`Agent.run` with `LedgerCapability`."""

    name = "pydantic ai"
    libraries = ("pydantic_ai",)
    prefixes = True
    tells = True
    asks_again = True

    def __init__(self, *, journal: Journal | None = None, mode: Mode = "enforce") -> None:
        super().__init__(journal=journal, mode=mode)
        from pydantic_ai import Agent

        from ledgeragent.adapters.pydantic_ai import LedgerCapability

        capabilities = [LedgerCapability("shop", watch=watch, journal=journal, mode=mode)]
        self.agents: dict[str, Any] = {
            prefix: Agent(
                _pydantic_model(),
                tools=[pydantic_tool(function) for function in functions(prefix)],
                capabilities=capabilities,
            )
            for prefix in PREFIXES
        }

    @property
    def agent(self) -> Any:
        """The agent whose tools have the names of the current scene."""
        return self.agents[CURRENT.get().situation.prefix]

    async def play(self, scene: Scene) -> None:
        """Plays every turn of the scene."""
        from ledgeragent.adapters.pydantic_ai import map_history

        messages: list[Any] = []
        for turn in scene.situation.turns:
            messages = await self.invoke(turn.says, messages)
        scene.transcript = list(map_history(messages))

    async def invoke(self, says: str, history: list[Any]) -> list[Any]:
        """The messages after one run."""
        result = await self.agent.run(says, message_history=history)
        found: list[Any] = result.all_messages()
        return found


class PydanticAIStreamed(PydanticAI):
    """`Agent.run` with streamed replies."""

    name = "pydantic ai, streamed"

    async def invoke(self, says: str, history: list[Any]) -> list[Any]:
        """The messages after one run."""

        async def consume(context: Any, events: Any) -> None:
            async for _ in events:
                pass

        result = await self.agent.run(says, message_history=history, event_stream_handler=consume)
        found: list[Any] = result.all_messages()
        return found


class PydanticAINodes(PydanticAI):
    """`Agent.iter`, every node of the run streamed."""

    name = "pydantic ai, iter"

    async def invoke(self, says: str, history: list[Any]) -> list[Any]:
        """The messages after one run."""
        async with self.agent.iter(says, message_history=history) as run:
            async for node in run:
                if self.agent.is_model_request_node(node) or self.agent.is_call_tools_node(node):
                    async with node.stream(run.ctx) as events:
                        async for _ in events:
                            pass
        found: list[Any] = run.result.all_messages()
        return found


class PydanticAIRunStream(PydanticAI):
    """`Agent.run_stream`, which ends a run with the first words; then the customer says to go on."""

    name = "pydantic ai, run_stream"

    async def play(self, scene: Scene) -> None:
        """Plays every turn of the scene."""
        from ledgeragent.adapters.pydantic_ai import map_history

        messages: list[Any] = []
        played = 0
        for turn in scene.situation.turns:
            played += len(turn.steps)
            says = turn.says
            while len(scene.prompts) < played:
                messages = await self.invoke(says, messages)
                says = "Go on."
        scene.transcript = list(map_history(messages))

    async def invoke(self, says: str, history: list[Any]) -> list[Any]:
        """The messages after one run."""
        async with self.agent.run_stream(says, message_history=history) as result:
            async for _ in result.stream_text(debounce_by=None):
                pass
        found: list[Any] = result.all_messages()
        return found


def pydantic_tool(function: Any) -> Any:
    """The shop's tool as Pydantic AI's; the current scene runs it."""
    from pydantic_ai import ModelRetry, Tool

    async def run(**arguments: Any) -> str:
        call = ToolCall(name=function["name"], arguments=arguments)
        try:
            return await CURRENT.get().aexecute(call)
        except ConnectionError as problem:
            raise ModelRetry(str(problem)) from None

    return Tool.from_schema(
        run,
        name=function["name"],
        description=function["description"],
        json_schema=function["parameters"],
    )


def _pydantic_model() -> Any:
    from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
    from pydantic_ai.models.fallback import FallbackModel
    from pydantic_ai.models.function import DeltaToolCall, FunctionModel

    from ledgeragent.adapters.pydantic_ai import map_history

    def reply_to(messages: Sequence[Any]) -> Any:
        *history, last = messages
        parts, tail = tailed(last.parts)
        shown: list[Message] = list(map_history([*history, replace(last, parts=parts)]))
        return CURRENT.get().next(shown, tail.content if tail else "")

    def respond(messages: list[Any], info: Any) -> ModelResponse:
        reply = reply_to(messages)
        text = [TextPart(reply.text)] if reply.text else []
        calls = [ToolCallPart(c.name, argument_text(c), c.id) for c in reply.calls]
        return ModelResponse(parts=[*text, *calls])

    async def stream(messages: list[Any], info: Any) -> AsyncIterator[Any]:
        reply = reply_to(messages)
        if reply.text:
            yield reply.text
        for n, c in enumerate(reply.calls):
            yield {n: DeltaToolCall(c.name, argument_text(c), tool_call_id=c.id)}

    model = FunctionModel(respond, stream_function=stream)
    return FallbackModel(model, model, fallback_on=(ConnectionError,))
