"""OpenAI chat messages, and the same with small differences: ours, tau-bench, tau2, Hugging Face."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.offline.forms.form import Form, listed, one
from ledgeragent.offline.forms.scribe import Scribe, call_of, call_with
from ledgeragent.offline.forms.words import role_of, unknown_role, words
from ledgeragent.types import Json, ToolCall

INSTRUCTIONS = ("system", "developer")
_ARGUMENTS = ("arguments", "args")


def write_chat(messages: Json, scribe: Scribe) -> None:
    """Writes chat messages down."""
    for message in scribe.each(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if type(role) is not str:
            role = role_of(message)
        if role == "assistant":
            _reply(message, scribe)
        elif role in ("tool", "function"):
            _returns(message, scribe)
        elif role == "user":
            content = message.get("content")
            scribe.user(content if type(content) is str else words(content, scribe))
        elif role in INSTRUCTIONS:
            scribe.leave_out("instructions")
        else:
            raise unknown_role(role)


def _reply(message: Mapping[str, Any], scribe: Scribe) -> None:
    calls, content = message.get("tool_calls"), message.get("content")
    text = content if type(content) is str else words(content, scribe)
    if calls:
        scribe.reply(text, [chat_call(c) for c in calls if c.get("requestor") != "user"])
        return
    legacy = message.get("function_call")
    scribe.reply(text, [chat_call({"function": legacy})] if legacy else ())


def chat_call(call: Mapping[str, Any]) -> ToolCall:
    """A call in a chat message: under `function`, or with its name and arguments at the top."""
    function, key = call.get("function"), call.get("id")
    if isinstance(function, str):
        return call_of(function, call, *_ARGUMENTS, id=key)
    if custom := call.get("custom"):
        return call_of(custom.get("name"), custom, "input", id=key)
    fields = function or call
    name, arguments = fields.get("name"), fields.get("arguments")
    if arguments is not None:
        return call_with(name, arguments, key)
    return call_of(name, fields, *_ARGUMENTS, id=key)


def _returns(message: Mapping[str, Any], scribe: Scribe) -> None:
    bundle = message.get("tool_messages")
    if bundle is not None:
        for single in bundle:
            _returns(single, scribe)
    elif message.get("requestor") != "user":
        key = message.get("tool_call_id")
        error = bool(message.get("error")) or message.get("status") == "error"
        scribe.returned(
            message.get("id") if key is None else key,
            message.get("content"),
            error=error,
            name=message.get("name") if key is None else None,
        )


_NO_OBJECTS = "its messages are no objects"


def _unfit(value: Json) -> str | None:
    messages = listed(value, "messages", "traj")
    if messages is None:
        return 'no list under "messages" or "traj"'
    if not messages:
        return "the list of messages is empty"
    if isinstance(messages[0], dict) and "role" not in messages[0]:
        return "its messages have no role"
    return None if isinstance(messages[0] if value is messages else value, dict) else _NO_OBJECTS


FORM = Form(
    name="openai-chat",
    title="OpenAI chat messages",
    looks='`{"role", "content", "tool_calls": [{"id", "function": {"name", "arguments"}}]}`, and '
    '`"role": "tool"`; also `function_call`, calls with `args`, and messages without ids',
    unfit=_unfit,
    dialogues=one(write_chat, "messages", "traj"),
    streams=True,
)
