"""Tools of a guarded run: functions asked only for allowed calls, and the end that they may make."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agents import FunctionTool, ToolsToFinalOutputResult

from ledgeragent.adapters.common import refuse
from ledgeragent.adapters.openai_agents.items import FAILED
from ledgeragent.gate import NOT_EXECUTED
from ledgeragent.session.controls import control_tool
from ledgeragent.session.conversation import Conversation
from ledgeragent.types import ToolCall

if TYPE_CHECKING:
    from agents import (
        FunctionToolResult,
        RunContextWrapper,
        StopAtTools,
        Tool,
        ToolsToFinalOutputFunction,
    )
    from agents.tool_context import ToolContext

Begun: TypeAlias = Callable[[], Awaitable[Conversation | None]]
"""Gives the run's conversation, None before it has one."""

Approval: TypeAlias = (
    "bool | Callable[[RunContextWrapper[Any], dict[str, Any], str], Awaitable[bool]]"
)
"""Whether people are asked before a tool runs, as the SDK has it."""

Invoke: TypeAlias = "Callable[[ToolContext[Any], str], Awaitable[Any]]"
"""A tool's function, which may return anything."""

ToolUse: TypeAlias = (
    "Literal['run_llm_again', 'stop_on_first_tool'] | StopAtTools | ToolsToFinalOutputFunction[Any]"
)
"""How an agent goes on after its tools have answered."""


class GuardedInvoke:
    """A tool's function, asked only for calls that are allowed in the run's `conversation`."""

    def __init__(self, conversation: Begun, name: str, invoke: Invoke) -> None:
        self.invoke = invoke
        self._conversation = conversation
        self._name = name

    async def __call__(self, context: ToolContext[Any], arguments: str) -> Any:
        """The tool's own result, or the reason why it was not asked."""
        conversation = await self._conversation()
        if conversation is None:
            return f"{NOT_EXECUTED}, because it was not judged."
        call = ToolCall.parse(name=self._name, arguments=arguments, id=context.tool_call_id)
        ticket = await conversation.atake(call)
        if not ticket.allowed:
            return conversation.refusal(ticket)
        with conversation.running(ticket):
            result = await self.invoke(context, arguments)
            content = getattr(result, "text", result)
            failed = isinstance(content, str) and content.startswith(FAILED)
            conversation.observe(ticket, content, error=failed, lost=failed)
            return result


class GuardedApproval:
    """Whether people are asked about a call: by the tool's own `rule`, if the gate lets it through."""

    def __init__(self, conversation: Begun, name: str, rule: Approval) -> None:
        self.rule = rule
        self._conversation = conversation
        self._name = name

    async def __call__(
        self, context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str
    ) -> bool:
        """True if the call waits for somebody's word."""
        conversation = await self._conversation()
        call = ToolCall(name=self._name, arguments=arguments, id=call_id)
        if conversation is None or not conversation.lets_through(call):
            return False
        if isinstance(self.rule, bool):
            return self.rule
        answer = self.rule(context, arguments, call_id)
        return bool(await answer if inspect.isawaitable(answer) else answer)


class UnrejectedOutput:
    """An agent's own end of a run, asked for only where no answer of its tools is a rejection."""

    def __init__(self, behaviour: ToolUse) -> None:
        self._behaviour = behaviour

    async def __call__(
        self, context: RunContextWrapper[Any], results: list[FunctionToolResult]
    ) -> ToolsToFinalOutputResult:
        """Whether the run ends here, and with which output."""
        if any(str(result.output).startswith(NOT_EXECUTED) for result in results):
            return ToolsToFinalOutputResult(is_final_output=False)
        if callable(self._behaviour):
            end = self._behaviour(context, results)
            return await end if inspect.isawaitable(end) else end
        for result in results:
            if self._ends(result.tool):
                return ToolsToFinalOutputResult(is_final_output=True, final_output=result.output)
        return ToolsToFinalOutputResult(is_final_output=False)

    def _ends(self, tool: FunctionTool) -> bool:
        if isinstance(self._behaviour, dict):
            names = self._behaviour["stop_at_tool_names"]
            return tool.name in names or tool.qualified_name in names
        return self._behaviour == "stop_on_first_tool"


def without_rejections(behaviour: ToolUse) -> ToolUse:
    """The same behaviour, for which a rejection ends no run: it is for the model."""
    if behaviour == "run_llm_again" or isinstance(behaviour, UnrejectedOutput):
        return behaviour
    return UnrejectedOutput(behaviour)


def check_tool(tool: Tool) -> str:
    """The tool's name; UnguardableError if its calls never pass through this process's gate."""
    name = str(getattr(tool, "name", type(tool).__name__))
    if not isinstance(tool, FunctionTool):
        raise refuse(
            f"{name}, a hosted or built-in tool,", "give the agent a function tool instead"
        )
    if tool._is_agent_tool:
        raise refuse(
            f"{name}, an agent used as a tool,",
            "make it a handoff, or guard the inner agent's own run",
        )
    return name


def is_control(tool: Tool) -> bool:
    """True for a tool that a framework has made for the agent's own affairs."""
    if not isinstance(tool, FunctionTool):
        return False
    parameters = tool.params_json_schema.get("properties") or {}
    return control_tool(tool.name, parameters, tool.description) is not None
