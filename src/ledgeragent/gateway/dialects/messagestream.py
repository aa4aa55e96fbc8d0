"""A streamed message, put together from the blocks of one or more upstream streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from ledgeragent.gate import Filtered
from ledgeragent.gateway.dialects.base import (
    Body,
    WireReply,
)
from ledgeragent.gateway.dialects.framing import check_empty, check_frame
from ledgeragent.gateway.dialects.messageblocks import (
    SAFE_BLOCKS,
    THOUGHTS,
    refused_by_us,
    reply_of,
)
from ledgeragent.gateway.errors import BadReplyError
from ledgeragent.gateway.seam import Seam
from ledgeragent.gateway.sse import ServerEvent
from ledgeragent.gateway.usage import TokenUsage
from ledgeragent.gateway.values import read_call


class MessagesStream:
    """One streamed message, whose held calls are judged before they are sent.

    Blocks are renumbered in the order they are sent; blocks of held calls are sent whole.
    """

    def __init__(self, passes: frozenset[str], *, structured: bool = False) -> None:
        self._passes = passes
        self._structured = structured
        self._has_thought = False
        self._opened = False
        self._sent = 0
        self._calls_sent = 0
        self._seam = Seam()
        self._usage = TokenUsage()
        self._revised = False
        self._start()

    def _start(self) -> None:
        self._blocks: dict[int, _Block] = {}
        self._held_ids: set[str | None] = set()
        self._end: Body | None = None

    @property
    def repeated(self) -> int:
        """How much of the reply's text the client has read before."""
        return self._seam.repeated

    def feed(self, event: ServerEvent) -> Iterable[ServerEvent]:
        """What of this upstream event may pass at once."""
        data = event.data
        if not isinstance(data, dict):
            raise BadReplyError("the upstream sent an event that is no object")
        block = data.get("content_block") if data["type"] == "content_block_start" else None
        check_frame(data, [block] if block and block.get("type") == "tool_use" else ())
        match data["type"]:
            case "error":
                raise BadReplyError(f"the upstream reported: {data.get('error')}")
            case "message_start":
                check_empty(data["message"], "content")
                self._usage.heard(data["message"].get("usage"))
                if not self._opened:
                    self._opened = True
                    yield _event(data)
            case "content_block_start":
                yield from self._begin(data["index"], data["content_block"])
            case "content_block_delta":
                yield from self._grow(self._blocks[data["index"]], data["delta"])
            case "content_block_stop":
                block = self._blocks[data["index"]]
                if block.kind == "text":
                    yield from self._seam.close()
                if block.number is not None:
                    yield _event({"type": data["type"], "index": block.number})
            case "message_delta":
                self._end = {**(self._end or {}), **data}
                self._usage.heard(data.get("usage"))
            case "ping":
                yield _event(data)

    def _begin(self, index: int, start: Body) -> Iterator[ServerEvent]:
        block = self._blocks[index] = _Block(start)
        if block.kind not in (*SAFE_BLOCKS, "tool_use"):
            raise BadReplyError(f"the upstream sent a {block.kind} block, which cannot be judged")
        if block.kind == "tool_use" and self._holds(start):
            self._held_ids.add(start.get("id"))
            return
        if block.kind in THOUGHTS and self._has_thought:
            return
        if block.kind != "text":
            yield self._opening(block)
            return
        text = start.get("text")
        block.start = {**start, "text": ""}
        if not self._seam.waits:
            yield self._opening(block)
        if text:
            yield from self._grow(block, {"type": "text_delta", "text": text})

    def _holds(self, start: Body) -> bool:
        """True for what must be judged, and for what repeats the id of a call that is held."""
        return start["name"] not in self._passes or start.get("id") in self._held_ids

    def _opening(self, block: _Block) -> ServerEvent:
        block.number = self._sent
        self._sent += 1
        self._calls_sent += block.kind == "tool_use"
        start = {"type": "content_block_start", "index": block.number}
        return _event({**start, "content_block": block.start})

    def _grow(self, block: _Block, delta: Body) -> Iterator[ServerEvent]:
        block.grow(delta)
        if block.kind == "text":
            say = partial(self._say, block, delta)
            yield from self._seam.add(delta.get("text") or "", say)
        elif block.number is not None:
            yield self._growing(block, delta)

    def _say(self, block: _Block, delta: Body, text: str) -> Iterator[ServerEvent]:
        if block.number is None:
            yield self._opening(block)
        yield self._growing(block, {**delta, "text": text} if "text" in delta else delta)

    def _growing(self, block: _Block, delta: Body) -> ServerEvent:
        return _event({"type": "content_block_delta", "index": block.number, "delta": delta})

    def reply(self) -> WireReply:
        """The reply of the current upstream stream; BadReplyError if it was cut short."""
        if self._end is None:
            raise BadReplyError("the upstream stream ended before the reply was complete")
        return reply_of([block.whole() for _, block in sorted(self._blocks.items())])

    @property
    def items(self) -> Sequence[Body]:
        """Nothing: requests of this format name no parts of earlier answers."""
        return ()

    def again(self) -> None:
        """Another upstream stream follows."""
        self._revised = True
        # Signed thoughts are checked against each other, and those of the last reply are sent.
        self._has_thought = self._has_thought or any(
            b.kind in THOUGHTS and b.number is not None for b in self._blocks.values()
        )
        self._usage.again()
        self._seam.again()
        self._start()

    def finish(self, filtered: Filtered, text: str) -> Iterable[ServerEvent]:
        """The held calls that may execute, `text` of ours, and the end of the answer."""
        calls = [b for _, b in sorted(self._blocks.items()) if b.kind == "tool_use"]
        for block, verdict in zip(calls, filtered.verdicts, strict=True):
            if block.number is None and verdict.allowed:
                yield from self._whole(block)
        if text and not self._structured:
            block = _Block({"type": "text", "text": ""})
            block.grow({"type": "text_delta", "text": self._seam.after(text)})
            yield from self._whole(block)
        yield self._ending(refused_by_us(text) if text and self._structured else {})
        yield _event({"type": "message_stop"})

    def _whole(self, block: _Block) -> Iterator[ServerEvent]:
        yield self._opening(block)
        for delta in block.deltas:
            yield self._growing(block, delta)
        yield _event({"type": "content_block_stop", "index": block.number})

    def _ending(self, refused: Body) -> ServerEvent:
        end = self._end or {}
        delta = dict(end.get("delta") or {})
        if delta.get("stop_reason") == "tool_use" and not self._calls_sent:
            delta["stop_reason"] = "end_turn"
        delta |= refused
        # The beginning told of the first call only, so the end has to tell of all, input included.
        usage = self._usage.total if self._revised else {}
        spent = {"usage": usage} if usage else {}
        return _event({**end, "type": "message_delta", "delta": delta, **spent})

    def fail(self, problem: str) -> Iterable[ServerEvent]:
        """The end of an answer that cannot be completed."""
        error = {"type": "api_error", "message": problem}
        yield _event({"type": "error", "error": error})


class _Block:
    """A content block as far as it has come in; `number` once the client has begun to get it."""

    def __init__(self, start: Body) -> None:
        self.kind = start["type"]
        self.start = start
        self.deltas: list[Body] = []
        self.number: int | None = None

    def grow(self, delta: Body) -> None:
        self.deltas.append(delta)

    def whole(self) -> Body:
        """The block as it would stand in an answer that doesn't stream."""
        if self.kind == "tool_use":
            text = self._joined("partial_json")
            call = read_call(name="", arguments=text or self.start.get("input"))
            arguments = call.arguments if call.malformed is None else call.malformed
            return {**self.start, "input": arguments}
        whole = dict(self.start)
        for name in ("text", "thinking", "signature"):
            if value := self._joined(name):
                whole[name] = f"{whole.get(name) or ''}{value}"
        return whole

    def _joined(self, name: str) -> str:
        return "".join(delta[name] for delta in self.deltas if delta.get(name))


def _event(data: Body) -> ServerEvent:
    return ServerEvent(data["type"], data)
