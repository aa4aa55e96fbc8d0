"""Bedrock Converse messages, which Strands keeps as well: `toolUse` and `toolResult` in the content."""

from __future__ import annotations

from collections.abc import Mapping

from ledgeragent.offline.forms.form import Dialogue, Form, inside, listed, marked, parts_of
from ledgeragent.offline.forms.scribe import Scribe, call_of
from ledgeragent.offline.forms.words import role_of, unknown, unknown_role
from ledgeragent.types import Json

_LEFT_OUT = {
    "reasoningContent": "reasoning",
    "image": "media",
    "document": "media",
    "video": "media",
    "audio": "media",
    "cachePoint": "cache points",
    "guardContent": "guard content",
    "citationsContent": "citations",
}


def write_converse(messages: Json, scribe: Scribe) -> None:
    """Writes the messages of the Converse API down."""
    for message in scribe.each(messages):
        role = role_of(message)
        if role not in ("user", "assistant"):
            raise unknown_role(role)
        texts: list[str] = []
        results = 0
        for part in _parts(message):
            if "toolUse" in part:
                use = part["toolUse"]
                scribe.call(call_of(use.get("name"), use, "input", id=use.get("toolUseId")))
            elif "toolResult" in part:
                _result(part["toolResult"], scribe)
                results += 1
            elif isinstance(part.get("text"), str):
                texts.append(part["text"])
                if role == "assistant":
                    scribe.say(part["text"])
            else:
                _leave(part, scribe)
        if role == "user" and (texts or not results):
            scribe.user("".join(texts))


def _parts(message: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"text": content}]
    if not isinstance(content, list) or not all(isinstance(part, dict) for part in content):
        raise ValueError('its "content" is no list of objects')
    return content


def _leave(part: Mapping[str, Json], scribe: Scribe) -> None:
    kind = next((name for name in part if name in _LEFT_OUT), None)
    if kind is None:
        raise unknown(", ".join(part), "text", "toolUse", "toolResult")
    scribe.leave_out(_LEFT_OUT[kind])


def _result(result: Mapping[str, Json], scribe: Scribe) -> None:
    values = [_value(part, scribe) for part in parts_of(result)]
    content = values[0] if len(values) == 1 else [_block(v) for v in values]
    error = result.get("status") == "error"
    scribe.returned(result.get("toolUseId"), content, error=error)


def _value(part: Mapping[str, Json], scribe: Scribe) -> Json:
    for key in ("json", "text"):
        if key in part:
            return part[key]
    scribe.leave_out(f"{', '.join(part)} in a return")
    return ""


def _block(value: Json) -> Json:
    return {"type": "text", "text": value} if isinstance(value, str) else value


def _is_converse(message: Mapping[str, Json]) -> bool:
    return any("toolUse" in part or "toolResult" in part for part in parts_of(message))


def _is_strands(message: Mapping[str, Json]) -> bool:
    return _is_converse(message) and bool({"tracking_id", "metadata"} & message.keys())


_LACKING = "no part with toolUse or toolResult"


_ANSWERS = ("output.message", "response.output.message", "output.outputBodyJson.output.message")


def _messages(value: Json) -> list[Json]:
    """The messages of a request, of its answer, or of both; and those that are wrapped singly."""
    request = listed(value, "messages", "request.messages", "input.inputBodyJson.messages") or []
    answers = (inside(value, *place.split(".")) for place in _ANSWERS)
    messages = [*request, *(answer for answer in answers if isinstance(answer, dict))]
    return [
        m["message"] if isinstance(m, dict) and isinstance(m.get("message"), dict) else m
        for m in messages
    ]


def _unfit(value: Json) -> str | None:
    return marked(_is_converse, _LACKING)(_messages(value))


def _unfit_strands(value: Json) -> str | None:
    return marked(_is_strands, f"{_LACKING} beside a tracking_id or metadata")(_messages(value))


def _talks(value: Json) -> list[Dialogue]:
    record = value if isinstance(value, dict) else {}
    return [Dialogue(record, lambda scribe: write_converse(_messages(value), scribe))]


_LOOKS = (
    '`{"role", "content": [{"toolUse": {"toolUseId", "name", "input"}}]}` and '
    '`{"toolResult": {"toolUseId", "content", "status"}}`'
)

FORM = Form(
    name="bedrock",
    title="Bedrock Converse",
    looks=f"{_LOOKS}; a request, its answer, an invocation log",
    unfit=_unfit,
    dialogues=_talks,
    streams=True,
)

STRANDS = Form(
    name="strands",
    title="Strands messages",
    looks="messages of Bedrock Converse with `tracking_id` or `metadata`, or each under `message`",
    unfit=_unfit_strands,
    dialogues=_talks,
    streams=True,
)
