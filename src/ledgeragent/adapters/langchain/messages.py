"""Messages of LangChain: replies with ids of their own, answers to calls, a thread as the core's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langgraph.types import Command

from ledgeragent.session.conversation import Conversation
from ledgeragent.session.ticket import Ticket
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

KEY = "ledgeragent"


def distinct(message: AIMessage, conversation: Conversation, closed: set[str]) -> AIMessage:
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


def reply_of(message: BaseMessage) -> Reply:
    unreadable = message.additional_kwargs.get(KEY, {})
    calls = getattr(message, "tool_calls", ())
    return Reply(text=message.text, calls=tuple(call_of(c, unreadable) for c in calls))


def unreadable_call(raw: Mapping[str, Any]) -> ToolCall:
    return ToolCall(name=raw["name"] or "", id=raw["id"] or "", malformed=str(raw["args"]))


def call_of(raw: Mapping[str, Any], unreadable: Mapping[str, str] | None = None) -> ToolCall:
    text = (unreadable or {}).get(raw["id"])
    if text is not None:
        return ToolCall(name=raw["name"] or "", id=raw["id"], malformed=text)
    return ToolCall(name=raw["name"], arguments=raw["args"], id=raw["id"] or "")


def rejected(conversation: Conversation, ticket: Ticket, raw: Mapping[str, Any]) -> ToolMessage:
    return ToolMessage(
        content=conversation.refusal(ticket),
        tool_call_id=ticket.call.id,
        name=raw["name"],
        status="error",
    )


def observe(
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
            yield reply_of(message)
        elif isinstance(message, ToolMessage):
            failed = message.status == "error"
            yield ToolReturn(call_id=message.tool_call_id, content=message.content, error=failed)
