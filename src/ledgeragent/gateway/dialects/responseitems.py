"""Items of a response: the messages in them, the reply, and what answers a call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ledgeragent.gateway.dialects.base import (
    Body,
    PendingAnswer,
    WireReply,
    result_of,
    string,
    text_of,
)
from ledgeragent.gateway.errors import BadReplyError, BadRequestError
from ledgeragent.gateway.values import read_call
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

_SILENT_ROLES = ("system", "developer")


SILENT_ITEMS = ("reasoning", "compaction")


def items_of(raw: Any) -> list[Any]:
    return [{"role": "user", "content": raw}] if isinstance(raw, str) else list(raw)


_WHOLE = (None, "completed")
"""What a return's status is where all of it is there."""


def messages_of(items: Sequence[Any]) -> Iterator[Message]:
    """The messages in a list of items: what the assistant said and called at a stretch is one reply."""
    texts: list[str] = []
    calls: list[ToolCall] = []
    for n, item in enumerate(items):
        where = f"input[{n}]"
        if not isinstance(item, dict):
            raise BadRequestError(f"{where}: should be an object")
        kind = item.get("type", "message")
        if kind in SILENT_ITEMS:
            continue
        if kind == "function_call":
            calls.append(call_of(item, where))
        elif kind == "message" and item.get("role") == "assistant":
            texts.append(text_of(item.get("content"), f"{where}.content"))
        else:
            if texts or calls:
                yield Reply(text="\n\n".join(texts), calls=tuple(calls))
                texts, calls = [], []
            yield from _other(item, kind, where)
    if texts or calls:
        yield Reply(text="\n\n".join(texts), calls=tuple(calls))


def _other(item: Body, kind: Any, where: str) -> Iterator[Message]:
    role = item.get("role")
    if kind == "function_call_output":
        content = result_of(item.get("output"), f"{where}.output")
        # Half a return tells what became of a write no more than none does.
        lost = item.get("status") not in _WHOLE
        yield ToolReturn(call_id=str(item.get("call_id", "")), content=content, lost=lost)
    elif kind != "message":
        raise BadRequestError(f"{where}.type: {kind!r} cannot be judged")
    elif role == "user":
        yield UserMessage(text=text_of(item.get("content"), f"{where}.content"))
    elif role not in _SILENT_ROLES:
        raise BadRequestError(f"{where}.role: {role!r} is no role of this API")


def call_of(item: Mapping[str, Any], where: str) -> ToolCall:
    arguments = item.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        raise BadRequestError(f"{where}.arguments: should be JSON text")
    name = string(item, "name", where)
    return read_call(name=name, arguments=arguments, id=str(item.get("call_id") or ""))


def check_item(item: Mapping[str, Any]) -> None:
    if item["type"] not in ("message", "function_call", *SILENT_ITEMS):
        raise BadReplyError(f"the upstream sent {item['type']}, which cannot be judged")


def calls_in(output: Sequence[Any]) -> Iterator[Any]:
    """The items that are calls."""
    return (item for item in output if item.get("type") == "function_call")


def reply_of(answer: Mapping[str, Any]) -> WireReply:
    output = answer["output"]
    for item in output:
        check_item(item)
    texts = [text_of(i.get("content"), "content") for i in output if i["type"] == "message"]
    calls = tuple(call_of(item, "output") for item in output if item["type"] == "function_call")
    text = "\n\n".join(filter(None, texts))
    return WireReply(Reply(text=text, calls=calls), output, str(answer.get("id") or ""))


def said_by_us(answer: Mapping[str, Any], text: str, *, structured: bool = False) -> Body:
    part: Body = {"type": "output_text", "text": text, "annotations": []}
    if structured:
        part = {"type": "refusal", "refusal": text}
    return {
        "type": "message",
        "id": f"msg_{str(answer.get('id', '')).removeprefix('resp_')}_refusal",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }


def with_owed(items: Sequence[Any], owed: Sequence[PendingAnswer]) -> Iterator[Any]:
    """The items with what upstream is owed: first of all, or where the calls of one id want it."""
    ids = [str(item.get("call_id")) for item in items if _answers(item)]
    waiting = [o if o.behind <= ids.count(o.call_id) else o._replace(behind=0) for o in owed]
    yield from (output_of(o.call_id, o.feedback) for o in waiting if o.behind == 0)
    counts: Counter[str] = Counter()
    for item in items:
        yield item
        if _answers(item):
            counts[name := str(item.get("call_id"))] += 1
            due = (o for o in waiting if (o.call_id, o.behind) == (name, counts[name]))
            yield from (output_of(o.call_id, o.feedback) for o in due)


def _answers(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "function_call_output"


def output_of(call_id: str, feedback: str) -> Body:
    return {"type": "function_call_output", "call_id": call_id, "output": feedback}
