"""Anthropic's Messages: `/v1/messages`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ledgeragent.gate import Filtered
from ledgeragent.gateway.dialects.base import (
    HOSTED,
    Body,
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

_REFUSED = {"mcp_servers": HOSTED, "container": HOSTED}
_SAFE_BLOCKS = ("text", "thinking", "redacted_thinking")
"""What a reply may hold besides tool calls; everything else ran upstream."""

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    409: "invalid_request_error",
    413: "request_too_large",
    503: "overloaded_error",
    504: "timeout_error",
}


class MessagesDialect:
    """The dialect. The ledger block is the last text of the last turn of the user."""

    path = "/v1/messages"

    def conversation(self, body: Body) -> Request:
        """The request's history; BadRequestError names the field that cannot be read."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise BadRequestError("messages: should be a list with at least one message")
        refuse(body, _REFUSED)
        check_tools(body, _check_tool)
        return Request(
            messages=tuple(m for n, raw in enumerate(messages) for m in _message(raw, n)),
            stream=flag(body, "stream"),
        )

    def prompt(self, body: Body, tail: Tail) -> Body:
        """The request for upstream, with the tail behind the history."""
        messages = [*body["messages"]]
        for rejected in tail.rejected:
            messages += _answered(rejected)
        # The beginning of a reply, which upstream is to continue, has to stay the last message.
        opening = [messages.pop()] if messages[-1]["role"] == "assistant" else []
        block = {"type": "text", "text": tail.context}
        if messages and messages[-1]["role"] == "user":
            last = messages.pop()
            messages.append({**last, "content": [*_blocks(last.get("content")), block]})
        else:
            messages.append({"role": "user", "content": [block]})
        return {**body, "messages": [*messages, *opening]}

    def replies(self, answer: Body) -> tuple[WireReply, ...]:
        """The one reply of an answer."""
        content = answer.get("content")
        if not isinstance(content, list):
            raise BadReplyError("the upstream reply has no content")
        return (_said(content),)

    def answer(self, answer: Body, choices: Sequence[tuple[Filtered, str]]) -> Body:
        """The answer for the client, with only the allowed calls, and `text` of ours."""
        ((filtered, text),) = choices
        allowed = iter(filtered.verdicts)
        content = [b for b in answer["content"] if b["type"] != "tool_use" or next(allowed).allowed]
        if text:
            has_text = any(block["type"] == "text" for block in content)
            content.append({"type": "text", "text": f"{BREAK}{text}" if has_text else text})
        reason = answer.get("stop_reason")
        if reason == "tool_use" and not filtered.execute:
            reason = "end_turn"
        return {**answer, "content": content, "stop_reason": reason}

    def stream(self, passes: frozenset[str]) -> MessagesStream:
        """An assembler; calls of the tools in `passes` are not held back."""
        return MessagesStream(passes)

    def error(self, status: int, problem: str) -> Body:
        """An error as this format writes it."""
        return {
            "type": "error",
            "error": {"type": _KINDS.get(status, "api_error"), "message": problem},
        }


class MessagesStream:
    """One streamed message, whose held calls are judged before they are sent.

    Blocks are renumbered in the order they are sent; blocks of held calls are sent whole.
    """

    def __init__(self, passes: frozenset[str]) -> None:
        self._passes = passes
        self._opened = False
        self._sent = 0
        self._calls_sent = 0
        self._seam = Seam()
        self._usage = TokenUsage()
        self._revised = False
        self._start()

    def _start(self) -> None:
        self._blocks: dict[int, _Block] = {}
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
        match data["type"]:
            case "error":
                raise BadReplyError(f"the upstream reported: {data.get('error')}")
            case "message_start":
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
        if block.kind not in (*_SAFE_BLOCKS, "tool_use"):
            raise BadReplyError(f"the upstream sent a {block.kind} block, which cannot be judged")
        if block.kind == "tool_use" and (start["name"] not in self._passes or self._repeats(block)):
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

    def _repeats(self, block: _Block) -> bool:
        """True if a call before it, which is held, has its id."""
        unsent = (b for b in self._blocks.values() if b.kind == "tool_use" and b.number is None)
        return any(b is not block and b.start.get("id") == block.start.get("id") for b in unsent)

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
        return _said([block.whole() for _, block in sorted(self._blocks.items())])

    def again(self) -> None:
        """Another upstream stream follows."""
        self._revised = True
        self._usage.again()
        self._seam.again()
        self._start()

    def finish(self, filtered: Filtered, text: str) -> Iterable[ServerEvent]:
        """The held calls that may execute, `text` of ours, and the end of the answer."""
        calls = [b for _, b in sorted(self._blocks.items()) if b.kind == "tool_use"]
        for block, verdict in zip(calls, filtered.verdicts, strict=True):
            if block.number is None and verdict.allowed:
                yield from self._whole(block)
        if text:
            block = _Block({"type": "text", "text": ""})
            block.grow({"type": "text_delta", "text": self._seam.after(text)})
            yield from self._whole(block)
        yield self._ending()
        yield _event({"type": "message_stop"})

    def _whole(self, block: _Block) -> Iterator[ServerEvent]:
        yield self._opening(block)
        for delta in block.deltas:
            yield self._growing(block, delta)
        yield _event({"type": "content_block_stop", "index": block.number})

    def _ending(self) -> ServerEvent:
        end = self._end or {}
        delta = dict(end.get("delta") or {})
        if delta.get("stop_reason") == "tool_use" and not self._calls_sent:
            delta["stop_reason"] = "end_turn"
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
            call = ToolCall.parse(name="", arguments=text or self.start.get("input"))
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


