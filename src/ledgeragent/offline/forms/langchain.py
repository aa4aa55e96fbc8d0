"""LangChain messages: `messages_to_dict`, `model_dump`, `dumpd`; the state of a LangGraph agent."""

from __future__ import annotations

from collections.abc import Mapping

from ledgeragent.offline.forms.chat import chat_call
from ledgeragent.offline.forms.form import Form, marked, one
from ledgeragent.offline.forms.scribe import Scribe, call_of
from ledgeragent.offline.forms.words import unknown_role, words
from ledgeragent.types import Json, ToolCall

_KINDS = {
    "human": "human", "HumanMessage": "human", "HumanMessageChunk": "human",
    "ai": "ai", "AIMessage": "ai", "AIMessageChunk": "ai",
    "tool": "tool", "ToolMessage": "tool", "ToolMessageChunk": "tool",
    "function": "tool", "FunctionMessage": "tool",
    "system": "system", "SystemMessage": "system", "SystemMessageChunk": "system",
    "remove": "remove", "RemoveMessage": "remove",
    "user": "human", "assistant": "ai",
}  # fmt: skip
_KEYS = ("messages", "values.messages", "outputs.messages", "output.messages", "state.messages")


def write_langchain(messages: Json, scribe: Scribe) -> None:
    """Writes messages of LangChain down."""
    for message in scribe.each(messages):
        kind, fields = fields_of(message)
        if kind == "human":
            scribe.user(words(fields.get("content"), scribe))
        elif kind == "ai":
            scribe.reply(_text(fields, scribe), _calls(fields))
        elif kind == "tool":
            key = fields.get("tool_call_id")
            error = fields.get("status") == "error"
            scribe.returned(key, fields.get("content"), error=error, name=fields.get("name"))
        elif kind == "system":
            scribe.leave_out("instructions")
        elif kind == "remove":
            scribe.leave_out("removals")
        else:
            raise unknown_role(kind)


def fields_of(message: Json) -> tuple[str, Mapping[str, Json]]:
    """The kind of a message and its fields, however it was written out."""
    if not isinstance(message, dict):
        raise ValueError("it is no message object")
    if message.get("lc") is not None and isinstance(message.get("kwargs"), dict):
        kind, fields = (message.get("id") or [""])[-1], message["kwargs"]
    elif isinstance(message.get("data"), dict):
        kind, fields = message.get("type"), message["data"]
    else:
        kind, fields = message.get("type") or message.get("role"), message
    return _KINDS.get(str(kind), str(kind)), fields


def _text(fields: Mapping[str, Json], scribe: Scribe) -> str:
    content = fields.get("content")
    if not isinstance(content, list):
        return words(content, scribe)
    # Providers' blocks of a call stand beside `tool_calls`, which holds the same calls.
    copies = ("tool_use", "tool_call", "function_call", "input_json_delta")
    return words(
        [p for p in content if not (isinstance(p, dict) and p.get("type") in copies)], scribe
    )


def _calls(fields: Mapping[str, Json]) -> list[ToolCall]:
    calls = [
        call_of(call.get("name"), call, "args", "arguments", id=call.get("id"))
        for call in (*(fields.get("tool_calls") or ()), *(fields.get("invalid_tool_calls") or ()))
    ]
    extra = fields.get("additional_kwargs") or {}
    if not calls:
        calls = [chat_call(call) for call in extra.get("tool_calls") or ()]
    if not calls and extra.get("function_call"):
        calls = [chat_call({"function": extra["function_call"]})]
    return calls


def _is_message(message: Mapping[str, Json]) -> bool:
    if "role" in message:
        return False
    kind, fields = fields_of(message)
    return kind in ("ai", "tool") and "content" in fields


FORM = Form(
    name="langchain",
    title="LangChain messages, LangGraph states",
    looks='`{"type": "ai", "content", "tool_calls": [{"name", "args", "id"}]}`, also under `data` or '
    "`kwargs`",
    unfit=marked(_is_message, "no message of the type ai or tool", *_KEYS),
    dialogues=one(write_langchain, *_KEYS),
    streams=True,
)
