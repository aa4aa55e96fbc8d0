"""Pydantic AI: a capability that guards every run of an agent.

agent = Agent("openai:gpt-5.2", tools=tools, capabilities=[LedgerCapability("shop")])
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ledgeragent.adapters.common import (
    Conversation,
    Guard,
    Policy,
    Ticket,
    Watch,
    as_text,
    failure,
    refusal,
    refuse,
    require,
)
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

require("pydantic-ai-slim", "2.68", "pydantic-ai")

from pydantic_ai.capabilities import AbstractCapability  # noqa: E402
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ToolFailed  # noqa: E402
from pydantic_ai.messages import (  # noqa: E402
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestContext  # noqa: E402
from pydantic_ai.tools import RunContext, ToolDefinition  # noqa: E402


class LedgerCapability(AbstractCapability[Any]):
    """Shows the ledger to the model, judges each reply whole, runs only the calls that are allowed.

    One object serves any number of runs at once: each run gets an instance of its own. Native tools,
    which the provider runs, are refused.
    """

    def __init__(self, policy: Policy, *, watch: Watch | None = None) -> None:
        self._guard = Guard(policy, watch)

    async def for_run(self, ctx: RunContext[Any]) -> AbstractCapability[Any]:
        """The instance that guards this run."""
        return _GuardedRun(self._guard)


@dataclass(eq=False)
class _GuardedRun(AbstractCapability[Any]):
    """The guard of one run, with its conversation."""

    guard: Guard
    conversation: Conversation | None = None

    def __post_init__(self) -> None:
        self._running: dict[str, Ticket] = {}

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: Any
    ) -> ModelResponse:
        """The model's reply, generated with the ledger in sight, and judged."""
        parameters = request_context.model_request_parameters
        if parameters.native_tools:
            kinds = " and ".join(tool.kind for tool in parameters.native_tools)
            raise refuse(f"{kinds}, run by the provider,", "give the agent a tool of its own")
        conversation = self._told([tool.name for tool in parameters.function_tools], ctx)
        messages = _with_ledger(request_context.messages, conversation.context())
        response = await handler(dataclasses.replace(request_context, messages=messages))
        passing = {tool.name for tool in parameters.output_tools}
        return _judged(conversation, response, passing)

    async def wrap_tool_validate(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: Any,
        handler: Any,
    ) -> Any:
        """The validated arguments of an allowed call; a rejected one ends here."""
        ticket = self._begun(ctx).take(_call(call))
        if not ticket.allowed:
            raise ToolFailed(refusal(ticket.verdict))
        self._running[call.tool_call_id] = ticket
        try:
            return await handler(args)
        except Exception as error:
            self._finish(call, failure(error), error=True)
            raise

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: Any,
        handler: Any,
    ) -> Any:
        """The tool's answer, taken into the ledger."""
        if call.tool_call_id not in self._running:
            raise ToolFailed("Error: this call was not judged, so it was not executed.")
        try:
            result = await handler(args)
        except (ApprovalRequired, CallDeferred):
            self._begun(ctx).reopen(self._running.pop(call.tool_call_id))
            raise
        except Exception as error:
            self._finish(call, failure(error), error=True)
            raise
        self._finish(call, getattr(result, "return_value", result))
        return result

    def _finish(self, call: ToolCallPart, content: object, *, error: bool = False) -> None:
        ticket = self._running.pop(call.tool_call_id)
        assert self.conversation is not None
        self.conversation.observe(ticket, content, error=error)

    def _told(self, tools: Sequence[str], ctx: RunContext[Any]) -> Conversation:
        """The run's conversation, told which tools this request offers."""
        if self.conversation is None:
            self.conversation = self.guard.open(tools, map_history(ctx.messages))
        self.conversation.session.gate = self.guard.gate(tools)
        return self.conversation

    def _begun(self, ctx: RunContext[Any]) -> Conversation:
        """The run's conversation; a run that resumes with calls of an earlier one judges those first."""
        if self.conversation is None:
            last = max(n for n, m in enumerate(ctx.messages) if isinstance(m, ModelResponse))
            self.conversation = self.guard.open(None, map_history(ctx.messages[:last]))
            self.conversation.judge(_reply(ctx.messages[last].parts))
        return self.conversation


def _with_ledger(messages: Sequence[ModelMessage], block: str) -> list[ModelMessage]:
    tail = UserPromptPart(content=block)
    last = messages[-1]
    if isinstance(last, ModelRequest):
        return [*messages[:-1], dataclasses.replace(last, parts=[*last.parts, tail])]
    return [*messages, ModelRequest(parts=[tail])]


def _judged(
    conversation: Conversation, response: ModelResponse, passing: set[str]
) -> ModelResponse:
    """Judges the calls of function tools, each under an id of its own."""
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    names = iter(conversation.ids([call.tool_call_id for call in calls]))
    parts = [
        dataclasses.replace(part, tool_call_id=next(names))
        if isinstance(part, ToolCallPart)
        else part
        for part in response.parts
    ]
    reply = _reply(parts)
    conversation.judge(
        Reply(text=reply.text, calls=tuple(c for c in reply.calls if c.name not in passing))
    )
    return dataclasses.replace(response, parts=parts)


def _reply(parts: Iterable[Any]) -> Reply:
    kept: list[ModelResponsePart] = list(parts)
    text = "".join(part.content for part in kept if isinstance(part, TextPart))
    return Reply(text=text, calls=tuple(_call(p) for p in kept if isinstance(p, ToolCallPart)))


def _call(part: ToolCallPart) -> ToolCall:
    return ToolCall.parse(name=part.tool_name, arguments=part.args, id=part.tool_call_id)


def map_history(messages: Iterable[ModelMessage]) -> Iterator[Message]:
    """A run's messages as messages of the core."""
    for message in messages:
        if isinstance(message, ModelResponse):
            yield _reply(message.parts)
            continue
        for part in message.parts:
            if isinstance(part, UserPromptPart):
                yield UserMessage(text=part.content if isinstance(part.content, str) else "")
            elif isinstance(part, ToolReturnPart):
                failed = part.outcome != "success"
                content = as_text(part.content)
                yield ToolReturn(call_id=part.tool_call_id, content=content, error=failed)
