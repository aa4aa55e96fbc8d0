"""AG2's chat history (`tool_responses`), and the messages of AutoGen AgentChat."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ledgeragent.offline.forms.chat import INSTRUCTIONS, chat_call
from ledgeragent.offline.forms.form import Dialogue, Form, marked, one
from ledgeragent.offline.forms.scribe import Scribe, call_of
from ledgeragent.offline.forms.words import role_of, unknown, unknown_role, words
from ledgeragent.types import Json

_KEYS = ("messages", "chat_history", "chat_messages")


def write_ag2(messages: Json, scribe: Scribe) -> None:
    """Writes AG2's chat history down. What stands in `tool_responses` stands in the content again."""
    for message in scribe.each(messages):
        role = role_of(message)
        responses = message.get("tool_responses")
        if isinstance(responses, list):
            for response in responses:
                scribe.returned(response.get("tool_call_id"), response.get("content"))
        elif role == "function":
            scribe.returned(None, message.get("content"), name=message.get("name"))
        elif role == "assistant" or message.get("tool_calls"):
            legacy = message.get("function_call")
            calls = [
                *(message.get("tool_calls") or ()),
                *([{"function": legacy}] if legacy else ()),
            ]
            scribe.reply(words(message.get("content"), scribe), map(chat_call, calls))
        elif role == "user":
            scribe.user(words(message.get("content"), scribe))
        elif role in INSTRUCTIONS:
            scribe.leave_out("instructions")
        else:
            raise unknown_role(role)


def write_agentchat(messages: Json, scribe: Scribe) -> None:
    """Writes the messages of AgentChat down: `source` says who spoke."""
    for message in scribe.each(messages):
        kind, content = message.get("type"), message.get("content")
        if kind == "ToolCallRequestEvent":
            for call in content:
                scribe.call(call_of(call.get("name"), call, "arguments", id=call.get("id")))
        elif kind == "ToolCallExecutionEvent":
            for result in content:
                error = bool(result.get("is_error"))
                scribe.returned(result.get("call_id"), result.get("content"), error=error)
        elif kind in ("TextMessage", "MultiModalMessage"):
            text = words(content, scribe)
            scribe.user(text) if message.get("source") == "user" else scribe.reply(text)
        elif kind in _QUIET:
            scribe.leave_out(_QUIET[kind])
        else:
            raise unknown(kind, "TextMessage", "ToolCallRequestEvent", "ToolCallExecutionEvent")


_QUIET = {
    "ToolCallSummaryMessage": "summaries of returns",
    "ThoughtEvent": "reasoning",
    "MemoryQueryEvent": "memory",
    "HandoffMessage": "handoffs",
    "StopMessage": "stops",
    "UserInputRequestedEvent": "requests for input",
    "ModelClientStreamingChunkEvent": "chunks",
}


def _chats(value: Json) -> Iterator[Dialogue]:
    chats = value.get("chat_messages") if isinstance(value, dict) else None
    if isinstance(chats, dict):
        for messages in chats.values():
            yield from _one(messages)
    else:
        yield from _one(value)


_one = one(write_ag2, *_KEYS)


def _unfit_ag2(value: Json) -> str | None:
    chats = value.get("chat_messages") if isinstance(value, dict) else None
    messages = [m for c in chats.values() for m in c] if isinstance(chats, dict) else value
    return marked(lambda m: "tool_responses" in m, "no message with tool_responses", *_KEYS)(
        messages
    )


def _is_event(message: Mapping[str, Json]) -> bool:
    return message.get("type") in ("ToolCallRequestEvent", "ToolCallExecutionEvent")


FORM = Form(
    name="ag2",
    title="AG2 chat history",
    looks='`{"role": "tool", "tool_responses": [{"tool_call_id", "content"}]}`',
    unfit=_unfit_ag2,
    dialogues=_chats,
    streams=True,
)

AGENTCHAT = Form(
    name="autogen",
    title="AutoGen AgentChat messages",
    looks='`{"type": "ToolCallRequestEvent", "content": [{"id", "name", "arguments"}], "source"}`',
    unfit=marked(_is_event, "no ToolCallRequestEvent", "messages", "inner_messages"),
    dialogues=one(write_agentchat, "messages", "inner_messages"),
    streams=True,
)
