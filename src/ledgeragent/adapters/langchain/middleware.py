"""Middleware: judges each reply of an agent, and stands between it and its tools."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypeAlias

from langchain.agents.middleware.types import (
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
    ToolCallRequest,
    hook_config,
)
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from langgraph.channels.untracked_value import UntrackedValue
from langgraph.errors import GraphBubbleUp
from langgraph.types import Command

from ledgeragent.adapters.common import Policy, PolicyLike, Undecided, named
from ledgeragent.adapters.langchain.attempts import Attempts
from ledgeragent.adapters.langchain.messages import (
    KEY,
    call_of,
    distinct,
    map_history,
    observe,
    rejected,
    reply_of,
    unreadable_call,
)
from ledgeragent.adapters.langchain.order import check_order
from ledgeragent.adapters.langchain.toolset import offered, toolset_of
from ledgeragent.gate import NOT_EXECUTED
from ledgeragent.journal.recorder import Mode
from ledgeragent.session.conversation import Conversation, Watch
from ledgeragent.types import Reply

if TYPE_CHECKING:
    from ledgeragent.journal import Journal

JudgedResponse: TypeAlias = ModelResponse[Any] | ExtendedModelResponse[Any]


class LedgerState(AgentState[Any]):
    """The agent's state with the run's conversation, which is never saved with a checkpoint."""

    ledgeragent: NotRequired[Annotated[Conversation, UntrackedValue, PrivateStateAttr]]


class LedgerMiddleware(AgentMiddleware[LedgerState, Any, Any]):
    """Shows the ledger to the model, judges each reply whole, runs only the calls that are allowed.

    Put it last in `middleware`, nearest to the tools: what runs between it and a tool isn't judged,
    so an agent with such a middleware is not built (UnguardableError). Tools that the provider runs
    (given as dicts) are refused. All that happens is written to `journal`; in mode "shadow"
    everything is judged and recorded, and nothing changed. `neutrals` names tools that the policy
    does not list and that change none of its records; those of frameworks are known. `aliases` says
    which of the policy's a tool is, by the tool's name, where no prefix tells it.
    """

    state_schema = LedgerState

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
        super().__init__()
        self._guard = Policy(policy, watch, journal, mode, undecided, named(aliases, neutrals))
        self._attempts = Attempts()

    @property
    def name(self) -> str:
        """The middleware's name. An agent asks for it as it is built, which is when order is checked."""
        if not self._guard.shadow:
            check_order(self)
        return super().name

    def lets_through(self, request: ToolCallRequest) -> bool:
        """True if a call of the model's last reply may run: the predicate for whoever is to approve it.

        `HumanInTheLoopMiddleware({"refund": {..., "when": guard.lets_through}})` asks people only
        about calls that the gate lets through. What they edit is judged as it is then.
        """
        conversation = _conversation_in(request.state)
        if conversation is None:
            conversation = self._resumed(self._guard.unobserved(), request)
        return conversation.lets_through(call_of(request.tool_call))

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> JudgedResponse:
        """The model's reply, generated with the ledger in sight, and judged."""
        conversation = self._prepared(request)
        response = _judged(conversation, handler(_with_ledger(request, conversation)))
        return _keeping(conversation, request, response)

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> JudgedResponse:
        """The same, asynchronously."""
        conversation = self._prepared(request)
        response = _judged(conversation, await handler(_with_ledger(request, conversation)))
        return _keeping(conversation, request, response)

    def wrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], ToolMessage | Command[Any]],
    ) -> ToolMessage | Command[Any]:
        """The tool's answer, or the reason why it was not asked."""
        conversation = self._current(request)
        ticket = conversation.take(call_of(request.tool_call))
        if not ticket.allowed:
            return rejected(conversation, ticket, request.tool_call)
        with conversation.running(ticket, postponed=(GraphBubbleUp,)):
            return observe(conversation, ticket, handler(request))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """The same, asynchronously."""
        conversation = self._current(request)
        ticket = await conversation.atake(call_of(request.tool_call))
        if not ticket.allowed:
            return rejected(conversation, ticket, request.tool_call)
        with conversation.running(ticket, postponed=(GraphBubbleUp,)):
            return observe(conversation, ticket, await handler(request))

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: LedgerState, runtime: Any) -> dict[str, Any] | None:
        """Back to the model where the answer of a tool was to end the run, and its call was rejected."""
        for message in reversed(state["messages"]):
            if not isinstance(message, ToolMessage):
                return None
            if message.status == "error" and message.text.startswith(NOT_EXECUTED):
                return {"jump_to": "model"}
        return None

    def _prepared(self, request: ModelRequest[Any]) -> Conversation:
        """The run's conversation, told which tools this request offers."""
        offer = offered(request, shadow=self._guard.shadow)
        conversation = _conversation_in(request.state)
        if conversation is None:
            # Not before the model is asked: what the thread calls its tools is known from now on.
            history = map_history(request.state["messages"])
            conversation = self._attempts.conversation(
                request.runtime, lambda: self._guard.open(offer.tools, history, offer.controls)
            )
        self._guard.offer(conversation, offer.tools, offer.controls)
        return conversation

    def _current(self, request: ToolCallRequest) -> Conversation:
        """The run's conversation, or one rebuilt from the messages (a graph of your own, a resume)."""
        conversation = _conversation_in(request.state)
        if conversation is None:
            conversation = self._attempts.conversation(
                request.runtime, lambda: self._resumed(self._guard, request)
            )
        return conversation

    def _resumed(self, guard: Policy, request: ToolCallRequest) -> Conversation:
        state = request.state
        messages = state if isinstance(state, list) else _messages(state)
        last = max(n for n, m in enumerate(messages) if isinstance(m, AIMessage))
        offer = toolset_of(getattr(request.runtime, "tools", ()))
        tools = offer.tools or (() if guard.undecided == "allow" and not offer.tools else None)
        conversation = guard.resume(tools, map_history(messages[: last + 1]), offer.controls)
        conversation.patience = 0.0  # each call of the reply has a conversation of its own here
        return conversation


