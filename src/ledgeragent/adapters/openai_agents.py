"""OpenAI Agents SDK: a runner that guards every agent of a run, handoffs included.

    result = await LedgerRunner("shop").run(agent, "Cancel my order, please.")

Each run works on copies of its agents: their tools ask the run's own conversation, and their model
is wrapped, since only the model sees a reply whole.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from ledgeragent.adapters.common import Policy, PolicyLike, Undecided, refuse, require
from ledgeragent.gate import NOT_EXECUTED
from ledgeragent.journal.recorder import Mode
from ledgeragent.session.conversation import Conversation, Watch
from ledgeragent.session.ticket import refusal
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

require("openai-agents", "0.24", "openai-agents")

from agents import (  # noqa: E402
    Agent,
    FunctionTool,
    FunctionToolResult,
    Handoff,
    Model,
    ModelProvider,
    ModelResponse,
    RunConfig,
    RunContextWrapper,
    Runner,
    RunResult,
    RunResultStreaming,
    RunState,
    ToolsToFinalOutputResult,
)
from agents.tool_context import ToolContext  # noqa: E402

if TYPE_CHECKING:
    from ledgeragent.journal import Journal

Invoke: TypeAlias = Callable[[ToolContext[Any], str], Awaitable[Any]]

_FAILED = "An error occurred while running the tool."
"""What the SDK says, unless told otherwise, in the place of a tool that raised whatever it was."""

_HISTORY = ("previous_response_id", "conversation_id", "prompt")


class LedgerRunner:
    """Runs agents under one policy. It holds no conversation, so one object may serve many runs.

    All that happens is written to `journal`. In mode "shadow" everything is judged and recorded, and
    nothing changed.
    """

    def __init__(
        self,
        policy: PolicyLike,
        *,
        watch: Watch | None = None,
        journal: Journal | None = None,
        mode: Mode = "enforce",
        undecided: Undecided = "block",
    ) -> None:
        self._guard = Policy(policy, watch, journal, mode, undecided)

    async def run(self, agent: Agent[Any], input: Any, **options: Any) -> RunResult:
        """As `Runner.run`, guarded."""
        return await Runner.run(*self._guarded(agent, input, options), **options)

    def run_sync(self, agent: Agent[Any], input: Any, **options: Any) -> RunResult:
        """As `Runner.run_sync`, guarded."""
        return Runner.run_sync(*self._guarded(agent, input, options), **options)

    def run_streamed(self, agent: Agent[Any], input: Any, **options: Any) -> RunResultStreaming:
        """As `Runner.run_streamed`, guarded. Tools run once the whole reply is there and judged."""
        return Runner.run_streamed(*self._guarded(agent, input, options), **options)

    def _guarded(
        self, agent: Agent[Any], input: Any, options: dict[str, Any]
    ) -> tuple[Agent[Any], Any]:
        if isinstance(input, RunState) and not self._guard.shadow:
            raise refuse("a run that resumes from a RunState", "start a new one with its history")
        run = _GuardedRun(self._guard)
        config = options.get("run_config") or RunConfig()
        options["run_config"] = run.config(config)
        return run.agent(agent), input


class _GuardedRun:
    """One run: its conversation, and its copies of the agents that take part in it."""

    def __init__(self, guard: Policy) -> None:
        self.guard = guard
        self.conversation: Conversation | None = None
        self._agents: dict[int, tuple[Agent[Any], Agent[Any]]] = {}

    def config(self, config: RunConfig) -> RunConfig:
        """The run's configuration with its models wrapped."""
        model = self.model(config.model) if isinstance(config.model, Model) else config.model
        provider = _GuardedProvider(config.model_provider, self)
        return dataclasses.replace(config, model=model, model_provider=provider)

    def model(self, model: Model) -> Model:
        """The model, wrapped for this run: an agent that an earlier run returned has that run's."""
        return _GuardedModel(model.wrapped if isinstance(model, _GuardedModel) else model, self)

    def agent(self, agent: Agent[Any]) -> Agent[Any]:
        """The run's copy of an agent; UnguardableError if some tool of it would run unseen."""
        if id(agent) in self._agents:
            return self._agents[id(agent)][1]
        if agent.mcp_servers and not self.guard.shadow:
            raise refuse(
                f"agent {agent.name}: a tool of an MCP server",
                "put `ledgeragent mcp` before the server",
            )
        guarded = agent.clone(tools=[self._tool(tool) for tool in agent.tools])
        guarded.tool_use_behavior = self._behaviour(agent.tool_use_behavior)
        # The original is kept as well, so that its id isn't given to another agent meanwhile.
        self._agents[id(agent)] = agent, guarded
        if isinstance(agent.model, Model):
            guarded.model = self.model(agent.model)
        guarded.handoffs = [self._handoff(target) for target in agent.handoffs]
        return guarded

    def _behaviour(self, wanted: Any) -> Any:
        """What becomes of the tools' answers. A rejection is for the model, and ends no run."""
        if wanted == "run_llm_again" or isinstance(wanted, _Unrejected):
            return wanted
        return _Unrejected(wanted)

    def _handoff(self, target: Agent[Any] | Handoff[Any, Any]) -> Any:
        if isinstance(target, Agent):
            return self.agent(target)
        invoke: Callable[..., Awaitable[Agent[Any]]] = target.on_invoke_handoff

        async def guarded(context: Any, arguments: str) -> Agent[Any]:
            return self.agent(await invoke(context, arguments))

        return dataclasses.replace(target, on_invoke_handoff=guarded)

    def _tool(self, tool: Any) -> Any:
        name = self._name(tool)
        if not isinstance(tool, FunctionTool):
            return tool
        guarded = copy.copy(tool)
        invoke = tool.on_invoke_tool
        if isinstance(invoke, _GuardedInvoke):
            invoke = invoke.invoke
        guarded.on_invoke_tool = _GuardedInvoke(self, name, invoke)
        return guarded

    def _name(self, tool: Any) -> str:
        return str(getattr(tool, "name", "")) if self.guard.shadow else check_tool(tool)

    def told(self, input: Any, tools: Iterable[Any]) -> Conversation:
        """The run's conversation, told which tools this request offers."""
        names = [self._name(tool) for tool in tools]
        if self.conversation is None:
            self.conversation = self.guard.open(names, map_history(input))
        self.guard.offer(self.conversation, names)
        return self.conversation


