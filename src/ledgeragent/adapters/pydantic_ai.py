"""Pydantic AI: a capability that guards every run of an agent.

agent = Agent("openai:gpt-5.2", tools=tools, capabilities=[LedgerCapability("shop")])
"""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ledgeragent.adapters.common import (
    Policy,
    PolicyLike,
    Undecided,
    as_text,
    named,
    refuse,
    require,
)
from ledgeragent.gate import NOT_EXECUTED
from ledgeragent.journal.recorder import Mode
from ledgeragent.session.controls import control_tool
from ledgeragent.session.conversation import Conversation, Watch
from ledgeragent.session.outcome import failure
from ledgeragent.session.ticket import Ticket
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

require("pydantic-ai-slim", "2.50", "pydantic-ai")

from pydantic_ai.capabilities import AbstractCapability  # noqa: E402
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, ToolFailed  # noqa: E402
from pydantic_ai.messages import (  # noqa: E402
    ModelMessage,
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    RetryPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import Model, ModelRequestContext, StreamedResponse  # noqa: E402
from pydantic_ai.models.wrapper import WrapperModel  # noqa: E402
from pydantic_ai.tools import RunContext, ToolDefinition  # noqa: E402

if TYPE_CHECKING:
    from ledgeragent.journal import Journal


_SKIPPED = "Tool not executed"
"""The framework's words for a call that it left out, since the run had its result already."""


class LedgerCapability(AbstractCapability[Any]):
    """Shows the ledger to the model, judges each reply whole, runs only the calls that are allowed.

    One object serves any number of runs at once: each run gets an instance of its own. Native tools,
    which the provider runs, are refused. All that happens is written to `journal`. In mode "shadow"
    everything is judged and recorded, and nothing changed. `neutrals` names tools that the policy
    does not list and that change none of its records; those of frameworks are known. `aliases` says
    which of the policy's a tool is, by the tool's name, where no prefix tells it.
    """

    def __init__(
        self,
        policy: PolicyLike,
        *,
        watch: Watch | None = None,
        journal: Journal | None = None,
        mode: Mode = "enforce",
        undecided: Undecided = "block",
        neutrals: Collection[str] = (),
        aliases: Mapping[str, str] | None = None,
    ) -> None:
        self._guard = Policy(policy, watch, journal, mode, undecided, named(aliases, neutrals))

    async def for_run(self, ctx: RunContext[Any]) -> AbstractCapability[Any]:
        """The instance that guards this run."""
        return _GuardedRun(self._guard)


@dataclass(eq=False)
class _GuardedRun(AbstractCapability[Any]):
    """The guard of one run, with its conversation.

    `streaming` is the reply of the request under way, if it is streamed and was not judged yet.
    """

    guard: Policy
    conversation: Conversation | None = None
    streaming: StreamedResponse | None = None
    _early: bool = False
    _passing: frozenset[str] = frozenset()
    _claimed: list[Ticket] = field(default_factory=list)

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: Any
    ) -> ModelResponse:
        """The model's reply, generated with the ledger in sight, and judged."""
        parameters = request_context.model_request_parameters
        if parameters.native_tools and not self.guard.shadow:
            kinds = " and ".join(tool.kind for tool in parameters.native_tools)
            raise refuse(f"{kinds}, run by the provider,", "give the agent a tool of its own")
        conversation = self._offered(parameters.function_tools, parameters.output_tools, ctx)
        messages = request_context.messages
        if not conversation.shadow:
            messages = _with_ledger(messages, conversation.context())
        heard = _Heard(request_context.model, self)
        request_context = dataclasses.replace(request_context, model=heard, messages=messages)
        self._passing = frozenset(tool.name for tool in parameters.output_tools)
        self.streaming, self._early = None, False
        response: ModelResponse = await handler(request_context)
        self.streaming = None
        return response if self._early else self._judged(conversation, response)

    async def wrap_tool_validate(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: Any,
        handler: Any,
    ) -> Any:
        """The validated arguments of an allowed call; a rejected one ends here.

        One that waits for another is judged when it is executed: all are validated before.
        """
        conversation = self._begun(ctx)
        ticket = conversation.claim(_call(call))
        if not (ticket.allowed or ticket.pending):
            raise ToolFailed(conversation.refusal(ticket))
        try:
            validated = await handler(args)
        except BaseException as error:
            conversation.observe(ticket, failure(error), error=True)
            raise
        self._claimed.append(ticket)
        return validated

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
        conversation = self._begun(ctx)
        key = call.tool_call_id, conversation.names.tool(call.tool_name)
        ticket = next((t for t in self._claimed if (t.call.id, t.call.name) == key), None)
        if ticket is None:
            raise ToolFailed(f"{NOT_EXECUTED}, because it was not judged.")
        self._claimed.remove(ticket)
        await conversation.astand(ticket)
        if not ticket.allowed:
            raise ToolFailed(conversation.refusal(ticket))
        with conversation.running(ticket, postponed=(ApprovalRequired, CallDeferred)):
            result = await handler(args)
            conversation.observe(ticket, getattr(result, "return_value", result))
            return result

    def _offered(
        self,
        tools: Sequence[ToolDefinition],
        outputs: Sequence[ToolDefinition],
        ctx: RunContext[Any],
    ) -> Conversation:
        """The run's conversation, told which tools this request offers."""
        names = [tool.name for tool in tools]
        controls = [tool.name for tool in (*filter(_is_control, tools), *outputs)]
        if self.conversation is None:
            self.conversation = self.guard.open(names, map_history(ctx.messages), controls)
        self.guard.offer(self.conversation, names, controls)
        return self.conversation

    def _begun(self, ctx: RunContext[Any]) -> Conversation:
        """The run's conversation; a run that resumes with calls of an earlier one judges those first."""
        if self.conversation is None:
            last = max(n for n, m in enumerate(ctx.messages) if isinstance(m, ModelResponse))
            manager = ctx.tool_manager
            tools = list(manager.tools) if manager is not None and manager.tools else None
            self.conversation = self.guard.resume(tools, map_history(ctx.messages[: last + 1]))
        elif self.streaming is not None:
            # `run_stream` takes the first text for the end, and runs the calls beside it right then.
            parts, self.streaming, self._early = self.streaming.get().parts, None, True
            self.conversation.ids([p.tool_call_id for p in parts if isinstance(p, ToolCallPart)])
            self.conversation.judge(self._guarded(parts))
        return self.conversation

    def _judged(self, conversation: Conversation, response: ModelResponse) -> ModelResponse:
        """Judges the calls of function tools, each under an id of its own."""
        if conversation.shadow:
            conversation.judge(self._guarded(response.parts))
            return response
        calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
        names = iter(conversation.ids([call.tool_call_id for call in calls]))
        parts = [
            dataclasses.replace(part, tool_call_id=next(names))
            if isinstance(part, ToolCallPart)
            else part
            for part in response.parts
        ]
        conversation.judge(self._guarded(parts))
        return dataclasses.replace(response, parts=parts)

    def _guarded(self, parts: Iterable[Any]) -> Reply:
        """The reply without calls of output tools, which are no calls to be judged."""
        reply = _reply(parts)
        calls = tuple(call for call in reply.calls if call.name not in self._passing)
        return Reply(text=reply.text, calls=calls)