def _said(content: Sequence[Any]) -> WireReply:
    """The reply in these blocks. Input that is no object makes a malformed call."""
    other = {block["type"] for block in content} - {*_SAFE_BLOCKS, "tool_use"}
    if other:
        raise BadReplyError(f"the upstream sent {min(other)}, which cannot be judged")
    text = "".join(block["text"] for block in content if block["type"] == "text")
    calls = tuple(_call(block, "content") for block in content if block["type"] == "tool_use")
    return WireReply(Reply(text=text, calls=calls), content)


def _call(block: Mapping[str, Any], where: str) -> ToolCall:
    name, number, arguments = string(block, "name", where), block.get("id"), block.get("input")
    if isinstance(arguments, Mapping) or arguments is None:
        return ToolCall(name=name, arguments=arguments or {}, id=str(number or ""))
    return ToolCall(name=name, id=str(number or ""), malformed=str(arguments))


def _check_tool(tool: Any, n: int) -> None:
    if not isinstance(tool, dict) or tool.get("type") not in (None, "custom"):
        raise BadRequestError(f"tools[{n}]: {HOSTED}")
    string(tool, "name", f"tools[{n}]")


def _message(raw: Any, n: int) -> Iterator[Message]:
    where = f"messages[{n}]"
    if not isinstance(raw, dict):
        raise BadRequestError(f"{where}: should be an object")
    content = raw.get("content")
    if not isinstance(content, str | list):
        raise BadRequestError(f"{where}.content: should be text or a list of blocks")
    blocks = _blocks(content)
    for at, block in enumerate(blocks):
        if not isinstance(block, dict) or not isinstance(block.get("type"), str):
            raise BadRequestError(f"{where}.content[{at}]: should be an object with a type")
    match raw.get("role"):
        case "user":
            yield from _turn(blocks, where)
        case "assistant":
            calls = (_call(b, where) for b in blocks if b["type"] == "tool_use")
            yield Reply(text=text_of(blocks, where), calls=tuple(calls))
        case role:
            raise BadRequestError(f"{where}.role: {role!r} is no role of this API")


def _turn(blocks: Sequence[Body], where: str) -> Iterator[Message]:
    """The results in a turn of the user, and what the user said unless there were only results."""
    results = [block for block in blocks if block["type"] == "tool_result"]
    for block in results:
        yield ToolReturn(
            call_id=str(block.get("tool_use_id", "")),
            content=result_of(block.get("content"), f"{where}.content"),
            error=bool(block.get("is_error")),
        )
    if len(results) < len(blocks) or not results:
        yield UserMessage(text=text_of([b for b in blocks if b not in results], where))


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def _answered(rejected: Rejected) -> list[Body]:
    """A rejected reply as it stood, and the answer that each of its calls gets instead of a result."""
    results = [
        {
            "type": "tool_result",
            "tool_use_id": verdict.call.id,
            "content": verdict.feedback,
            "is_error": True,
        }
        for verdict in rejected.filtered.verdicts
    ]
    content = [_sendable(block) for block in rejected.raw]
    return [{"role": "assistant", "content": content}, {"role": "user", "content": results}]


def _sendable(block: Body) -> Body:
    if block["type"] == "tool_use" and not isinstance(block.get("input"), dict):
        return {**block, "input": {}}
    return block