class _GuardedInvoke:
    """A tool's function, asked only for calls that are allowed."""

    def __init__(self, run: _GuardedRun, name: str, invoke: Invoke) -> None:
        self.invoke = invoke
        self._run = run
        self._name = name

    async def __call__(self, context: ToolContext[Any], arguments: str) -> Any:
        conversation = self._run.conversation
        if conversation is None:
            return f"{NOT_EXECUTED}, because it was not judged."
        call = ToolCall.parse(name=self._name, arguments=arguments, id=context.tool_call_id)
        ticket = await conversation.atake(call)
        if not ticket.allowed:
            return refusal(ticket.verdict)
        with conversation.running(ticket):
            result = await self.invoke(context, arguments)
            content = getattr(result, "text", result)
            failed = isinstance(content, str) and content.startswith(_FAILED)
            conversation.observe(ticket, content, error=failed, lost=failed)
            return result


class _Unrejected:
    """What an agent makes of its tools' answers, asked only where none of them is a rejection."""

    def __init__(self, wanted: Any) -> None:
        self._wanted = wanted

    async def __call__(
        self, context: RunContextWrapper[Any], results: list[FunctionToolResult]
    ) -> ToolsToFinalOutputResult:
        if any(str(result.output).startswith(NOT_EXECUTED) for result in results):
            return ToolsToFinalOutputResult(is_final_output=False)
        if callable(self._wanted):
            decided: Any = self._wanted(context, results)
            if inspect.isawaitable(decided):
                decided = await decided
            return cast(ToolsToFinalOutputResult, decided)
        for result in results:
            if self._ends(result.tool):
                return ToolsToFinalOutputResult(is_final_output=True, final_output=result.output)
        return ToolsToFinalOutputResult(is_final_output=False)

    def _ends(self, tool: Any) -> bool:
        if self._wanted == "stop_on_first_tool":
            return True
        names = self._wanted["stop_at_tool_names"]
        return tool.name in names or tool.qualified_name in names


class _GuardedProvider(ModelProvider):
    """A provider whose models are wrapped."""

    def __init__(self, provider: ModelProvider, run: _GuardedRun) -> None:
        self._provider = provider
        self._run = run

    def get_model(self, model_name: str | None) -> Model:
        """The wrapped model of that name."""
        return self._run.model(self._provider.get_model(model_name))

    async def aclose(self) -> None:
        """Closes the provider."""
        await self._provider.aclose()


