"""One guarded run: its conversation, its copies of the agents, and the models that they ask."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from agents import Agent, FunctionTool, Handoff, Model, ModelProvider, RunConfig

from ledgeragent.adapters.common import Policy, refuse
from ledgeragent.adapters.openai_agents.items import RunInput, judge, map_history, with_ledger
from ledgeragent.adapters.openai_agents.past import PastItems
from ledgeragent.adapters.openai_agents.tools import (
    GuardedApproval,
    GuardedInvoke,
    check_tool,
    is_control,
    without_rejections,
)
from ledgeragent.session.conversation import Conversation

if TYPE_CHECKING:
    from typing import Unpack

    from agents import (
        AgentOutputSchemaBase,
        ModelResponse,
        ModelRetryAdvice,
        ModelRetryAdviceRequest,
        ModelSettings,
        ModelTracing,
        RunContextWrapper,
        Tool,
    )
    from agents.items import TResponseStreamEvent
    from openai.types.responses import ResponsePromptParam

AnyAgent: TypeAlias = "Agent[Any]"
AnyHandoff: TypeAlias = "Handoff[Any, AnyAgent]"

_MARK = "_ledgeragent_run"


class ProviderHistory(TypedDict):
    """The parts of a request that name what the provider keeps, and this process cannot see."""

    previous_response_id: str | None
    conversation_id: str | None
    prompt: ResponsePromptParam | None


class GuardedRun:
    """One run: its conversation, and its copies of the agents that take part in it."""

    def __init__(self, guard: Policy) -> None:
        self.guard = guard
        self.conversation: Conversation | None = None
        self.past: PastItems | None = None
        self._controls: set[str] = set()
        self._agents: dict[int, tuple[AnyAgent, AnyAgent]] = {}

    @classmethod
    def of(cls, agent: AnyAgent | None) -> GuardedRun | None:
        """The run that an agent is a copy for, None for one that is no such copy."""
        run = getattr(agent, _MARK, None)
        return run if isinstance(run, cls) else None

    async def begun(self) -> Conversation | None:
        """The run's conversation; that of a run read back from a file begins with its past."""
        if self.conversation is None and self.past is not None:
            items = await self.past.read()
            history = map_history(items)
            self.conversation = self.guard.resume(self.past.tools, history, self._controls)
        return self.conversation

    def config(self, config: RunConfig | dict[str, Any] | None) -> RunConfig:
        """The run's configuration with its models wrapped."""
        if not isinstance(config, RunConfig):
            config = RunConfig(**config or {})
        model = self.model(config.model) if isinstance(config.model, Model) else config.model
        provider = GuardedProvider(config.model_provider, self)
        return dataclasses.replace(config, model=model, model_provider=provider)

    def model(self, model: Model) -> Model:
        """The model, wrapped for this run: an agent that an earlier run returned has that run's."""
        return GuardedModel(model.wrapped if isinstance(model, GuardedModel) else model, self)

    def agent(self, agent: AnyAgent) -> AnyAgent:
        """The run's copy of an agent; UnguardableError if some tool of it would run unseen."""
        if self.of(agent) is self:
            return agent
        if id(agent) in self._agents:
            return self._agents[id(agent)][1]
        if agent.mcp_servers and not self.guard.shadow:
            raise refuse(
                f"agent {agent.name}: a tool of an MCP server",
                "put `ledgeragent mcp` before the server",
            )
        guarded = agent.clone(tools=[self._tool(tool) for tool in agent.tools])
        setattr(guarded, _MARK, self)
        guarded.tool_use_behavior = without_rejections(agent.tool_use_behavior)
        # The original is kept as well, so that its id isn't given to another agent meanwhile.
        self._agents[id(agent)] = agent, guarded
        if isinstance(agent.model, Model):
            guarded.model = self.model(agent.model)
        guarded.handoffs = [self._handoff(target) for target in agent.handoffs]
        return guarded

    def _handoff(self, target: AnyAgent | AnyHandoff) -> AnyAgent | AnyHandoff:
        if isinstance(target, Agent):
            self._controls.add(Handoff.default_tool_name(target))
            return self.agent(target)
        self._controls.add(target.tool_name)
        invoke = target.on_invoke_handoff

        async def guarded(context: RunContextWrapper[Any], arguments: str) -> AnyAgent:
            return self.agent(await invoke(context, arguments))

        return dataclasses.replace(target, on_invoke_handoff=guarded)

    def _tool(self, tool: Tool) -> Tool:
        name = self._name(tool)
        if not isinstance(tool, FunctionTool):
            return tool
        guarded = copy.copy(tool)
        invoke = tool.on_invoke_tool
        if isinstance(invoke, GuardedInvoke):
            invoke = invoke.invoke
        guarded.on_invoke_tool = GuardedInvoke(self.begun, name, invoke)
        if tool.needs_approval is not False and not self.guard.shadow:
            approval = tool.needs_approval
            rule = approval.rule if isinstance(approval, GuardedApproval) else approval
            guarded.needs_approval = GuardedApproval(self.begun, name, rule)
        return guarded

    def _name(self, tool: Tool) -> str:
        return str(getattr(tool, "name", "")) if self.guard.shadow else check_tool(tool)

    def offered(self, input: RunInput, tools: Iterable[Tool]) -> Conversation:
        """The run's conversation, told which tools this request offers."""
        listed = list(tools)
        names = [self._name(tool) for tool in listed]
        self._controls.update(tool.name for tool in listed if is_control(tool))
        if self.conversation is None:
            self.conversation = self.guard.open(names, map_history(input), self._controls)
        self.guard.offer(self.conversation, names, self._controls)
        return self.conversation


