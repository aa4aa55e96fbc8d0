"""Gemini contents: `functionCall` and `functionResponse` parts; also the events of an ADK session."""

from __future__ import annotations

from collections.abc import Mapping

from ledgeragent.offline.forms.form import Dialogue, Form, inside, listed, marked, parts_of
from ledgeragent.offline.forms.scribe import Scribe, call_of
from ledgeragent.offline.forms.words import role_of, unknown, unknown_role
from ledgeragent.types import Json

_CALLS, _RESPONSES = ("functionCall", "function_call"), ("functionResponse", "function_response")
_LEFT_OUT = {
    "inlineData": "media",
    "inline_data": "media",
    "fileData": "media",
    "file_data": "media",
    "executableCode": "code of the provider",
    "executable_code": "code of the provider",
    "codeExecutionResult": "code of the provider",
    "code_execution_result": "code of the provider",
    "thoughtSignature": "reasoning",
    "thought_signature": "reasoning",
}
_ROLES = ("user", "model", "function", "tool")


def write_contents(contents: Json, scribe: Scribe) -> None:
    """Writes contents down."""
    for content in scribe.each(contents, "content"):
        role = role_of(content)
        if role not in _ROLES:
            raise unknown_role(role)
        texts: list[str] = []
        responses = 0
        for part in parts_of(content, "parts"):
            call, response = _first(part, _CALLS), _first(part, _RESPONSES)
            if call is not None:
                # A function without parameters is called without any `args`.
                fields = {"args": call.get("args") or {}}
                scribe.call(call_of(call.get("name"), fields, "args", id=call.get("id")))
            elif response is not None:
                _response(response, scribe)
                responses += 1
            elif part.get("thought"):
                scribe.leave_out("reasoning")
            elif isinstance(part.get("text"), str):
                texts.append(part["text"])
            else:
                _leave(part, scribe)
        _say(role, "".join(texts), responses, scribe)


def _say(role: str, text: str, responses: int, scribe: Scribe) -> None:
    if role == "model":
        scribe.say(text) if text else None
    elif text or not responses:
        scribe.user(text)


def _first(part: Mapping[str, Json], names: tuple[str, ...]) -> Mapping[str, Json] | None:
    values = (part.get(name) for name in names)
    return next((value for value in values if isinstance(value, dict)), None)


def _leave(part: Mapping[str, Json], scribe: Scribe) -> None:
    kind = next((name for name in part if name in _LEFT_OUT), None)
    if kind is None:
        raise unknown(", ".join(part), "text", _CALLS[0], _RESPONSES[0])
    scribe.leave_out(_LEFT_OUT[kind])


def _response(response: Mapping[str, Json], scribe: Scribe) -> None:
    content = response.get("response")
    error = isinstance(content, dict) and content.keys() == {"error"}
    if isinstance(content, dict) and len(content) == 1:
        content = next((content[k] for k in ("result", "output", "error") if k in content), content)
    scribe.returned(response.get("id"), content, error=error, name=response.get("name"))


def _contents(value: Json) -> list[Json]:
    contents = [*(listed(value, "contents", "history", "request.contents", "events") or ())]
    for answer in (value, inside(value, "response")):
        for candidate in (listed(answer, "candidates") if isinstance(answer, dict) else None) or ():
            contents.append(inside(candidate, "content"))
            break
    return [
        c["content"] if isinstance(inside(c, "content", "parts"), list) else c for c in contents
    ]


def _is_content(content: Mapping[str, Json]) -> bool:
    names = {name for part in parts_of(content, "parts") for name in part}
    return bool(names & {*_CALLS, *_RESPONSES}) and content.get("role") in _ROLES


def _unfit(value: Json) -> str | None:
    return marked(_is_content, "no part with functionCall or functionResponse")(_contents(value))


def _talks(value: Json) -> list[Dialogue]:
    record = value if isinstance(value, dict) else {}
    return [Dialogue(record, lambda scribe: write_contents(_contents(value), scribe))]


FORM = Form(
    name="gemini",
    title="Gemini contents, ADK sessions",
    looks='`{"role": "model", "parts": [{"functionCall": {"name", "args"}}]}` and '
    '`{"functionResponse": {"name", "response"}}`, also in `events`',
    unfit=_unfit,
    dialogues=_talks,
    streams=True,
)
