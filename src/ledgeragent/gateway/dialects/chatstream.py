"""A streamed chat completion, put together from the chunks of one or more upstream streams."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from heapq import heappop, heappush
from typing import Any

from ledgeragent.gate import Filtered
from ledgeragent.gateway.dialects.base import (
    Body,
    WireReply,
)
from ledgeragent.gateway.dialects.framing import check_frame, check_functions
from ledgeragent.gateway.errors import BadReplyError
from ledgeragent.gateway.seam import Seam
from ledgeragent.gateway.sse import DONE, ServerEvent
from ledgeragent.gateway.usage import TokenUsage
from ledgeragent.gateway.values import read_call
from ledgeragent.types import Reply

_OPEN = ("choices", "usage")


class ChatStream:
    """One streamed chat completion, whose held calls are judged before they are sent.

    Calls are renumbered in the order they are sent, since clients collect them by index.
    """

    def __init__(self, passes: frozenset[str], *, structured: bool = False) -> None:
        self._passes = passes
        self._structured = structured
        self._head: Body = {}
        self._opened = False
        self._sent = 0
        self._seam = Seam()
        self._usage = TokenUsage()
        self._start()

    def _start(self) -> None:
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}
        self._waiting: defaultdict[str, list[int]] = defaultdict(list)
        self._ended: str | None = None
        self._refusal = ""

    @property
    def repeated(self) -> int:
        """How much of the reply's text the client has read before."""
        return self._seam.repeated

    def feed(self, event: ServerEvent) -> Iterable[ServerEvent]:
        """What of this upstream event may pass at once."""
        chunk = event.data
        if chunk == DONE:
            return
        if not isinstance(chunk, dict):
            raise BadReplyError("the upstream sent an event that is no object")
        check_frame(chunk, _functions(chunk))
        if chunk.get("error"):
            raise BadReplyError(f"the upstream reported: {chunk['error']}")
        self._usage.heard(chunk.get("usage"))
        for choice in chunk.get("choices") or ():
            if not self._head:
                self._head = {k: v for k, v in chunk.items() if k not in _OPEN}
            yield from self._choice(choice)

    def _choice(self, choice: Body) -> Iterator[ServerEvent]:
        delta = choice.get("delta") or {}
        if choice.get("index", 0) != 0 or delta.get("function_call"):
            raise BadReplyError("the upstream sent a second choice, or a call that is no tool call")
        self._ended = choice.get("finish_reason") or self._ended
        beside = {k: v for k, v in delta.items() if k not in ("tool_calls", "role", "content")}
        self._refusal += delta.get("refusal") or ""
        logprobs = {"logprobs": choice["logprobs"]} if choice.get("logprobs") else {}
        if any(value is not None and value != "" for value in beside.values()):
            yield self._chunk(beside, **({} if delta.get("content") else logprobs))
        if text := delta.get("content"):
            yield from self._seam.add(text, partial(self._say, logprobs))
        for part in delta.get("tool_calls") or ():
            yield from self._part(part)
        if self._ended is not None:
            yield from self._seam.close()

    def _say(self, logprobs: Body, text: str) -> Iterator[ServerEvent]:
        yield self._chunk({"content": text}, **logprobs)

    def _part(self, part: Body) -> Iterator[ServerEvent]:
        check_functions([part])
        function = part.get("function") or {}
        call = self._call_of(part)
        more = function.get("arguments") or ""
        call.arguments += more
        name = function.get("name") or ""
        if name and name != call.name:
            if call.number is not None:
                raise BadReplyError("the upstream renamed a call that was under way")
            call.name += name
        if call.number is not None:
            yield self._chunk(
                {"tool_calls": [{"index": call.number, "function": {"arguments": more}}]}
            )
        elif call.name in self._passes and not self._repeats(call):
            yield self._whole(call)

    def _repeats(self, call: _Call) -> bool:
        """True if a call before it, which is held, has its id."""
        waiting = self._waiting[call.id]
        while (first := self._calls[waiting[0]]).number is not None or first.id != call.id:
            heappop(waiting)
        return waiting[0] < call.place

    def _call_of(self, part: Body) -> _Call:
        """The call that a part belongs to; some upstreams give all calls of a reply one index."""
        index, call_id = part.get("index", len(self._calls)), str(part.get("id") or "")
        call = self._at.get(index)
        if call is None or (call_id and call.id and call_id != call.id):
            call = self._at[index] = _Call(len(self._calls))
            self._calls.append(call)
            self._note(call, call_id)
        elif call_id and not call.id:
            self._note(call, call_id)
        return call

    def _note(self, call: _Call, call_id: str) -> None:
        """Notes the id of a call, and its place among those of the same id that are not sent yet."""
        call.id = call_id
        heappush(self._waiting[call_id], call.place)

    def _whole(self, call: _Call) -> ServerEvent:
        call.number = self._sent
        self._sent += 1
        return self._chunk({"tool_calls": [{"index": call.number, **call.wire()}]})

    def reply(self) -> WireReply:
        """The reply of the current upstream stream; BadReplyError if it was cut short."""
        if self._ended is None:
            raise BadReplyError("the upstream stream ended before the reply was complete")
        if not all(call.name for call in self._calls):
            raise BadReplyError("the upstream sent a call without a name")
        text = "\n\n".join(filter(None, (self._seam.text, self._refusal)))
        raw: Body = {"role": "assistant", "content": text or None}
        if self._calls:
            raw["tool_calls"] = [call.wire() for call in self._calls]
        calls = (read_call(name=c.name, arguments=c.arguments, id=c.id) for c in self._calls)
        return WireReply(Reply(text=text, calls=tuple(calls)), raw)

    @property
    def items(self) -> Sequence[Body]:
        """Nothing: requests of this format name no parts of earlier answers."""
        return ()

    def again(self) -> None:
        """Another upstream stream follows."""
        self._usage.again()
        self._seam.again()
        self._start()

    def finish(self, filtered: Filtered, text: str) -> Iterable[ServerEvent]:
        """The held calls that may execute, `text` of ours, and the end of the answer."""
        for call, verdict in zip(self._calls, filtered.verdicts, strict=True):
            if call.number is None and verdict.allowed:
                yield self._whole(call)
        if text:
            ours = {"refusal": text} if self._structured else {"content": self._seam.after(text)}
            yield self._chunk(ours)
        reason = "stop" if self._calls and not self._sent else self._ended
        yield self._chunk({}, finish_reason=reason)
        if usage := self._usage.total:
            yield ServerEvent("", {**self._head, "choices": [], "usage": usage})
        yield ServerEvent("", DONE)

    def fail(self, problem: str) -> Iterable[ServerEvent]:
        """The end of an answer that cannot be completed."""
        yield ServerEvent("", {"error": {"message": problem, "type": "api_error"}})

    def _chunk(self, delta: Body, **fields: Any) -> ServerEvent:
        if not self._opened:
            self._opened = True
            delta = {"role": "assistant", **delta}
        choice = {"index": 0, "delta": delta, "finish_reason": None, **fields}
        return ServerEvent("", {**self._head, "choices": [choice]})


def _functions(chunk: Body) -> Iterator[Any]:
    for choice in chunk.get("choices") or ():
        for part in (choice.get("delta") or {}).get("tool_calls") or ():
            yield part.get("function")


class _Call:
    """A call as far as it has come in, at its `place`; `number` once the client has begun to get it."""

    def __init__(self, place: int) -> None:
        self.place = place
        self.id = ""
        self.name = ""
        self.arguments = ""
        self.number: int | None = None

    def wire(self) -> Body:
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}
