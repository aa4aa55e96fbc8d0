"""OpenAI's Responses: `/v1/responses`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ledgeragent.gate import Filtered
from ledgeragent.gateway.dialects.base import (
    HOSTED,
    Body,
    PendingAnswer,
    Rejected,
    Request,
    Tail,
    WireReply,
    check_tools,
    flag,
    refuse,
    result_of,
    string,
    text_of,
)
from ledgeragent.gateway.errors import BadReplyError, BadRequestError
from ledgeragent.gateway.seam import BREAK, Seam
from ledgeragent.gateway.sse import ServerEvent
from ledgeragent.gateway.usage import TokenUsage
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

_KEPT_UPSTREAM = "what upstream keeps cannot be judged; send it as input"
_REFUSED = {
    "conversation": _KEPT_UPSTREAM,
    "prompt": _KEPT_UPSTREAM,
    "background": "an answer that is fetched later cannot be judged",
}
_SILENT_ROLES = ("system", "developer")
_SILENT_ITEMS = ("reasoning", "compaction")
_ENDS = ("response.completed", "response.incomplete")
_FAILED = ("error", "response.failed")
_FRAME = (
    "response.content_part.added",
    "response.content_part.done",
    "response.output_text.annotation.added",
    "response.output_text.done",
)


class ResponsesDialect:
    """The dialect. `role` is that of the item that carries the ledger block.

    Where upstream keeps the history itself, the block goes into the instructions, which it does not
    keep: else every turn would leave another one behind.
    """

    path = "/v1/responses"

    def __init__(self, role: str = "system") -> None:
        self._role = role

    def conversation(self, body: Body) -> Request:
        """The request's history; BadRequestError names the field that cannot be read."""
        refuse(body, _REFUSED)
        raw = body.get("input")
        if not isinstance(raw, str | list) or not raw:
            raise BadRequestError("input: should be text or a list with at least one item")
        after = body.get("previous_response_id")
        if after is not None and not isinstance(after, str):
            raise BadRequestError("previous_response_id: should be text")
        check_tools(body, _check_tool)
        return Request(
            messages=tuple(_messages(_items(raw))),
            stream=flag(body, "stream"),
            after=after,
        )

    def prompt(self, body: Body, tail: Tail) -> Body:
        """The request for upstream, with the tail behind the history."""
        continues = body.get("previous_response_id") is not None
        items = _items(body["input"])
        if continues:
            items = list(_with_owed(items, tail.owed))
        for rejected in tail.rejected:
            items += _answered(rejected)
        if not continues:
            return {**body, "input": [*items, {"role": self._role, "content": tail.context}]}
        instructions = body.get("instructions")
        return {
            **body,
            "input": items,
            "previous_response_id": tail.after,
            "instructions": f"{instructions}\n\n{tail.context}" if instructions else tail.context,
        }

    def replies(self, answer: Body) -> tuple[WireReply, ...]:
        """The one reply of an answer."""
        if answer.get("status") == "failed":
            raise BadReplyError(f"the upstream reported: {answer.get('error')}")
        return (_said(answer),)

    def answer(self, answer: Body, choices: Sequence[tuple[Filtered, str]]) -> Body:
        """The answer for the client, with only the allowed calls, and `text` of ours."""
        ((filtered, text),) = choices
        output = list(_kept(answer["output"], filtered))
        if text:
            has_text = any(item["type"] == "message" for item in output)
            output.append(_said_by_us(answer, f"{BREAK}{text}" if has_text else text))
        return {**answer, "output": output}

    def stream(self, passes: frozenset[str]) -> ResponsesStream:
        """An assembler; calls of the tools in `passes` are not held back."""
        return ResponsesStream(passes)

    def error(self, status: int, problem: str) -> Body:
        """An error as this format writes it."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        return {"error": {"message": problem, "type": kind, "param": None, "code": None}}


class ResponsesStream:
    """One streamed response, whose held calls are judged before they are sent.

    Items are renumbered in the order they are sent; held calls are sent whole. The client knows the
    response by the first upstream response's id, whichever its last one has.
    """

    def __init__(self, passes: frozenset[str]) -> None:
        self._passes = passes
        self._id = ""
        self._number = 0
        self._output: list[Body] = []
        self._usage = TokenUsage()
        self._seam = Seam()
        self._start()

    def _start(self) -> None:
        self._numbers: dict[int, int] = {}
        self._held: dict[int, Body] = {}
        self._late: dict[int, _Late] = {}
        self._done: dict[int, Body] = {}
        self._end: Body | None = None

    @property
    def repeated(self) -> int:
        """How much of the reply's text the client has read before."""
        return self._seam.repeated

    def feed(self, event: ServerEvent) -> Iterable[ServerEvent]:
        """What of this upstream event may pass at once."""
        data = event.data
        if data == "[DONE]":
            return
        if not isinstance(data, dict):
            raise BadReplyError("the upstream sent an event that is no object")
        kind = data["type"]
        if kind in _FAILED:
            reported = data.get("error") or data.get("message") or data.get("response")
            raise BadReplyError(f"the upstream reported: {reported}")
        if kind in _ENDS:
            self._end = data
            self._usage.heard(data["response"].get("usage"))
        elif "output_index" in data:
            yield from self._item(kind, data, data["output_index"])
        elif "response" in data and self._id in ("", data["response"]["id"]):
            self._id = data["response"]["id"]
            yield self._event(data)

    def _item(self, kind: str, data: Body, index: int) -> Iterator[ServerEvent]:
        if kind == "response.output_item.added":
            item = data["item"]
            _check(item)
            if item["type"] == "function_call" and self._holds(item):
                self._held[index] = item
                return
            if item["type"] == "message" and self._seam.waits:
                self._late[index] = _Late(data)
                return
            yield self._opened(index, data)
            return
        if kind == "response.output_item.done":
            self._done[index] = data["item"]
        if index in self._held:
            return
        if kind == "response.output_text.delta":
            if index in self._late:
                self._late[index].texts.setdefault(data.get("content_index"), "")
            yield from self._seam.add(data["delta"], partial(self._say, index, data))
        elif index in self._late:
            yield from self._framed(kind, data, index)
        else:
            yield self._passed(kind, data, index)

    def _opened(self, index: int, data: Body) -> ServerEvent:
        self._numbers[index] = len(self._output)
        self._output.append(data["item"])
        return self._event({**data, "output_index": self._numbers[index]})

    def _passed(self, kind: str, data: Body, index: int) -> ServerEvent:
        number = self._numbers[index]
        if kind == "response.output_item.done":
            self._same(self._output[number], data["item"])
            self._output[number] = data["item"]
        return self._event({**data, "output_index": number})

    def _say(self, index: int, data: Body, text: str) -> Iterator[ServerEvent]:
        if index in self._late:
            self._late[index].texts[data.get("content_index")] += text
            yield from self._begun(index)
        yield self._event({**data, "delta": text, "output_index": self._numbers[index]})

    def _begun(self, index: int) -> Iterator[ServerEvent]:
        """What a late message was waiting with, once it has something to say."""
        if index not in self._numbers:
            opening, *frame = self._late[index].events
            yield self._opened(index, opening)
            for data in frame:
                yield self._passed(data["type"], data, index)

    def _framed(self, kind: str, data: Body, index: int) -> Iterator[ServerEvent]:
        """What is around the text of a late message: it waits for the text, or is dropped with it."""
        late, ends = self._late[index], kind == "response.output_item.done"
        if ends:
            self._same(late.events[0]["item"], data["item"])
        if ends or kind == "response.output_text.done":
            # Reasoning must not be left without what it led to.
            kinds = (self._output[number]["type"] for number in self._numbers.values())
            yield from self._seam.close(keep=any(kind in _SILENT_ITEMS for kind in kinds))
        event = late.shown(data)
        if index not in self._numbers and kind in _FRAME:
            late.events.append(event)
        elif index in self._numbers or not ends or not self._seam.text:
            yield from self._begun(index)
            yield self._passed(kind, event, index)

    def _holds(self, item: Body) -> bool:
        """True for what must be judged, and for what repeats the id of a call that is held."""
        repeats = any(other.get("call_id") == item.get("call_id") for other in self._held.values())
        return repeats or item["name"] not in self._passes

    def _same(self, first: Body, last: Body) -> None:
        if any(first.get(name) != last.get(name) for name in ("type", "name", "call_id")):
            raise BadReplyError("the upstream changed a call that was under way")

    def reply(self) -> WireReply:
        """The reply of the current upstream stream; BadReplyError if it was cut short.

        What is judged are the items that were streamed, since those are what the client is sent.
        """
        indices = {*self._numbers, *self._held, *self._late}
        if self._end is None or not indices <= self._done.keys():
            raise BadReplyError("the upstream stream ended before the reply was complete")
        output = [item for _, item in sorted(self._done.items())]
        return _said({"id": self._end["response"].get("id", ""), "output": output})

    def again(self) -> None:
        """Another upstream stream follows."""
        self._usage.again()
        self._seam.again()
        self._start()

    def finish(self, filtered: Filtered, text: str) -> Iterable[ServerEvent]:
        """The held calls that may execute, `text` of ours, and the end of the answer."""
        calls = [n for n, item in sorted(self._done.items()) if item["type"] == "function_call"]
        for index, verdict in zip(calls, filtered.verdicts, strict=True):
            if index in self._held and verdict.allowed:
                yield from self._call(self._done[index])
        assert self._end is not None
        response = self._end["response"]
        if text:
            yield from self._text(_said_by_us(response, self._seam.after(text)))
        usage = self._usage.total
        spent = {"usage": usage} if usage else {}
        whole = {**response, "id": self._id or response.get("id"), "output": self._output, **spent}
        yield self._event({**self._end, "response": whole})

    def _call(self, item: Body) -> Iterator[ServerEvent]:
        kind = "response.function_call_arguments"
        at = {"item_id": item.get("id"), "output_index": len(self._output)}
        yield self._added({**item, "arguments": "", "status": "in_progress"})
        yield self._event({"type": f"{kind}.delta", **at, "delta": item["arguments"]})
        yield self._event({"type": f"{kind}.done", **at, "arguments": item["arguments"]})
        yield self._finished(item)

    def _text(self, item: Body) -> Iterator[ServerEvent]:
        (part,) = item["content"]
        at = {"item_id": item["id"], "output_index": len(self._output), "content_index": 0}
        text = part["text"]
        yield self._added({**item, "content": [], "status": "in_progress"})
        yield self._event(
            {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
        )
        yield self._event({"type": "response.output_text.delta", **at, "delta": text})
        yield self._event({"type": "response.output_text.done", **at, "text": text})
        yield self._event({"type": "response.content_part.done", **at, "part": part})
        yield self._finished(item)

    def _added(self, item: Body) -> ServerEvent:
        index = len(self._output)
        return self._event(
            {"type": "response.output_item.added", "output_index": index, "item": item}
        )

    def _finished(self, item: Body) -> ServerEvent:
        index = len(self._output)
        self._output.append(item)
        return self._event(
            {"type": "response.output_item.done", "output_index": index, "item": item}
        )

    def fail(self, problem: str) -> Iterable[ServerEvent]:
        """The end of an answer that cannot be completed."""
        yield self._event(
            {"type": "error", "code": "server_error", "message": problem, "param": None}
        )

    def _event(self, data: Body) -> ServerEvent:
        numbered = {**data, "sequence_number": self._number}
        self._number += 1
        return ServerEvent(data["type"], numbered)


class _Late:
    """A message that may say nothing new.

    `events` wait for its first new word; `texts` are its parts as the client is sent them.
    """

    def __init__(self, opening: Body) -> None:
        self.events: list[Body] = [opening]
        self.texts: dict[Any, str] = {}

    def shown(self, data: Body) -> Body:
        """An event with the text as the client is sent it."""
        if "item" in data:
            parts = enumerate(data["item"].get("content") or ())
            content = [self._as_sent(part, number) for number, part in parts]
            return {**data, "item": {**data["item"], "content": content}}
        number = data.get("content_index")
        if "part" in data:
            return {**data, "part": self._as_sent(data["part"], number)}
        return self._as_sent(data, number) if "text" in data else data

    def _as_sent(self, part: Body, number: Any) -> Body:
        return {**part, "text": self.texts[number]} if number in self.texts else part


def _items(raw: Any) -> list[Any]:
    return [{"role": "user", "content": raw}] if isinstance(raw, str) else list(raw)


def _messages(items: Sequence[Any]) -> Iterator[Message]:
    """The messages in a list of items: what the assistant said and called at a stretch is one reply."""
    texts: list[str] = []
    calls: list[ToolCall] = []
    for n, item in enumerate(items):
        where = f"input[{n}]"
        if not isinstance(item, dict):
            raise BadRequestError(f"{where}: should be an object")
        kind = item.get("type", "message")
        if kind in _SILENT_ITEMS:
            continue
        if kind == "function_call":
            calls.append(_call(item, where))
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
        yield ToolReturn(call_id=str(item.get("call_id", "")), content=content)
    elif kind != "message":
        raise BadRequestError(f"{where}.type: {kind!r} cannot be judged")
    elif role == "user":
        yield UserMessage(text=text_of(item.get("content"), f"{where}.content"))
    elif role not in _SILENT_ROLES:
        raise BadRequestError(f"{where}.role: {role!r} is no role of this API")


def _check_tool(tool: Any, n: int) -> None:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        raise BadRequestError(f"tools[{n}]: {HOSTED}")
    string(tool, "name", f"tools[{n}]")


def _call(item: Mapping[str, Any], where: str) -> ToolCall:
    arguments = item.get("arguments")
    if arguments is not None and not isinstance(arguments, str):
        raise BadRequestError(f"{where}.arguments: should be JSON text")
    name = string(item, "name", where)
    return ToolCall.parse(name=name, arguments=arguments, id=str(item.get("call_id") or ""))


def _check(item: Mapping[str, Any]) -> None:
    if item["type"] not in ("message", "function_call", *_SILENT_ITEMS):
        raise BadReplyError(f"the upstream sent {item['type']}, which cannot be judged")


def _said(answer: Mapping[str, Any]) -> WireReply:
    output = answer["output"]
    for item in output:
        _check(item)
    texts = [text_of(i.get("content"), "content") for i in output if i["type"] == "message"]
    calls = tuple(_call(item, "output") for item in output if item["type"] == "function_call")
    text = "\n\n".join(filter(None, texts))
    return WireReply(Reply(text=text, calls=calls), output, str(answer.get("id") or ""))


def _kept(output: Sequence[Body], filtered: Filtered) -> Iterator[Body]:
    """The items without rejected calls, and without the reasoning that only led to one."""
    verdicts = iter(filtered.verdicts)
    waiting: list[Body] = []
    for item in output:
        if item["type"] in _SILENT_ITEMS:
            waiting.append(item)
            continue
        if item["type"] != "function_call" or next(verdicts).allowed:
            yield from waiting
            yield item
        waiting = []


def _said_by_us(answer: Mapping[str, Any], text: str) -> Body:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "type": "message",
        "id": f"msg_{str(answer.get('id', '')).removeprefix('resp_')}_refusal",
        "status": "completed",
        "role": "assistant",
        "content": [part],
    }


def _answered(rejected: Rejected) -> Iterator[Body]:
    """A rejected reply as it stood, and the answer that each of its calls gets instead of a result."""
    yield from rejected.raw
    for verdict in rejected.filtered.verdicts:
        yield _output(verdict.call.id, verdict.feedback)


def _with_owed(items: Sequence[Any], owed: Sequence[PendingAnswer]) -> Iterator[Any]:
    """The items with what upstream is owed: first of all, or where the calls of one id want it."""
    ids = [str(item.get("call_id")) for item in items if _answers(item)]
    waiting = [o if o.behind <= ids.count(o.call_id) else o._replace(behind=0) for o in owed]
    yield from (_output(o.call_id, o.feedback) for o in waiting if o.behind == 0)
    counts: Counter[str] = Counter()
    for item in items:
        yield item
        if _answers(item):
            counts[name := str(item.get("call_id"))] += 1
            due = (o for o in waiting if (o.call_id, o.behind) == (name, counts[name]))
            yield from (_output(o.call_id, o.feedback) for o in due)


def _answers(item: Mapping[str, Any]) -> bool:
    return item.get("type") == "function_call_output"


def _output(call_id: str, feedback: str) -> Body:
    return {"type": "function_call_output", "call_id": call_id, "output": feedback}