class _GuardedModel(Model):
    """A model that sees the ledger, and whose replies are judged."""

    def __init__(self, model: Model, run: _GuardedRun) -> None:
        self.wrapped = model
        self._run = run

    async def close(self) -> None:
        """Closes the model."""
        await self.wrapped.close()

    def get_retry_advice(self, request: Any) -> Any:
        """The model's own advice."""
        return self.wrapped.get_retry_advice(request)

    async def get_response(
        self,
        system_instructions: str | None,
        input: Any,
        model_settings: Any,
        tools: Any,
        output_schema: Any,
        handoffs: Any,
        tracing: Any,
        **where: Any,
    ) -> ModelResponse:
        """The reply, generated with the ledger in sight, and judged."""
        conversation = self._told(input, tools, where)
        response = await self.wrapped.get_response(
            system_instructions,
            _with_ledger(input, conversation),
            model_settings,
            tools,
            output_schema,
            handoffs,
            tracing,
            **where,
        )
        _judge(conversation, response.output, handoffs)
        return response

    async def stream_response(
        self,
        system_instructions: str | None,
        input: Any,
        model_settings: Any,
        tools: Any,
        output_schema: Any,
        handoffs: Any,
        tracing: Any,
        **where: Any,
    ) -> AsyncIterator[Any]:
        """The events of a streamed reply, which is judged before its end is passed on."""
        conversation = self._told(input, tools, where)
        events = self.wrapped.stream_response(
            system_instructions,
            _with_ledger(input, conversation),
            model_settings,
            tools,
            output_schema,
            handoffs,
            tracing,
            **where,
        )
        async for event in events:
            if event.type in ("response.completed", "response.incomplete"):
                _judge(conversation, event.response.output, handoffs)
            yield event

    def _told(self, input: Any, tools: Any, where: Mapping[str, Any]) -> Conversation:
        kept = any(where.get(name) is not None for name in _HISTORY)
        if kept and not self._run.guard.shadow:
            raise refuse(
                "a conversation or prompt that the provider keeps",
                "send the history with each request",
            )
        return self._run.told(input, tools)


def check_tool(tool: Any) -> str:
    """The tool's name; UnguardableError if its calls never pass through this process's gate."""
    name = getattr(tool, "name", type(tool).__name__)
    if not isinstance(tool, FunctionTool):
        raise refuse(
            f"{name}, a hosted or built-in tool,", "give the agent a function tool instead"
        )
    if tool._is_agent_tool:
        raise refuse(
            f"{name}, an agent used as a tool,",
            "make it a handoff, or guard the inner agent's own run",
        )
    return str(name)


def _with_ledger(input: Any, conversation: Conversation) -> Any:
    if conversation.shadow:
        return input
    tail = {"role": "user", "content": conversation.context()}
    return [*_items(input), tail]


def _items(input: Any) -> list[Any]:
    return [{"role": "user", "content": input}] if isinstance(input, str) else list(input)


def _judge(conversation: Conversation, output: Iterable[Any], handoffs: Iterable[Any]) -> None:
    """Judges the calls of tools; handing over to another agent is no call of a tool."""
    items = list(output)
    calls = [item for item in items if item.type == "function_call"]
    if not conversation.shadow:
        for item, name in zip(calls, conversation.ids([c.call_id for c in calls]), strict=True):
            item.call_id = name
    passing = {handoff.tool_name for handoff in handoffs}
    judged = tuple(_call(_plain(c)) for c in calls if c.name not in passing)
    text = "".join(_text(item.content) for item in items if item.type == "message")
    conversation.judge(Reply(text=text, calls=judged))


def _plain(item: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = item if isinstance(item, Mapping) else item.model_dump()
    return found


def _call(item: Mapping[str, Any]) -> ToolCall:
    return ToolCall.parse(name=item["name"], arguments=item["arguments"], id=item["call_id"])


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = (part if isinstance(part, Mapping) else vars(part) for part in content or ())
    return "".join(part.get("text") or "" for part in parts)


def map_history(input: Any) -> Iterator[Message]:
    """Input items of the Responses API as messages of the core."""
    text, calls = "", list[ToolCall]()
    for item in map(_plain, _items(input)):
        kind = item.get("type") or "message"
        if kind == "function_call":
            calls.append(_call(item))
            continue
        if kind == "message" and item.get("role") == "assistant":
            text += _text(item.get("content"))
            continue
        if calls or text:
            yield Reply(text=text, calls=tuple(calls))
            text, calls = "", []
        if kind == "function_call_output":
            yield ToolReturn(call_id=item["call_id"], content=_text(item["output"]))
        elif kind == "message" and item.get("role") == "user":
            yield UserMessage(text=_text(item.get("content")))
    if calls or text:
        yield Reply(text=text, calls=tuple(calls))