def _conversation_in(state: Any) -> Conversation | None:
    value = state.get(KEY) if isinstance(state, Mapping) else getattr(state, KEY, None)
    return value if isinstance(value, Conversation) else None


def _messages(state: Any) -> Sequence[AnyMessage]:
    messages: Sequence[AnyMessage] = (
        state["messages"] if isinstance(state, Mapping) else state.messages
    )
    return messages


def _keeping(
    conversation: Conversation, request: ModelRequest[Any], response: ModelResponse[Any]
) -> JudgedResponse:
    """The response; where a run was resumed, with the conversation that its state has lost."""
    if _conversation_in(request.state) is conversation:
        return response
    return ExtendedModelResponse(response, Command(update={KEY: conversation}))


def _with_ledger(request: ModelRequest[Any], conversation: Conversation) -> ModelRequest[Any]:
    if conversation.shadow:
        return request
    # As a message of the user, since several providers take no system message but the first.
    tail = HumanMessage(content=conversation.context())
    return request.override(messages=[*request.messages, tail])


def _judged(conversation: Conversation, response: ModelResponse[Any]) -> ModelResponse[Any]:
    """Judges the calls of a reply that are left to tools; structured output has been answered already."""
    closed = {m.tool_call_id for m in response.result if isinstance(m, ToolMessage)}
    for position, message in enumerate(response.result):
        if isinstance(message, AIMessage):
            if not conversation.shadow:
                message = distinct(message, conversation, closed)
                response.result[position] = message
            calls = (c for c in reply_of(message).calls if c.id not in closed)
            unread = map(unreadable_call, message.invalid_tool_calls)
            conversation.judge(Reply(text=message.text, calls=(*calls, *unread)))
    return response
