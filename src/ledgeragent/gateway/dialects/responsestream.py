"""A streamed response, put together from the items of one or more upstream streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from ledgeragent.gate import Filtered
from ledgeragent.gateway.dialects.base import (
    Body,
    WireReply,
)
from ledgeragent.gateway.dialects.framing import check_empty, check_frame
from ledgeragent.gateway.dialects.responseitems import (
    SILENT_ITEMS,
    calls_in,
    check_item,
    reply_of,
    said_by_us,
)
from ledgeragent.gateway.errors import BadReplyError
from ledgeragent.gateway.seam import Seam
from ledgeragent.gateway.sse import ServerEvent
from ledgeragent.gateway.usage import TokenUsage

_ENDS = ("response.completed", "response.incomplete")


_FAILED = ("error", "response.failed")


_FRAME = (
    "response.content_part.added",
    "response.content_part.done",
    "response.output_text.annotation.added",
    "response.output_text.done",
)


class ResponsesStream:
    """One streamed response, whose held calls are judged before they are sent.

    Items are renumbered in the order they are sent; held calls are sent whole. The client knows the
    response by the first upstream response's id, whichever its last one has.
    """

    def __init__(self, passes: frozenset[str], *, structured: bool = False) -> None:
        self._passes = passes
        self._structured = structured
        self._id = ""
        self._number = 0
        self._output: list[Body] = []
        self._usage = TokenUsage()
        self._seam = Seam()
        self._start()

    def _start(self) -> None:
        self._numbers: dict[int, int] = {}
        self._places: dict[str, int] = {}
        self._held: dict[int, Body] = {}
        self._held_ids: set[str | None] = set()
        self._late: dict[int, _Late] = {}
        self._done: dict[int, Body] = {}
        self._names: dict[int, Any] = {}
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
        data = self._placed(kind, data)
        check_frame(data, self._judged(kind, data))
        if kind in _FAILED:
            reported = data.get("error") or data.get("message") or data.get("response")
            raise BadReplyError(f"the upstream reported: {reported}")
        if kind in _ENDS:
            self._end = data
            self._usage.heard(data["response"].get("usage"))
        elif "output_index" in data:
            yield from self._item(kind, data, data["output_index"])
        elif "response" in data and self._id in ("", data["response"]["id"]):
            check_empty(data["response"], "output", "output_text")
            self._id = data["response"]["id"]
            yield self._event(data)

    def _placed(self, kind: str, data: Body) -> Body:
        """The event with the number of its item: some servers tell of which item it is by id alone."""
        if "output_index" in data or kind in _ENDS:
            return data
        item = data.get("item")
        name = item.get("id") if isinstance(item, dict) else data.get("item_id")
        if isinstance(name, str):
            return {**data, "output_index": self._places.setdefault(name, len(self._places))}
        if item is not None:
            raise BadReplyError("the upstream sent an item with neither number nor id")
        return data

    def _judged(self, kind: str, data: Body) -> Iterable[Any]:
        """What in an event is a call that is judged, or that of an item which is."""
        if kind in _ENDS:
            return calls_in(data["response"].get("output") or ())
        if kind in ("response.output_item.added", "response.output_item.done"):
            return calls_in([data["item"]])
        is_end = kind == "response.function_call_arguments.done" and "name" in data
        return (data,) if is_end and data["name"] == self._names[data["output_index"]] else ()

    def _item(self, kind: str, data: Body, index: int) -> Iterator[ServerEvent]:
        if kind == "response.output_item.added":
            item = data["item"]
            check_item(item)
            self._names[index] = item.get("name")
            if item["type"] == "function_call" and self._holds(item):
                self._held[index] = item
                self._held_ids.add(item.get("call_id"))
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
            yield from self._seam.close(keep=any(kind in SILENT_ITEMS for kind in kinds))
        event = late.shown(data)
        if index not in self._numbers and kind in _FRAME:
            late.events.append(event)
        elif index in self._numbers or not ends or not self._seam.text:
            yield from self._begun(index)
            yield self._passed(kind, event, index)

    def _holds(self, item: Body) -> bool:
        """True for what must be judged, and for what repeats the id of a call that is held."""
        return item["name"] not in self._passes or item.get("call_id") in self._held_ids

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
        return reply_of({"id": self._end["response"].get("id", ""), "output": output})

    @property
    def items(self) -> Sequence[Body]:
        """The items that the client was sent."""
        return self._output

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
            spoken = text if self._structured else self._seam.after(text)
            yield from self._text(said_by_us(response, spoken, structured=self._structured))
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
        name = "refusal" if self._structured else "text"
        kind = "response.refusal" if self._structured else "response.output_text"
        text = part[name]
        yield self._added({**item, "content": [], "status": "in_progress"})
        yield self._event({"type": "response.content_part.added", **at, "part": {**part, name: ""}})
        yield self._event({"type": f"{kind}.delta", **at, "delta": text})
        yield self._event({"type": f"{kind}.done", **at, name: text})
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
