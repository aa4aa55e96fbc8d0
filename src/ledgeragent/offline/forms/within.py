"""Conversations inside the records of tracers and loggers: what went into a model, and what came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ledgeragent.offline.forms import (
    anthropic,
    autogen,
    bedrock,
    chat,
    gemini,
    genai,
    hermes,
    langchain,
    pydanticai,
    responses,
    vercel,
)
from ledgeragent.offline.forms.form import Form
from ledgeragent.offline.forms.genai import decoded
from ledgeragent.offline.forms.scribe import Scribe
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn, canonical

MESSAGE_FORMS: tuple[Form, ...] = (
    responses.FORM,
    pydanticai.FORM,
    genai.FORM,
    vercel.FORM,
    bedrock.STRANDS,
    bedrock.FORM,
    gemini.FORM,
    langchain.FORM,
    autogen.AGENTCHAT,
    autogen.FORM,
    anthropic.FORM,
    hermes.FORM,
    chat.FORM,
)
"""The forms of a list of messages, the most particular first."""

_LISTS = ("messages", "input", "contents", "new_messages", "output", "outputs", "items")
_ONES = (
    "message",
    "generations",
    "choices",
    "output",
    "response",
    "body",
    "input",
    "inputs",
    "data",
)


def exchange(before: Json, after: Json) -> Scribe | None:
    """The conversation of one request to a model, or one step; None where there is none.

    Raises ValueError where it cannot be read.
    """
    question, answer = messages_in(before, "user"), messages_in(after, "assistant")
    if len(answer) > len(question) and _begins(answer, question):
        question = []
    if question[-1:] and _begins(question[::-1], answer[::-1]):
        answer = []
    messages = [*question, *answer]
    if not messages:
        return None
    form = next((form for form in MESSAGE_FORMS if form.unfit(messages) is None), None)
    if form is None:
        return None
    scribe = Scribe()
    for dialogue in form.dialogues(messages):
        try:
            dialogue.write(scribe)
        except ValueError as problem:
            raise ValueError(scribe.at(problem)) from None
    return scribe


def messages_in(value: Json, speaker: str) -> list[Json]:
    """The messages that a request or an answer holds; plain text is the `speaker`'s."""
    value = decoded(value)
    if isinstance(value, str):
        return [{"role": speaker, "content": value}] if value else []
    if isinstance(value, list):
        if len(value) == 1 and isinstance(value[0], list):
            return messages_in(value[0], speaker)
        if value and all(isinstance(one, dict) for one in value):
            return [m for one in value for m in _one(one)]
        return []
    return _of_object(value, speaker) if isinstance(value, dict) else []


def _one(value: Json) -> list[Json]:
    """A message, or what wraps one: a choice, a generation."""
    wrapped = value.get("message")
    return [wrapped] if isinstance(wrapped, dict) and "role" not in value else [value]


def _of_object(value: Json, speaker: str) -> list[Json]:
    if "role" in value or "kwargs" in value or value.get("type") in ("ai", "human", "tool"):
        return [value]
    for key in _LISTS:
        if isinstance(value.get(key), list) and value[key]:
            return messages_in(value[key], speaker)
    for key in _ONES:
        if isinstance(value.get(key), dict | list) and value[key]:
            inner = value[key][:1] if key in ("choices", "generations") else value[key]
            return messages_in(inner, speaker)
    return []


def _begins(whole: Sequence[Json], beginning: Sequence[Json]) -> bool:
    """True where messages repeat others at their beginning: states of a graph do."""
    texts = [_text_of(message) for message in whole]
    opening = [_text_of(message) for message in beginning]
    return bool(opening) and texts[: len(opening)] == opening


def _text_of(message: Json) -> str:
    for fields in (message, message.get("kwargs"), message.get("data")):
        if isinstance(fields, dict) and "content" in fields:
            return canonical(fields["content"])
    return canonical(message)


def distinct(scribes: Iterable[Scribe]) -> list[Scribe]:
    """The conversations that requests in their order belong to: a request repeats what was before.

    One whose calls all stand in another is left out. One that begins later than its predecessor, since
    the agent forgets, is added to it.
    """
    threads: list[Scribe] = []
    for scribe in scribes:
        kin = next((t for t in threads if _is_kin(t, scribe)), None)
        if kin is None:
            threads.append(scribe)
        elif _keys(kin) <= _keys(scribe):
            threads[threads.index(kin)] = _longer(kin, scribe)
        elif not _keys(scribe) <= _keys(kin):
            _append(kin, scribe)
    with_calls = [thread for thread in threads if thread.calls]
    return with_calls or threads


def _is_kin(thread: Scribe, scribe: Scribe) -> bool:
    if _keys(thread) & _keys(scribe):
        return True
    short, long = sorted((thread.messages, scribe.messages), key=len)
    return long[: len(short)] == short


def _longer(one: Scribe, other: Scribe) -> Scribe:
    same = _keys(one) == _keys(other)
    return one if same and len(one.messages) > len(other.messages) else other


def _keys(scribe: Scribe) -> set[tuple[str, str, str]]:
    return {(call.id, *call.intent) for call in scribe.calls}


def _append(thread: Scribe, scribe: Scribe) -> None:
    keys = _keys(thread)
    last = max(n for n, message in enumerate(scribe.messages) if _is_shared(message, keys))
    rest = scribe.messages[last + 1 :]
    present = Counter(m.call_id for m in thread.messages if type(m) is ToolReturn)
    thread.messages += [m for m in rest if type(m) is not ToolReturn or not present[m.call_id]]


def _is_shared(message: Message, keys: set[tuple[str, str, str]]) -> bool:
    return type(message) is Reply and any((c.id, *c.intent) in keys for c in message.calls)


def calls_in(scribes: Iterable[Scribe]) -> list[ToolCall]:
    """Every call of some conversations."""
    return [call for scribe in scribes for call in scribe.calls]
