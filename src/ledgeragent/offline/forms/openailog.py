"""Logs of requests to a model: batch files, and entries with a request and its answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ledgeragent.offline.forms.form import Dialogue, Form, inside
from ledgeragent.offline.forms.scribe import Scribe
from ledgeragent.offline.forms.within import exchange
from ledgeragent.types import Json

_REQUESTS = ("body", "request", "request_body", "requestBody", "input", "messages")
_ANSWERS = ("response", "response_body", "responseBody", "result", "output", "choices")


def _sides(value: Mapping[str, Json]) -> tuple[Json, Json]:
    request = next((value[k] for k in _REQUESTS if value.get(k) is not None), None)
    answer = next((value[k] for k in _ANSWERS if value.get(k) is not None), None)
    return _body(request), _body(answer)


def _body(side: Json) -> Json:
    """What a request or an answer carries, out of its envelope."""
    body = inside(side, "body")
    return body if isinstance(body, dict | str) else side


def _talks(value: Json) -> Iterator[Dialogue]:
    request, _ = _sides(value)
    tools = inside(request, "tools")
    record = {"id": value.get("custom_id"), "tools": tools if isinstance(tools, list) else None}
    yield Dialogue(record, lambda scribe: _write(value, scribe))


def _write(value: Mapping[str, Json], scribe: Scribe) -> None:
    if value.get("error") and not value.get("response"):
        raise ValueError("the request failed; there is no answer of a model in it")
    request, answer = _sides(value)
    if _is_stream(answer):
        raise ValueError("the answer is a chunk of a stream, or several; log the whole answer")
    conversation = exchange(request, answer)
    if conversation is None:
        raise ValueError("there are no messages in it")
    scribe.copy(conversation)


def _is_stream(answer: Json) -> bool:
    """True for pieces of an answer, in JSON or in the text of server-sent events."""
    if isinstance(answer, str):
        return answer.lstrip().startswith(("data:", "event:"))
    if isinstance(answer, list):
        return any(map(_is_stream, answer))
    if not isinstance(answer, dict):
        return False
    pieces = (inside(answer, "choices") or ()) if "choices" in answer else ()
    return any("delta" in choice for choice in pieces if isinstance(choice, dict)) or str(
        answer.get("object")
    ).endswith(".chunk")


def _unfit(value: Json) -> str | None:
    if not isinstance(value, dict):
        return "no object"
    if "custom_id" in value and ({"body", "response", "result"} & value.keys()):
        return None
    if str(value.get("object", "")).startswith("chat.completion"):
        return None
    request, answer = _sides(value)
    if (
        isinstance(request, dict | list)
        and isinstance(answer, dict | list)
        and answer is not request
    ):
        return None
    if isinstance(inside(request, "messages"), list):
        return None
    return "no custom_id, and no request beside its answer"


FORM = Form(
    name="openai-log",
    title="Batch files and request logs",
    looks='`{"custom_id", "body"}`, `{"custom_id", "response": {"body"}}`, `{"request", "response"}`, '
    '`{"messages", "response": {"choices"}}`',
    unfit=_unfit,
    dialogues=_talks,
)
