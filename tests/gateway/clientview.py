"""What a careless client finds in an answer: every call that any reading of its bytes could give."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from ledgeragent.types import ToolCall

_ARGUMENTS = ("arguments", "input")


def objects_in(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in a JSON value, but not what the arguments of calls hold."""
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, dict):
            yield inner
            waiting += [part for key, part in inner.items() if str(key).lower() not in _ARGUMENTS]
        elif isinstance(inner, list):
            waiting += inner


def calls_in(value: Any) -> Iterator[ToolCall]:
    """Whatever has a name and arguments, with keys in any case: there is a client that executes it."""
    for each in objects_in(value):
        keys = {str(key).lower(): inner for key, inner in each.items()}
        name = keys.get("name")
        arguments = next((keys[key] for key in _ARGUMENTS if key in keys), None)
        if isinstance(name, str) and name and arguments is not None:
            yield _call(name, arguments, str(keys.get("call_id") or keys.get("id") or ""))


def _call(name: str, arguments: Any, id: str) -> ToolCall:
    if isinstance(arguments, str | dict):
        return ToolCall.parse(name=name, arguments=arguments, id=id)
    return ToolCall(name=name, id=id, malformed=str(arguments))


def calls_of_stream(events: Iterable[Any]) -> list[ToolCall]:
    """The calls of a stream, put together as clients do: by index, name and arguments in pieces."""
    pieces: dict[tuple[str, Any], list[str]] = {}
    whole: list[ToolCall] = []
    for event in events:
        if not isinstance(event, dict):
            continue
        for part in _parts_of(event):
            function = part.get("function")
            held = pieces.setdefault(("chat", str(part.get("index"))), ["", ""])
            held[0] += _text(function, "name")
            held[1] += _text(function, "arguments")
        kind, index = str(event.get("type")), str(event.get("index"))
        block = event.get("content_block")
        if kind == "content_block_start" and isinstance(block, dict) and "name" in block:
            pieces[kind, index] = [str(block["name"]), ""]
        elif kind == "content_block_delta" and ("content_block_start", index) in pieces:
            pieces["content_block_start", index][1] += _text(event.get("delta"), "partial_json")
        elif kind == "response.output_item.added" and not _text(event.get("item"), "arguments"):
            continue  # Its arguments are still to come.
        else:
            whole += calls_in({**event, "choices": None})
    return [*whole, *(_call(name, text, "") for name, text in pieces.values())]


def _parts_of(event: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The parts of calls in a chunk."""
    for each in objects_in(event.get("choices")):
        parts = each.get("tool_calls")
        yield from (part for part in parts or () if isinstance(part, dict))


def _text(value: Any, name: str) -> str:
    text = value.get(name) if isinstance(value, dict) else None
    return text if isinstance(text, str) else ""


def events_in(data: bytes) -> list[Any]:
    """The events of a body, as far as they can be read."""
    lines = data.decode(errors="replace").split("\n")
    texts = (line[5:] for line in lines if line.startswith("data:"))
    return [json.loads(text) for text in texts if text.strip() != "[DONE]"]
