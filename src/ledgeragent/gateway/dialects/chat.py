"""Chat Completions: `/v1/chat/completions`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ledgeragent.gate import Filtered
from ledgeragent.gateway.dialects.base import (
    BadReplyError,
    BadRequestError,
    Body,
    Conversation,
    Tail,
)
from ledgeragent.gateway.sse import DONE, Event
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage, canonical

_SILENT = ("system", "developer")


class Chat:
    """The dialect. `role` is that of the message that carries the ledger block."""

    path = "/v1/chat/completions"

    def __init__(self, role: str = "system") -> None:
        self._role = role

    def conversation(self, body: Body) -> Conversation:
        """The request's history; BadRequestError names the field that cannot be read."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise BadRequestError("messages: should be a list with at least one message")
        read = [m for n, raw in enumerate(messages) for m in _message(raw, f"messages[{n}]")]
        return Conversation(
            messages=tuple(read),
            tools=frozenset(_tool_name(tool, n) for n, tool in enumerate(_tools(body))),
            stream=_flag(body, "stream"),
        )

    def prompt(self, body: Body, tail: Tail) -> Body:
        """The request for upstream, with the tail behind the history."""
        extra: list[Body] = []
        for filtered in tail.rejected:
            calls = [_wire_call(v.call) for v in filtered.verdicts if not v.allowed]
            extra.append(
                {"role": "assistant", "content": filtered.reply.text or None, "tool_calls": calls}
            )
            extra += [
                {"role": "tool", "tool_call_id": v.call.id, "content": v.feedback}
                for v in filtered.verdicts
                if not v.allowed
            ]
        extra.append({"role": self._role, "content": tail.context})
        return {**body, "messages": [*body["messages"], *extra]}

    def replies(self, answer: Body) -> tuple[Reply, ...]:
        """The replies of an answer, one per choice."""
        try:
            return tuple(_reply(choice["message"]) for choice in answer["choices"])
        except (KeyError, TypeError, BadRequestError) as problem:
            raise BadReplyError(f"the upstream reply cannot be read: {problem!r}") from None

    def answer(self, answer: Body, choices: Sequence[tuple[Filtered, str]]) -> Body:
        """The answer for the client: each choice with only its allowed calls, and `text` of ours."""
        pairs = zip(answer["choices"], choices, strict=True)
        return {**answer, "choices": [_choice(raw, *judged) for raw, judged in pairs]}

    def stream(self, passes: frozenset[str] | None) -> ChatStream:
        """An assembler; calls of the tools in `passes` are not held back, None for all of them."""
        return ChatStream(passes)

    def error(self, status: int, problem: str) -> Body:
        """An error as this format writes it."""
        kind = "invalid_request_error" if status < 500 else "api_error"
        return {"error": {"message": problem, "type": kind, "param": None, "code": None}}


