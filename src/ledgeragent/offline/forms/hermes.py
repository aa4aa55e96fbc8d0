"""Calls written as text: `<tool_call>` as Hermes and Qwen models do, also in ShareGPT conversations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from ledgeragent.offline.forms.chat import INSTRUCTIONS
from ledgeragent.offline.forms.form import Dialogue, Form, listed
from ledgeragent.offline.forms.scribe import Scribe, call_of
from ledgeragent.offline.forms.words import unknown_role, words
from ledgeragent.types import Json, ToolCall

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>", re.DOTALL)
_RESPONSE = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.DOTALL)
_THOUGHT = re.compile(r"<think>.*?</think>", re.DOTALL)
_FUNCTION = re.compile(r"<function=([^>\s]+)>(.*?)</function>", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_OPEN = ("<tool_call>", "<tool_response>")
_ROLES = {
    "system": "system", "human": "user", "user": "user", "gpt": "assistant", "model": "assistant",
    "chatgpt": "assistant", "assistant": "assistant", "tool": "tool", "observation": "tool",
    "function_response": "tool", "ipython": "tool", "function_call": "call", "tool_call": "call",
}  # fmt: skip


def write_texts(messages: Json, scribe: Scribe) -> None:
    """Writes messages down in whose text calls and returns stand."""
    for message in scribe.each(messages):
        role, text = _said(message, scribe)
        if role == "system" or role in INSTRUCTIONS:
            scribe.leave_out("instructions")
        elif role == "assistant":
            _generation(text, scribe)
        elif role == "call":
            scribe.reply(calls=[_call(text)])
        elif role in ("user", "tool"):
            _turn(role, text, message, scribe)
        else:
            raise unknown_role(role)


def _said(message: Json, scribe: Scribe) -> tuple[str, str]:
    if not isinstance(message, dict):
        raise ValueError("it is no message object")
    role = message.get("from", message.get("role"))
    content = message.get("value", message.get("content"))
    return _ROLES.get(str(role), str(role)), words(content, scribe)


def _generation(text: str, scribe: Scribe) -> None:
    calls = [_call(body) for body in _CALL.findall(text)]
    rest = _CALL.sub("", text)
    if "<tool_call>" in rest:
        raise ValueError("a <tool_call> without its end")
    scribe.leave_out("reasoning", len(_THOUGHT.findall(rest))) if "<think>" in rest else None
    scribe.reply(_THOUGHT.sub("", rest).strip(), calls)


def _call(body: str) -> ToolCall:
    """A call in JSON, or as `<function=NAME><parameter=KEY>`."""
    function = _FUNCTION.search(body)
    if function is not None:
        values = {key: _value(value) for key, value in _PARAMETER.findall(function[2])}
        return call_of(function[1], {"arguments": values}, "arguments")
    try:
        fields = json.loads(body)
    except ValueError:
        raise ValueError(f"a <tool_call> that is no JSON: {body:.80}") from None
    if not isinstance(fields, dict):
        raise ValueError("a <tool_call> that is no JSON object")
    return call_of(fields.get("name"), fields, "arguments", "parameters", id=fields.get("id"))


def _value(text: str) -> Json:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _turn(role: str, text: str, message: Mapping[str, Json], scribe: Scribe) -> None:
    responses = _RESPONSE.findall(text)
    rest = _RESPONSE.sub("", text).strip()
    if "<tool_response>" in rest:
        raise ValueError("a <tool_response> without its end")
    if role == "tool" and not responses:
        responses, rest = [text], ""
    for body in responses:
        content, name = _response(body)
        scribe.returned(message.get("tool_call_id"), content, name=message.get("name") or name)
    if role == "user" and (rest or not responses):
        scribe.user(rest)


def _response(body: str) -> tuple[Json, Json]:
    """What a tool answered, and its name where the response tells it."""
    value = _value(body)
    if (
        isinstance(value, dict)
        and "name" in value
        and value.keys() <= {"name", "content", "tool_call_id"}
    ):
        return value.get("content"), value["name"]
    return body, None


def _unfit(value: Json) -> str | None:
    messages = listed(value, "conversations", "messages", "conversation")
    if messages is None:
        return 'no list under "conversations" or "messages"'
    if any(isinstance(message, dict) and _is_written(message) for message in messages):
        return None
    return "no <tool_call> in what an assistant says, and no message with from and value"


def _is_written(message: Mapping[str, Json]) -> bool:
    if "from" in message and "value" in message:
        return True
    # Prompts explain the form; only what the model or a tool says is written in it.
    content = message.get("content")
    if not isinstance(content, str) or message.get("role") in INSTRUCTIONS:
        return False
    return any(mark in content for mark in _OPEN)


def _talks(value: Json) -> Iterator[Dialogue]:
    messages = listed(value, "conversations", "messages", "conversation")
    record = value if isinstance(value, dict) else {}
    yield Dialogue({**record, "tools": None}, lambda scribe: write_texts(messages, scribe))


FORM = Form(
    name="hermes",
    title="Calls as text (Hermes, Qwen, ShareGPT)",
    looks='`<tool_call>{"name", "arguments"}</tool_call>` and `<tool_response>` in the text; '
    '`{"conversations": [{"from": "gpt", "value"}]}`',
    unfit=_unfit,
    dialogues=_talks,
    streams=True,
)
