"""Chat Completions: `/v1/chat/completions`."""

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
    listed,
    refuse,
    result_of,
    text_of,
)
from ledgeragent.gateway.errors import BadReplyError, BadRequestError
from ledgeragent.gateway.seam import Seam
from ledgeragent.gateway.sse import DONE, ServerEvent
from ledgeragent.gateway.usage import TokenUsage
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage

_SILENT = ("system", "developer")
_REFUSED = {
    "functions": "use tools instead",
    "function_call": "use tool_choice instead",
    "web_search_options": HOSTED,
}
_OPEN = ("choices", "usage")


class ChatDialect:
    """The dialect. `role` is that of the message that carries the ledger block."""

    path = "/v1/chat/completions"

    def __init__(self, role: str = "system") -> None:
        self._role = role

    def conversation(self, body: Body) -> Request:
        """The request's history; BadRequestError names the field that cannot be read."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise BadRequestError("messages: should be a list with at least one message")
        refuse(body, _REFUSED)
        stream = flag(body, "stream")
        if stream and body.get("n") not in (None, 1):
            raise BadRequestError("n: a streamed reply with several choices cannot be judged")
        check_tools(body, _check_tool)
        return Request(
            messages=tuple(m for n, raw in enumerate(messages) for m in _message(raw, n)),
            stream=stream,
        )

    def prompt(self, body: Body, tail: Tail) -> Body:
        """The request for upstream, with the tail behind the history."""
        extra = [message for rejected in tail.rejected for message in _answered(rejected)]
        extra.append({"role": self._role, "content": tail.context})
        return {**body, "messages": [*body["messages"], *extra]}

    def replies(self, answer: Body) -> tuple[WireReply, ...]:
        """The replies of an answer, one per choice."""
        messages = [choice["message"] for choice in answer["choices"]]
        replies = tuple(WireReply(_reply(message, "message"), message) for message in messages)
        if not replies or any(message.get("function_call") for message in messages):
            raise BadReplyError("the upstream reply has no choice, or a call that is no tool call")
        return replies

    def answer(self, answer: Body, choices: Sequence[tuple[Filtered, str]]) -> Body:
        """The answer for the client: each choice with only its allowed calls, and `text` of ours."""
        pairs = zip(answer["choices"], choices, strict=True)
        return {**answer, "choices": [_choice(raw, *choice) for raw, choice in pairs]}

    def stream(self, passes: frozenset[str]) -> ChatStream:
        """An assembler; calls of the tools in `passes` are not held back."""
        return ChatStream(passes)

    def error(self, status: int, problem: str) -> Body:
        """An error as this format writes it."""
        kind = "invalid_request_error" if status < 500 else "api_error"
        return {"error": {"message": problem, "type": kind, "param": None, "code": None}}


class ChatStream:
    """One streamed chat completion, whose held calls are judged before they are sent.

    Calls are renumbered in the order they are sent, since clients collect them by index.
    """

    def __init__(self, passes: frozenset[str]) -> None:
        self._passes = passes
        self._head: Body = {}
        self._opened = False
        self._sent = 0
        self._seam = Seam()
        self._usage = TokenUsage()
        self._start()

    def _start(self) -> None:
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}
        self._ended: str | None = None

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
        if part.get("type", "function") != "function":
            raise BadReplyError(f"the upstream sent a call of type {part['type']!r}")
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
        before = self._calls[: self._calls.index(call)]
        return any(other.id == call.id and other.number is None for other in before)

    def _call_of(self, part: Body) -> _Call:
        """The call that a part belongs to; some upstreams give all calls of a reply one index."""
        index, call_id = part.get("index", len(self._calls)), str(part.get("id") or "")
        call = self._at.get(index)
        if call is None or (call_id and call.id and call_id != call.id):
            call = self._at[index] = _Call()
            self._calls.append(call)
        call.id = call.id or call_id
        return call

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
        text = self._seam.text
        raw: Body = {"role": "assistant", "content": text or None}
        if self._calls:
            raw["tool_calls"] = [call.wire() for call in self._calls]
        calls = (ToolCall.parse(name=c.name, arguments=c.arguments, id=c.id) for c in self._calls)
        return WireReply(Reply(text=text, calls=tuple(calls)), raw)

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
            yield self._chunk({"content": self._seam.after(text)})
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


class _Call:
    """A call as far as it has come in; `number` once the client has begun to get it."""

    def __init__(self) -> None:
        self.id = ""
        self.name = ""
        self.arguments = ""
        self.number: int | None = None

    def wire(self) -> Body:
        function = {"name": self.name, "arguments": self.arguments}
        return {"id": self.id, "type": "function", "function": function}


def _check_tool(tool: Any, n: int) -> None:
    function = tool.get("function") if isinstance(tool, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or tool.get("type", "function") != "function":
        raise BadRequestError(f"tools[{n}]: {HOSTED}")


def _message(raw: Any, n: int) -> Iterator[Message]:
    where = f"messages[{n}]"
    if not isinstance(raw, dict):
        raise BadRequestError(f"{where}: should be an object")
    role = raw.get("role")
    if role == "user":
        yield UserMessage(text=text_of(raw.get("content"), f"{where}.content"))
    elif role == "assistant":
        yield _reply(raw, where)
    elif role == "tool":
        content = result_of(raw.get("content"), f"{where}.content")
        yield ToolReturn(call_id=str(raw.get("tool_call_id", "")), content=content)
    elif role not in _SILENT:
        raise BadRequestError(f"{where}.role: {role!r} is no role of this API")


def _reply(raw: Mapping[str, Any], where: str) -> Reply:
    calls = listed(raw, "tool_calls", f"{where}.")
    return Reply(
        text=text_of(raw.get("content"), f"{where}.content"),
        calls=tuple(_call(call, f"{where}.tool_calls[{n}]") for n, call in enumerate(calls)),
    )


def _call(raw: Any, where: str) -> ToolCall:
    function = raw.get("function") if isinstance(raw, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise BadRequestError(f"{where}: only function calls can be judged")
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, str | dict):
        raise BadRequestError(f"{where}.function.arguments: should be JSON text")
    return ToolCall.parse(name=function["name"], arguments=arguments, id=str(raw.get("id") or ""))


def _answered(rejected: Rejected) -> Iterator[Body]:
    """A rejected reply as it stood, and the answer that each of its calls gets instead of a result."""
    yield {**rejected.raw, "role": "assistant"}
    for verdict in rejected.filtered.verdicts:
        yield {"role": "tool", "tool_call_id": verdict.call.id, "content": verdict.feedback}


def _choice(raw: Body, filtered: Filtered, text: str) -> Body:
    message = dict(raw["message"])
    calls = message.pop("tool_calls", None) or []
    pairs = zip(calls, filtered.verdicts, strict=True)
    allowed = [call for call, verdict in pairs if verdict.allowed]
    if allowed:
        message["tool_calls"] = allowed
    if text:
        reply_text = filtered.reply.text
        message["content"] = f"{reply_text}\n\n{text}" if reply_text else text
    reason = raw.get("finish_reason") if allowed or not calls else "stop"
    return {**raw, "message": message, "finish_reason": reason}
