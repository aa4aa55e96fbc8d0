"""Conversations in spans, by the GenAI conventions (all their ages), OpenInference, OpenLLMetry, Vercel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from ledgeragent.offline.forms import genai
from ledgeragent.offline.forms.form import Dialogue, Form, Writing, inside
from ledgeragent.offline.forms.genai import decoded
from ledgeragent.offline.forms.scribe import NO_ID, Scribe, call_of
from ledgeragent.offline.forms.spanrecords import (
    SpanRecord,
    has_spans,
    may_hold_spans,
    nested,
    spans_in,
)
from ledgeragent.offline.forms.times import moment_in
from ledgeragent.offline.forms.toolruns import ToolRun, answer_last
from ledgeragent.offline.forms.within import distinct, exchange
from ledgeragent.types import Json, Message, Reply

_CONVERSATION = ("gen_ai.conversation.id", "session.id", "langfuse.session.id")
_ALL = ("pydantic_ai.all_messages", "all_messages")
_ALL_EVENTS = ("all_messages_events", "events")
_EVENT = "gen_ai."


def _talks(value: Json) -> Iterator[Dialogue]:
    groups: dict[str, list[SpanRecord]] = {}
    spans = spans_in(value)
    names = _conversations(spans)
    for span in spans:
        groups.setdefault(names.get(span.trace, span.trace), []).append(span)
    empty = True
    for name, group in groups.items():
        threads = _threads(group)
        for thread in threads:
            empty = False
            yield Dialogue({"id": name} if len(threads) == 1 else {}, _copying(thread))
    if empty:
        yield Dialogue({}, _refuse)


def _copying(source: Scribe) -> Writing:
    return lambda scribe: scribe.copy(source)


def _refuse(scribe: Scribe) -> None:
    raise ValueError(
        "no span in it holds messages or a call of a tool; is the recording of content switched on?"
    )


def _conversations(spans: list[SpanRecord]) -> dict[str, str]:
    """The conversation that a trace belongs to, where one of its spans says so."""
    return {
        span.trace: str(span.attributes[key])
        for span in spans
        for key in _CONVERSATION
        if span.attributes.get(key)
    }


def _threads(spans: list[SpanRecord]) -> list[Scribe]:
    scribes = []
    for span in spans:
        try:
            scribe = _scribe(span)
        except ValueError as problem:
            raise ValueError(f"span {span.name!r}: {problem}") from None
        if scribe is not None:
            scribe.messages[:] = [_at(span, message) for message in scribe.messages]
            scribes.append(scribe)
    tools = [call for span in spans if (call := _tool(span)) is not None]
    threads = distinct(scribes)
    if tools and not any(thread.calls for thread in threads):
        return [_of_tools(tools, threads)]
    answer_last(threads, (run for run in tools if run.result is not None))
    return threads


def _at(span: SpanRecord, message: Message) -> Message:
    """The message, at the time of its span where it tells none itself."""
    if type(message) is not Reply or message.at:
        return message
    return replace(message, at=moment_in(span.start.lstrip("0")))


def _scribe(span: SpanRecord) -> Scribe | None:
    """The conversation that a span records, by the first convention that it follows."""
    attributes = span.attributes
    for before, after in _sides(attributes):
        if before is not None or after is not None:
            return exchange(before, after)
    messages = _of_events(span)
    return exchange(messages, None) if messages else None


def _sides(attributes: Mapping[str, Json]) -> Iterator[tuple[Json, Json]]:
    for name in _ALL:
        yield attributes.get(name), None
    yield decoded(attributes.get(genai.INPUT)), decoded(attributes.get(genai.OUTPUT))
    sides = (nested(attributes, "llm.input_messages"), nested(attributes, "llm.output_messages"))
    yield tuple(_of_inference(side) for side in sides)
    yield nested(attributes, "gen_ai.prompt"), nested(attributes, "gen_ai.completion")
    yield attributes.get("ai.prompt.messages"), _of_vercel(attributes)


def _of_inference(messages: Json) -> Json:
    """Messages of OpenInference as chat messages."""
    if not isinstance(messages, list):
        return None
    return [_chat(inside(message, "message") or message) for message in messages]


def _chat(message: Mapping[str, Json]) -> Json:
    calls = [inside(call, "tool_call") or call for call in message.get("tool_calls") or ()]
    content = message.get("content")
    if content is None and isinstance(message.get("contents"), list):
        content = [
            _content(inside(part, "message_content") or part) for part in message["contents"]
        ]
    chat = {**message, "content": content, "tool_calls": calls}
    if message.get("function_call_name"):
        chat["function_call"] = {
            "name": message["function_call_name"],
            "arguments": message.get("function_call_arguments_json"),
        }
    return chat


def _content(part: Json) -> Json:
    return {"type": "image"} if inside(part, "image") is not None else part


def _of_vercel(attributes: Mapping[str, Json]) -> Json:
    calls = decoded(attributes.get("ai.response.toolCalls"))
    text = attributes.get("ai.response.text")
    if calls is None and text is None:
        return None
    parts = [{"type": "text", "text": text}] if text else []
    return [
        {
            "role": "assistant",
            "content": [*parts, *({"type": "tool-call", **c} for c in calls or ())],
        }
    ]


def _of_events(span: SpanRecord) -> list[Json]:
    """Chat messages out of events: one a message, `gen_ai.choice` for what the model said."""
    events: list[tuple[str, Mapping[str, Json]]] = [*span.events]
    for name in _ALL_EVENTS:
        rows = decoded(span.attributes.get(name))
        if isinstance(rows, list):
            events = [(str(inside(row, "event.name") or ""), row) for row in rows]
            break
    messages = []
    for name, fields in events:
        if name.startswith(_EVENT) and (name.endswith(".message") or name == "gen_ai.choice"):
            messages.append(_of_event(name, fields))
    return messages


def _of_event(name: str, fields: Mapping[str, Json]) -> Json:
    fields = {key: decoded(value) for key, value in fields.items() if key != "content"} | (
        {"content": fields["content"]} if "content" in fields else {}
    )
    if name == "gen_ai.choice":
        return {"role": "assistant", **(fields.get("message") or fields)}
    return {"role": name.removeprefix(_EVENT).removesuffix(".message"), **fields}


_TOOL = (
    ("gen_ai.tool.name", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"),
    ("gen_ai.tool.name", "tool_arguments", "tool_response"),
    ("ai.toolCall.name", "ai.toolCall.args", "ai.toolCall.result"),
    ("tool.name", "input.value", "output.value"),
    ("traceloop.entity.name", "traceloop.entity.input", "traceloop.entity.output"),
)


def _tool(span: SpanRecord) -> ToolRun | None:
    """The call that a span of a tool records."""
    attributes = span.attributes
    for name, arguments, result in _TOOL:
        if isinstance(attributes.get(name), str) and attributes.get(arguments) is not None:
            key = attributes.get("gen_ai.tool.call.id", attributes.get("ai.toolCall.id"))
            return ToolRun(
                name=attributes[name],
                arguments=decoded(attributes[arguments]),
                result=decoded(attributes.get(result)),
                key=key,
            )
    return None


def _of_tools(tools: list[ToolRun], threads: list[Scribe]) -> Scribe:
    """The calls alone, where no span of a model tells them; after what the user said first."""
    scribe = Scribe()
    if threads and threads[0].messages:
        scribe.messages.append(threads[0].messages[0])
    for run in tools:
        fields = {"arguments": run.arguments}
        scribe.reply(calls=[call_of(run.name, fields, "arguments", id=run.key or NO_ID)])
        if run.result is not None:
            scribe.returned(run.key, run.result)
    return scribe


def _unfit(value: Json) -> str | None:
    return None if has_spans(value) else "no span with a trace id and attributes"


FORM = Form(
    name="spans",
    title="OTLP JSON and span exports (GenAI conventions, OpenInference, Logfire, Phoenix)",
    looks='`{"resourceSpans"}`, or spans with `trace_id` and `attributes`',
    unfit=_unfit,
    dialogues=_talks,
    streams=True,
    part=may_hold_spans,
)
