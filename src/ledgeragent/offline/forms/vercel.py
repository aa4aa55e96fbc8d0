"""Vercel AI: UI messages with tool parts, and model messages with `tool-call` and `tool-result`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby

from ledgeragent.offline.forms.chat import INSTRUCTIONS
from ledgeragent.offline.forms.form import Form, marked, one, parts_of
from ledgeragent.offline.forms.scribe import Scribe, call_of
from ledgeragent.offline.forms.words import leave, role_of, unknown, unknown_role, word, words
from ledgeragent.types import Json

_DONE = {"output-available": False, "output-error": True, "output-denied": True, "result": False}
_QUIET = ("step-start", "source", "source-url", "source-document")


def write_vercel(messages: Json, scribe: Scribe) -> None:
    """Writes UI or model messages down."""
    for message in scribe.each(messages):
        role = role_of(message)
        if role in INSTRUCTIONS:
            scribe.leave_out("instructions")
        elif role == "user":
            scribe.user(_words(message, scribe))
        elif role in ("assistant", "tool"):
            _parts(message, scribe)
        else:
            raise unknown_role(role)


def _words(message: Mapping[str, Json], scribe: Scribe) -> str:
    parts = message.get("parts")
    return words(message.get("content") if parts is None else parts, scribe)


def _parts(message: Mapping[str, Json], scribe: Scribe) -> None:
    parts = message.get("parts", message.get("content"))
    if "parts" not in message:
        _invocations(message.get("toolInvocations") or (), scribe)
    results: list[Mapping[str, Json]] = []
    for part in [parts] if isinstance(parts, str) else parts or ():
        results = _part(part, results, scribe)
    _answer(results, scribe)


def _invocations(calls: Iterable[Mapping[str, Json]], scribe: Scribe) -> None:
    """The calls of a message of version 4, whose text follows them; those of a step run together."""
    for _, step in groupby(calls, lambda call: call.get("step")):
        results: list[Mapping[str, Json]] = []
        for call in step:
            results = _invocation(call, call.get("toolName"), results, scribe)
        _answer(results, scribe)


def _part(
    part: Json, results: list[Mapping[str, Json]], scribe: Scribe
) -> list[Mapping[str, Json]]:
    """One part; returns of a step's calls are told once all its calls were."""
    kind = "text" if isinstance(part, str) else str(part.get("type"))
    if kind == "text":
        if results:
            _answer(results, scribe)
            results = []
        scribe.say(word(part, scribe))
    elif kind == "step-start":
        _answer(results, scribe)
        results = []
    elif kind == "tool-invocation":
        call = part["toolInvocation"]
        return _invocation(call, call.get("toolName"), results, scribe)
    elif kind == "tool-call":
        scribe.call(call_of(part.get("toolName"), part, "input", "args", id=part.get("toolCallId")))
    elif kind == "tool-result":
        _model_result(part, scribe)
    elif kind == "dynamic-tool" or (kind.startswith("tool-") and "toolCallId" in part):
        name = part.get("toolName") or kind.removeprefix("tool-")
        return _invocation(part, name, results, scribe)
    elif kind in _QUIET or kind.startswith("data-"):
        scribe.leave_out(kind)
    elif kind in ("tool-approval-request", "tool-approval-response"):
        scribe.leave_out("approvals")
    elif not leave(kind, scribe):
        raise unknown(kind, "text", "tool-call", "tool-result", "tool-NAME")
    return results


def _invocation(
    call: Mapping[str, Json], name: Json, results: list[Mapping[str, Json]], scribe: Scribe
) -> list[Mapping[str, Json]]:
    scribe.call(call_of(name, call, "input", "args", "rawInput", id=call.get("toolCallId")))
    state = call.get("state")
    return [*results, call] if state in _DONE else results


def _answer(results: list[Mapping[str, Json]], scribe: Scribe) -> None:
    for call in results:
        content = next((call[k] for k in ("output", "result", "errorText") if k in call), None)
        scribe.returned(call.get("toolCallId"), content, error=_DONE[str(call["state"])])


def _model_result(part: Mapping[str, Json], scribe: Scribe) -> None:
    output = part.get("output", part.get("result"))
    error = bool(part.get("isError"))
    if isinstance(output, dict) and "type" in output and "value" in output:
        error = error or str(output["type"]).startswith("error")
        output = output["value"]
    scribe.returned(part.get("toolCallId"), output, error=error)


def _is_message(message: Mapping[str, Json]) -> bool:
    if message.get("toolInvocations"):
        return True
    parts = [*parts_of(message), *parts_of(message, "parts")]
    return any("toolCallId" in part or "toolInvocation" in part for part in parts)


FORM = Form(
    name="vercel",
    title="Vercel AI messages (UI and model)",
    looks='`{"role", "parts": [{"type": "tool-NAME", "toolCallId", "state", "input", "output"}]}`; '
    '`{"role", "content": [{"type": "tool-call", "toolCallId", "toolName", "input"}]}`',
    unfit=marked(_is_message, "no part with a toolCallId", "messages"),
    dialogues=one(write_vercel, "messages"),
    streams=True,
)
