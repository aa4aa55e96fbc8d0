"""OpenAI Responses items: `function_call` and `function_call_output`; also NeMo Gym and Codex rows."""

from __future__ import annotations

from collections.abc import Mapping

from ledgeragent.offline.forms.chat import INSTRUCTIONS
from ledgeragent.offline.forms.form import Dialogue, Form, inside, listed, marked
from ledgeragent.offline.forms.scribe import Scribe, call_of
from ledgeragent.offline.forms.words import role_of, unknown, unknown_role, words
from ledgeragent.types import Json

_CALLS = {"function_call": "arguments", "custom_tool_call": "input"}
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_OWN = ("_call", "_call_output", "_list_tools", "_approval_request", "_approval_response")


def write_items(items: Json, scribe: Scribe) -> None:
    """Writes items down. Those of one generation stand apart: it ends with an output or the user."""
    for item in scribe.each(items, "item"):
        if not isinstance(item, dict):
            raise ValueError("it is no object")
        kind = item.get("type", "message")
        if kind == "message":
            _message(item, scribe)
        elif kind in _CALLS:
            scribe.call(call_of(item.get("name"), item, _CALLS[kind], id=item.get("call_id")))
        elif kind in _OUTPUTS:
            lost = item.get("status") not in (None, "completed")
            scribe.returned(item.get("call_id"), _output(item), lost=lost)
        elif kind == "mcp_call":
            _mcp_call(item, scribe)
        else:
            _leave(str(kind), scribe)


def _output(item: Mapping[str, Json]) -> Json:
    if "output" not in item:
        raise ValueError("a tool's return has no 'output'")
    return item["output"]


def _message(item: Mapping[str, Json], scribe: Scribe) -> None:
    role, text = role_of(item), words(item.get("content"), scribe)
    if role == "assistant":
        scribe.say(text)
    elif role == "user":
        scribe.user(text)
    elif role in INSTRUCTIONS:
        scribe.leave_out("instructions")
    else:
        raise unknown_role(role)


def _mcp_call(item: Mapping[str, Json], scribe: Scribe) -> None:
    scribe.call(call_of(item.get("name"), item, "arguments", id=item.get("id")))
    if (error := item.get("error")) is not None or item.get("output") is not None:
        content = item.get("output") if error is None else f"Error: {error}"
        scribe.returned(item.get("id"), content, error=error is not None)


def _leave(kind: str, scribe: Scribe) -> None:
    if kind in ("reasoning", "item_reference", "compaction"):
        scribe.leave_out(kind)
    elif kind.endswith(_OWN):
        scribe.leave_out("tools of the provider")
    else:
        raise unknown(kind, "message", "function_call", "function_call_output", "reasoning")


def _items(value: Json) -> list[Json]:
    """The items of a request, its answer or both; rows of a log hold each under `payload`."""
    if isinstance(value, list):
        return _unpacked(value)
    before = [*_side(inside(value, "responses_create_params")), *_side(inside(value, "request"))]
    answer = value.get("response") if isinstance(inside(value, "response"), dict) else value
    own = _side(value) if not before else []
    return [*before, *own, *(listed(answer, "output", "items", "new_items") or ())]


def _side(request: Json) -> list[Json]:
    inputs = inside(request, "input")
    if isinstance(inputs, str):
        return [{"role": "user", "content": inputs}]
    return inputs if isinstance(inputs, list) else []


def _unpacked(lines: list[Json]) -> list[Json]:
    if not any(inside(line, "type") == "response_item" for line in lines[:50]):
        return lines
    # What else a rollout notes has a payload too: its settings, and events for the screen.
    return [
        line["payload"] if inside(line, "type") == "response_item" else line
        for line in lines
        if inside(line, "type") == "response_item" or inside(line, "payload") is None
    ]


def _is_part(value: Json) -> bool:
    return isinstance(value, dict) and not value.keys().isdisjoint(("type", "role"))


def _is_item(item: Mapping[str, Json]) -> bool:
    return item.get("type") in (*_CALLS, *_OUTPUTS, "mcp_call")


_LACKING = "no item of the type function_call"


def _unfit(value: Json) -> str | None:
    if not isinstance(value, dict | list):
        return "neither a list nor an object"
    return marked(_is_item, _LACKING)(_items(value))


def _unfit_gym(value: Json) -> str | None:
    if not isinstance(inside(value, "responses_create_params"), dict):
        return "no responses_create_params"
    return None


def _talks(value: Json) -> list[Dialogue]:
    record = value if isinstance(value, dict) else {}
    return [Dialogue(record, lambda scribe: write_items(_items(value), scribe))]


def _gym_talks(value: Json) -> list[Dialogue]:
    tools = inside(value, "responses_create_params", "tools")
    names = [tool for tool in tools or () if isinstance(inside(tool, "name"), str)]
    return [Dialogue({**value, "tools": names}, dialogue.write) for dialogue in _talks(value)]


FORM = Form(
    name="responses",
    title="OpenAI Responses items",
    looks='`{"type": "function_call", "call_id", "name", "arguments"}` and '
    '`{"type": "function_call_output", "call_id", "output"}`; `input` and `output`; rollouts',
    unfit=_unfit,
    dialogues=_talks,
    streams=True,
    part=_is_part,
)

GYM = Form(
    name="nemo-gym",
    title="NeMo Gym rows",
    looks='`{"responses_create_params": {"input", "tools"}, "response": {"output"}, "reward"}`',
    unfit=_unfit_gym,
    dialogues=_gym_talks,
)
