"""LangChain and LangGraph: a middleware for `create_agent`, and a wrapper for a `ToolNode` of your own.

    agent = create_agent(model, tools, middleware=[LedgerMiddleware("shop")])

The session of a run lives in the run's own graph state, so one agent may serve any number of
conversations at once; it is rebuilt from the thread's messages when a run begins or resumes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypeAlias

from ledgeragent.adapters.common import Policy, PolicyLike, Undecided, refuse, require
from ledgeragent.gate import NOT_EXECUTED
from ledgeragent.journal.recorder import Mode
from ledgeragent.session.conversation import Conversation, Watch
from ledgeragent.session.ticket import Ticket, refusal
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

require("langchain", "1.5", "langchain")
require("langgraph", "1.2", "langchain")

from langchain.agents.middleware.types import (  # noqa: E402
    AgentMiddleware,
    AgentState,
    ExtendedModelResponse,
    ModelRequest,
    ModelResponse,
    PrivateStateAttr,
    ToolCallRequest,
    hook_config,
)
from langchain_core.messages import (  # noqa: E402
    AIMessage,
    AnyMessage,
    BaseMessage,
    HumanMessage,
    ToolMessage,
)
from langgraph.channels.untracked_value import UntrackedValue  # noqa: E402
from langgraph.errors import GraphBubbleUp  # noqa: E402
from langgraph.types import Command  # noqa: E402

if TYPE_CHECKING:
    from ledgeragent.journal import Journal

JudgedResponse: TypeAlias = ModelResponse[Any] | ExtendedModelResponse[Any]

KEY = "ledgeragent"


class LedgerState(AgentState[Any]):
    """The agent's state with the run's conversation, which is never saved with a checkpoint."""

    ledgeragent: NotRequired[Annotated[Conversation, UntrackedValue, PrivateStateAttr]]


class LedgerMiddleware(AgentMiddleware[LedgerState, Any, Any]):
    """Shows the ledger to the model, judges each reply whole, runs only the calls that are allowed.

    Put it last in `middleware`, nearest to the model and the tools: what runs between it and a tool
    isn't judged. Tools that the provider runs (given as dicts) are refused. All that happens is
    written to `journal`; in mode "shadow" everything is judged and recorded, and nothing changed.
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
    ) -> None:
        super().__init__()
        self._guard = Policy(policy, watch, journal, mode, undecided)

    def before_agent(self, state: LedgerState, runtime: Any) -> dict[str, Any]:
        """A new conversation for this run, which knows the messages of the thread."""
        return {KEY: self._guard.open(None, map_history(state["messages"]))}

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
        ticket = conversation.take(_call(request.tool_call))
        if not ticket.allowed:
            return _rejected(ticket)
        with conversation.running(ticket, postponed=(GraphBubbleUp,)):
            return _observed(conversation, ticket, handler(request))

    async def awrap_tool_call(
        self,
        request: ToolCallRequest,
        handler: Callable[[ToolCallRequest], Awaitable[ToolMessage | Command[Any]]],
    ) -> ToolMessage | Command[Any]:
        """The same, asynchronously."""
        conversation = self._current(request)
        ticket = await conversation.atake(_call(request.tool_call))
        if not ticket.allowed:
            return _rejected(ticket)
        with conversation.running(ticket, postponed=(GraphBubbleUp,)):
            return _observed(conversation, ticket, await handler(request))

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
        names = [_name(tool, shadow=self._guard.shadow) for tool in request.tools]
        conversation = _conversation_in(request.state)
        if conversation is None:
            return self._guard.open(names, map_history(request.state["messages"]))
        self._guard.offer(conversation, names)
        return conversation

    def _current(self, request: ToolCallRequest) -> Conversation:
        """The run's conversation, or one rebuilt from the messages (a graph of your own, a resume)."""
        state = request.state
        conversation = _conversation_in(state)
        if conversation is not None:
            return conversation
        messages = state if isinstance(state, list) else _messages(state)
        last = max(n for n, m in enumerate(messages) if isinstance(m, AIMessage))
        tools = [tool.name for tool in getattr(request.runtime, "tools", ())]
        conversation = self._guard.resume(tools or None, map_history(messages[: last + 1]))
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