class ChatStream:
    """One streamed chat completion, whose held calls are judged before they are sent.

    Calls are renumbered in the order they are sent, since clients collect them by index.
    """

    def __init__(self, passes: frozenset[str] | None) -> None:
        self._passes = passes
        self._head: Body = {}
        self._sent = 0
        self._said = False
        self._usage: dict[str, Any] = {}
        self._start()

    def _start(self) -> None:
        self._text: list[str] = []
        self._calls: dict[int, dict[str, str]] = {}
        self._numbers: dict[int, int] = {}
        self._ended: str | None = None
        self._fresh = True

    def feed(self, event: Event) -> Iterable[Event]:
        """What of this upstream event may pass at once."""
        if event.data == DONE:
            return
        if not isinstance(event.data, dict):
            raise BadReplyError("the upstream sent an event that is no object")
        if "error" in event.data:
            raise BadReplyError(f"the upstream reported: {event.data['error']}")
        chunk = event.data
        if not self._head:
            self._head = {k: v for k, v in chunk.items() if k not in ("choices", "usage")}
        self._add_usage(chunk.get("usage"))
        for choice in chunk.get("choices") or ():
            if choice.get("index", 0) != 0:
                raise BadReplyError("a streamed reply with several choices cannot be judged")
            yield from self._choice(choice)

    def _choice(self, choice: Body) -> Iterator[Event]:
        delta = choice.get("delta") or {}
        self._ended = choice.get("finish_reason") or self._ended
        passing = {k: v for k, v in delta.items() if k not in ("tool_calls", "role")}
        text = delta.get("content")
        if text:
            self._text.append(text)
            if self._fresh and self._said:
                passing["content"] = f"\n\n{text}"
            self._fresh, self._said = False, True
        if any(value is not None and value != "" for value in passing.values()):
            yield self._chunk(passing)
        for part in delta.get("tool_calls") or ():
            yield from self._part(part)

    def _part(self, part: Body) -> Iterator[Event]:
        index = part.get("index", len(self._calls))
        function = part.get("function") or {}
        call = self._calls.setdefault(index, {"id": "", "name": "", "arguments": ""})
        call["id"] += part.get("id") or ""
        call["name"] += function.get("name") or ""
        call["arguments"] += function.get("arguments") or ""
        if index in self._numbers:
            more = {"arguments": function.get("arguments") or ""}
            yield self._chunk({"tool_calls": [{"index": self._numbers[index], "function": more}]})
        elif self._passes is None or call["name"] in self._passes:
            self._numbers[index] = self._sent
            yield self._whole(call)

    def _whole(self, call: Mapping[str, str]) -> Event:
        function = {"name": call["name"], "arguments": call["arguments"]}
        part = {"index": self._sent, "id": call["id"], "type": "function", "function": function}
        self._sent += 1
        return self._chunk({"tool_calls": [part]})

    def reply(self) -> Reply:
        """The reply of the current upstream stream; BadReplyError if it was cut short."""
        if self._ended is None:
            raise BadReplyError("the upstream stream ended before the reply was complete")
        calls = (self._calls[index] for index in sorted(self._calls))
        return Reply(text="".join(self._text), calls=tuple(ToolCall.parse(**c) for c in calls))

    def again(self) -> None:
        """Another upstream stream follows."""
        self._start()

    def finish(self, filtered: Filtered | None, text: str) -> Iterable[Event]:
        """The held calls that may execute, `text` of ours, and the end of the answer."""
        allowed = [v.allowed for v in filtered.verdicts] if filtered is not None else []
        for position, index in enumerate(sorted(self._calls)):
            if index not in self._numbers and allowed[position]:
                yield self._whole(self._calls[index])
        if text:
            yield self._chunk({"content": f"\n\n{text}" if self._said else text})
        reason = self._ended
        if reason in ("tool_calls", "function_call") and not self._sent:
            reason = "stop"
        yield self._chunk({}, reason)
        if self._usage:
            yield Event("", {**self._head, "choices": [], "usage": self._usage})
        yield Event("", DONE)

    def fail(self, problem: str) -> Iterable[Event]:
        """The end of an answer that cannot be completed."""
        yield Event("", {"error": {"message": problem, "type": "api_error"}})

    def _add_usage(self, usage: Mapping[str, Any] | None) -> None:
        for name, value in (usage or {}).items():
            if isinstance(value, int):
                self._usage[name] = self._usage.get(name, 0) + value

    def _chunk(self, delta: Body, reason: str | None = None) -> Event:
        if not self._head.get("_opened"):
            self._head["_opened"] = True
            delta = {"role": "assistant", **delta}
        head = {k: v for k, v in self._head.items() if k != "_opened"}
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return Event("", {**head, "choices": [choice]})


def _tools(body: Body) -> Sequence[Any]:
    tools = body.get("tools") or []
    if not isinstance(tools, list):
        raise BadRequestError("tools: should be a list")
    return tools


def _tool_name(tool: Any, n: int) -> str:
    function = tool.get("function") if isinstance(tool, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str):
        raise BadRequestError(
            f"tools[{n}]: only function tools can be judged; a tool that runs upstream cannot"
        )
    return name


def _flag(body: Body, name: str) -> bool:
    value = body.get(name)
    if value not in (None, True, False):
        raise BadRequestError(f"{name}: should be true or false")
    return bool(value)


def _message(raw: Any, where: str) -> Iterator[Message]:
    if not isinstance(raw, dict):
        raise BadRequestError(f"{where}: should be an object")
    role = raw.get("role")
    if role == "user":
        yield UserMessage(text=_text(raw.get("content"), where))
    elif role == "assistant":
        yield _reply(raw, where)
    elif role == "tool":
        content = _text(raw.get("content"), where)
        yield ToolReturn(call_id=str(raw.get("tool_call_id", "")), content=content)
    elif role not in _SILENT:
        raise BadRequestError(f"{where}.role: {role!r} is no role of this API")


def _reply(raw: Mapping[str, Any], where: str = "message") -> Reply:
    calls = raw.get("tool_calls") or []
    if not isinstance(calls, list):
        raise BadRequestError(f"{where}.tool_calls: should be a list")
    return Reply(
        text=_text(raw.get("content"), where),
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


def _text(content: Any, where: str) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    if not isinstance(content, list):
        raise BadRequestError(f"{where}.content: should be text or a list of parts")
    parts = (part.get("text") for part in content if isinstance(part, dict))
    return "".join(part for part in parts if isinstance(part, str))


def _wire_call(call: ToolCall) -> Body:
    arguments = call.malformed if call.malformed is not None else canonical(call.arguments)
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _choice(raw: Body, filtered: Filtered, text: str) -> Body:
    message = dict(raw["message"])
    calls = message.pop("tool_calls", None) or []
    pairs = zip(calls, filtered.verdicts, strict=True)
    kept = [call for call, verdict in pairs if verdict.allowed]
    if kept:
        message["tool_calls"] = kept
    said = [part for part in (filtered.reply.text, text) if part]
    message["content"] = "\n\n".join(said) or None
    if not kept and not said:
        message["content"] = ""
    reason = raw.get("finish_reason") if kept or not calls else "stop"
    return {**raw, "message": message, "finish_reason": reason}