def _is_control(tool: ToolDefinition) -> bool:
    parameters = tool.parameters_json_schema.get("properties") or {}
    return control_tool(tool.name, parameters, tool.description or "") is not None


class _Heard(WrapperModel):
    """A model whose streamed replies the guard of a run can hear."""

    def __init__(self, model: Model, run: _GuardedRun) -> None:
        super().__init__(model)
        self._run = run

    @asynccontextmanager
    async def request_stream(self, *args: Any, **options: Any) -> AsyncGenerator[StreamedResponse]:
        """The model's own stream, which the guard keeps an ear on."""
        async with super().request_stream(*args, **options) as stream:
            self._run.streaming = stream
            yield stream


def _with_ledger(messages: Sequence[ModelMessage], block: str) -> list[ModelMessage]:
    tail = UserPromptPart(content=block)
    last = messages[-1]
    if isinstance(last, ModelRequest):
        return [*messages[:-1], dataclasses.replace(last, parts=[*last.parts, tail])]
    return [*messages, ModelRequest(parts=[tail])]


def _reply(parts: Iterable[Any]) -> Reply:
    of_reply: list[ModelResponsePart] = list(parts)
    text = "".join(part.content for part in of_reply if isinstance(part, TextPart))
    return Reply(text=text, calls=tuple(_call(p) for p in of_reply if isinstance(p, ToolCallPart)))


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
                content = as_text(part.content)
                failed = part.outcome != "success" or content.startswith(_SKIPPED)
                yield ToolReturn(call_id=part.tool_call_id, content=content, error=failed)
            elif isinstance(part, RetryPromptPart) and part.tool_name is not None:
                # As versions before 2.60 wrote it, and histories that they have kept.
                text = as_text(part.content)
                yield ToolReturn(call_id=part.tool_call_id, content=text, error=True)
