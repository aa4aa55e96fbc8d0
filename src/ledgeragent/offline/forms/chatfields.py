"""Chat fields: the messages of a benchmark's runs, as the fast decoder reads them straight into fields.

Only messages that hold these fields and no others, each of its kind, are read so. Needs the extra `fast`.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ledgeragent.engines.assembly import reply, user_message
from ledgeragent.offline.forms.chat import INSTRUCTIONS
from ledgeragent.offline.forms.scribe import Scribe, call_with
from ledgeragent.offline.forms.words import unknown_role
from ledgeragent.types import ToolCall


class ChatFunction(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The tool that a call names, and its arguments as JSON text."""

    name: str
    arguments: str


class ChatCall(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A call in a chat message."""

    function: ChatFunction
    id: str | None = None
    type: str | None = None
    requestor: str | None = None


class ChatMessage(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """A chat message whose content is text."""

    role: str
    content: str | None = None
    tool_calls: list[ChatCall] | None = None
    tool_call_id: str | None = None
    name: str | None = None
    requestor: str | None = None
    error: bool | None = None
    id: str | None = None
    reasoning_content: str | None = None


def write_fields(messages: Iterable[ChatMessage], scribe: Scribe) -> None:
    """Writes messages down as `write_chat` does the objects that they are in JSON."""
    write, now = scribe.messages.append, scribe.now
    for message in messages:
        role = message.role
        if role == "assistant":
            if message.tool_calls:
                scribe.reply(message.content or "", _agent_calls(message.tool_calls))
            else:
                write(reply(message.content or "", (), now))
        elif role in ("tool", "function"):
            _write_return(message, scribe)
        elif role == "user":
            write(user_message(message.content or ""))
        elif role in INSTRUCTIONS:
            scribe.leave_out("instructions")
        else:
            raise unknown_role(role)


def _agent_calls(calls: Iterable[ChatCall]) -> list[ToolCall]:
    return [
        call_with(call.function.name, call.function.arguments, call.id)
        for call in calls
        if call.requestor != "user"
    ]


def _write_return(message: ChatMessage, scribe: Scribe) -> None:
    if message.requestor == "user":
        return
    key, error = message.tool_call_id, message.error is True
    if key is not None:
        scribe.returned(key, message.content, error=error)
    else:
        scribe.returned(message.id, message.content, error=error, name=message.name)