def _name(tool: Any, *, shadow: bool) -> str:
    """The tool's name; UnguardableError if it runs unseen, and is to be guarded."""
    if not isinstance(tool, dict):
        return str(tool.name)
    name = str(tool.get("name") or tool.get("type"))
    if shadow:
        return name
    raise refuse(f"{name!r}, a tool that the provider runs,", "give the agent a tool of its own")


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
                message = _distinct(message, conversation, closed)
                response.result[position] = message
            calls = (c for c in _reply(message).calls if c.id not in closed)
            unread = map(_unreadable, message.invalid_tool_calls)
            conversation.judge(Reply(text=message.text, calls=(*calls, *unread)))
    return response


def _distinct(message: AIMessage, conversation: Conversation, closed: set[str]) -> AIMessage:
    """The message with an id of its own for each call but the `closed` ones, unreadable ones included.

    Those are kept as calls without arguments: left as they are, nothing would answer them.
    """
    calls: list[dict[str, Any]] = [dict(call) for call in message.tool_calls]
    calls += ({**bad, "args": {}, "type": "tool_call"} for bad in message.invalid_tool_calls)
    open_ = [call for call in calls if call["id"] not in closed]
    for call, name in zip(open_, conversation.ids([c["id"] for c in open_]), strict=True):
        call["id"] = name
    by_id = {c["id"]: c for c in calls}
    bad_ids = [c["id"] for c in calls[len(message.tool_calls) :]]
    texts = {n: str(b["args"]) for n, b in zip(bad_ids, message.invalid_tool_calls, strict=True)}
    fields = ("name", "args", "id", "type")
    tool_calls = [{name: call.get(name) for name in fields} for call in by_id.values()]
    extra = {**message.additional_kwargs, KEY: texts} if texts else message.additional_kwargs
    changed = {"tool_calls": tool_calls, "invalid_tool_calls": [], "additional_kwargs": extra}
    return message.model_copy(update=changed)


def _reply(message: BaseMessage) -> Reply:
    unreadable = message.additional_kwargs.get(KEY, {})
    calls = getattr(message, "tool_calls", ())
    return Reply(text=message.text, calls=tuple(_call(c, unreadable) for c in calls))


def _unreadable(raw: Mapping[str, Any]) -> ToolCall:
    return ToolCall(name=raw["name"] or "", id=raw["id"] or "", malformed=str(raw["args"]))


def _call(raw: Mapping[str, Any], unreadable: Mapping[str, str] | None = None) -> ToolCall:
    text = (unreadable or {}).get(raw["id"])
    if text is not None:
        return ToolCall(name=raw["name"] or "", id=raw["id"], malformed=text)
    return ToolCall(name=raw["name"], arguments=raw["args"], id=raw["id"] or "")


def _rejected(ticket: Ticket) -> ToolMessage:
    call = ticket.call
    return ToolMessage(
        content=refusal(ticket.verdict), tool_call_id=call.id, name=call.name, status="error"
    )


def _observed(
    conversation: Conversation, ticket: Ticket, answer: ToolMessage | Command[Any]
) -> ToolMessage | Command[Any]:
    for message in _tool_messages(answer):
        if message.tool_call_id == ticket.call.id:
            failed = message.status == "error"
            conversation.observe(ticket, message.content, error=failed)
    return answer


def _tool_messages(answer: Any) -> list[ToolMessage]:
    if isinstance(answer, Command):
        update = answer.update if isinstance(answer.update, Mapping) else {}
        return [m for m in update.get("messages", ()) if isinstance(m, ToolMessage)]
    return [answer] if isinstance(answer, ToolMessage) else []


def map_history(messages: Iterable[Any]) -> Iterator[Message]:
    """A thread's messages as messages of the core."""
    for message in messages:
        if isinstance(message, HumanMessage):
            yield UserMessage(text=message.text)
        elif isinstance(message, AIMessage):
            yield _reply(message)
        elif isinstance(message, ToolMessage):
            failed = message.status == "error"
            yield ToolReturn(call_id=message.tool_call_id, content=message.content, error=failed)