class GuardedProvider(ModelProvider):
    """A provider whose models are wrapped."""

    def __init__(self, provider: ModelProvider, run: GuardedRun) -> None:
        self._provider = provider
        self._run = run

    def get_model(self, model_name: str | None) -> Model:
        """The wrapped model of that name."""
        return self._run.model(self._provider.get_model(model_name))

    async def aclose(self) -> None:
        """Closes the provider."""
        await self._provider.aclose()


class GuardedModel(Model):
    """A model that sees the ledger, and whose replies are judged."""

    def __init__(self, model: Model, run: GuardedRun) -> None:
        self.wrapped = model
        self._run = run

    async def close(self) -> None:
        """Closes the model."""
        await self.wrapped.close()

    def get_retry_advice(self, request: ModelRetryAdviceRequest) -> ModelRetryAdvice | None:
        """The model's own advice."""
        return self.wrapped.get_retry_advice(request)

    async def get_response(
        self,
        system_instructions: str | None,
        input: RunInput,
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[AnyHandoff],
        tracing: ModelTracing,
        **history: Unpack[ProviderHistory],
    ) -> ModelResponse:
        """The reply, generated with the ledger in sight, and judged."""
        conversation = self._conversation(input, tools, history)
        response = await self.wrapped.get_response(
            system_instructions,
            with_ledger(input, conversation),
            model_settings,
            tools,
            output_schema,
            handoffs,
            tracing,
            **history,
        )
        judge(conversation, response.output, handoffs)
        return response

    async def stream_response(
        self,
        system_instructions: str | None,
        input: RunInput,
        model_settings: ModelSettings,
        tools: list[Tool],
        output_schema: AgentOutputSchemaBase | None,
        handoffs: list[AnyHandoff],
        tracing: ModelTracing,
        **history: Unpack[ProviderHistory],
    ) -> AsyncIterator[TResponseStreamEvent]:
        """The events of a streamed reply, which is judged before its end is passed on."""
        conversation = self._conversation(input, tools, history)
        events = self.wrapped.stream_response(
            system_instructions,
            with_ledger(input, conversation),
            model_settings,
            tools,
            output_schema,
            handoffs,
            tracing,
            **history,
        )
        async for event in events:
            if event.type == "response.completed" or event.type == "response.incomplete":
                judge(conversation, event.response.output, handoffs)
            yield event

    def _conversation(
        self, input: RunInput, tools: list[Tool], history: ProviderHistory
    ) -> Conversation:
        is_kept = any(history.get(name) is not None for name in ProviderHistory.__annotations__)
        if is_kept and not self._run.guard.shadow:
            raise refuse(
                "a conversation or prompt that the provider keeps",
                "send the history with each request",
            )
        return self._run.offered(input, tools)
