"""Messages by OpenTelemetry's GenAI conventions: `parts` with `tool_call` and `tool_call_response`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ledgeragent.offline.forms.chat import INSTRUCTIONS
from ledgeragent.offline.forms.form import Dialogue, Form, inside, listed, marked, parts_of
from ledgeragent.offline.forms.scribe import Scribe, call_of
from ledgeragent.offline.forms.words import leave, role_of, unknown, unknown_role, word
from ledgeragent.types import Json

_CALLS, _RESPONSES = ("tool_call",), ("tool_call_response", "tool_result")
INPUT, OUTPUT = "gen_ai.input.messages", "gen_ai.output.messages"


def write_parts(messages: Json, scribe: Scribe) -> None:
    """Writes messages with parts down."""
    for message in scribe.each(messages):
        role = role_of(message)
        if role in INSTRUCTIONS:
            scribe.leave_out("instructions")
            continue
        if role not in ("user", "assistant", "tool"):
            raise unknown_role(role)
        _parts(message, role, scribe)


def _parts(message: Mapping[str, Json], role: str, scribe: Scribe) -> None:
    texts: list[str] = []
    responses = 0
    for part in parts_of(message, "parts"):
        kind = part.get("type")
        if kind in _CALLS:
            scribe.call(call_of(part.get("name"), part, "arguments", id=part.get("id")))
        elif kind in _RESPONSES:
            _response(part, scribe)
            responses += 1
        elif kind == "text":
            texts.append(word(part, scribe))
        elif kind in ("server_tool_call", "server_tool_call_response"):
            scribe.leave_out("tools of the provider")
        elif not leave(str(kind), scribe):
            raise unknown(kind, "text", *_CALLS, _RESPONSES[0])
    if role == "assistant":
        scribe.say("".join(texts)) if any(texts) else None
    elif texts or not responses:
        scribe.user("".join(texts))


def _response(part: Mapping[str, Json], scribe: Scribe) -> None:
    names = [name for name in ("response", "result", "content") if name in part]
    if not names:
        raise ValueError("a tool's return has no content; expected 'response'")
    scribe.returned(part.get("id"), part[names[0]])


def decoded(value: Json) -> Json:
    """A value that an attribute holds as JSON text; text that is none as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def genai_messages(value: Json) -> list[Json]:
    """The messages in a list, or in the attributes of a span: what came in, then what went out."""
    if isinstance(value, dict) and isinstance(value.get("attributes"), dict):
        value = value["attributes"]
    if isinstance(value, list):
        return value
    pairs = (
        (INPUT, OUTPUT),
        ("input_messages", "output_messages"),
        ("input.messages", "output.messages"),
    )
    for pair in pairs:
        sides = [decoded(inside(value, key)) for key in pair]
        if any(isinstance(side, list) for side in sides):
            return [m for side in sides if isinstance(side, list) for m in side]
    return listed(value, "messages") or []


def _is_message(message: Mapping[str, Json]) -> bool:
    kinds = {part.get("type") for part in parts_of(message, "parts")}
    return bool(kinds & {*_CALLS, *_RESPONSES})


def _unfit(value: Json) -> str | None:
    return marked(_is_message, "no part of the type tool_call or tool_call_response")(
        genai_messages(value)
    )


def _talks(value: Json) -> list[Dialogue]:
    record = value if isinstance(value, dict) else {}
    return [Dialogue(record, lambda scribe: write_parts(genai_messages(value), scribe))]


FORM = Form(
    name="gen-ai",
    title="OpenTelemetry GenAI messages",
    looks='`{"role", "parts": [{"type": "tool_call", "id", "name", "arguments"}]}` and '
    '`{"type": "tool_call_response", "id", "response"}`; `gen_ai.input.messages`',
    unfit=_unfit,
    dialogues=_talks,
    streams=True,
)
