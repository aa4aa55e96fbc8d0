"""Pydantic AI's message history: requests and responses with parts, each with its `part_kind`."""

from __future__ import annotations

from collections.abc import Mapping

from ledgeragent.offline.forms.form import Form, marked, one, parts_of
from ledgeragent.offline.forms.scribe import Scribe, call_of
from ledgeragent.offline.forms.words import leave, unknown, words
from ledgeragent.types import Json

_KEYS = ("messages", "all_messages", "message_history", "new_messages")


def write_history(messages: Json, scribe: Scribe) -> None:
    """Writes a message history down."""
    for message in scribe.each(messages):
        if not isinstance(message, dict) or message.get("kind") not in ("request", "response"):
            raise ValueError("its 'kind' is neither request nor response")
        for part in parts_of(message, "parts"):
            _part(part, str(part.get("part_kind")), scribe)


def _part(part: Mapping[str, Json], kind: str, scribe: Scribe) -> None:
    key, name = part.get("tool_call_id"), part.get("tool_name")
    match kind:
        case "user-prompt":
            scribe.user(_prompt(part.get("content"), scribe))
        case "tool-call":
            # A model may call a tool without parameters with no arguments at all.
            fields = {"args": {} if part.get("args", 0) is None else part.get("args")}
            scribe.call(call_of(name, fields, "args", id=key))
        case "tool-return":
            failed = part.get("outcome", "success") != "success"
            scribe.returned(key, part.get("content"), error=failed, name=name)
        case "retry-prompt" if name is None:
            scribe.leave_out("requests to try again")
        case "retry-prompt":
            scribe.returned(key, part.get("content"), error=True, name=name)
        case "text":
            scribe.say(words(part.get("content"), scribe))
        case "system-prompt":
            scribe.leave_out("instructions")
        case "builtin-tool-call" | "builtin-tool-return":
            scribe.leave_out("tools of the provider")
        case _ if not leave(kind, scribe):
            raise unknown(kind, "user-prompt", "text", "tool-call", "tool-return")


def _prompt(content: Json, scribe: Scribe) -> str:
    if not isinstance(content, list):
        return words(content, scribe)
    texts = []
    for item in content:
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, dict) and isinstance(item.get("content"), str):
            texts.append(item["content"])
        elif not leave(str(item.get("kind") if isinstance(item, dict) else item), scribe):
            raise unknown(item.get("kind"), "text", "image-url")
    return "".join(texts)


def _is_message(message: Mapping[str, Json]) -> bool:
    return any("part_kind" in part for part in parts_of(message, "parts"))


FORM = Form(
    name="pydantic-ai",
    title="Pydantic AI message history",
    looks='`{"kind": "response", "parts": [{"part_kind": "tool-call", "tool_name", "args"}]}`',
    unfit=marked(_is_message, "no part with a part_kind", *_KEYS),
    dialogues=one(write_history, *_KEYS),
    streams=True,
)
