"""Anthropic's Messages: `/v1/messages`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ledgeragent.gate import Filtered
from ledgeragent.gateway.dialects.base import (
    HOSTED,
    Body,
    OfferedTool,
    Rejected,
    Request,
    Tail,
    WireReply,
    flag,
    refuse,
    result_of,
    string,
    text_of,
)
from ledgeragent.gateway.dialects.framing import check_frame
from ledgeragent.gateway.dialects.messageblocks import THOUGHTS, call_of, refused_by_us, reply_of
from ledgeragent.gateway.dialects.messagestream import MessagesStream
from ledgeragent.gateway.dialects.offering import offered_tool, offered_tools
from ledgeragent.gateway.dialects.placing import AUTO, LAST, forms_of
from ledgeragent.gateway.dialects.wishes import asks_for_json, eased, forced_tool
from ledgeragent.gateway.errors import BadReplyError, BadRequestError
from ledgeragent.gateway.readhistory import NOTHING, Earlier
from ledgeragent.gateway.seam import BREAK
from ledgeragent.types import Message, Reply, ToolReturn, UserMessage

_REFUSED = {"mcp_servers": HOSTED, "container": HOSTED}

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    409: "invalid_request_error",
    413: "request_too_large",
    422: "invalid_request_error",
    503: "overloaded_error",
    504: "timeout_error",
}


class MessagesDialect:
    """The dialect. `place` is where the ledger block stands: behind the last turn of the user, or in it.

    A text of its own behind the results of tools makes models end their turn without a word, so that
    the block goes into the last result where the model takes no message of the system.
    """

    path = "/v1/messages"
    is_read_in_order = True

    def __init__(self, place: str = AUTO, *, structured: bool = False) -> None:
        own = "system" if place == "developer" else place
        self.forms = forms_of(own, ("system", LAST))
        self._place = place
        self._structured = structured

    @property
    def echoes(self) -> bool:
        """False where a refusal is no block of the message but the reason why it stopped."""
        return not self._structured

    def refusing(self, structured: bool) -> MessagesDialect:
        """The format, in which a refusal is no text where that is to be JSON."""
        if structured == self._structured:
            return self
        return MessagesDialect(self._place, structured=structured)

    def conversation(self, body: Body, earlier: Earlier = NOTHING) -> Request:
        """The request's history; BadRequestError names the field that cannot be read."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise BadRequestError("messages: should be a list with at least one message")
        refuse(body, _REFUSED)
        new = enumerate(messages[earlier.items :], earlier.items)
        return Request(
            messages=(
                *earlier.messages,
                *(m for n, raw in new for m in _message(raw, n)),
            ),
            stream=flag(body, "stream"),
            tools=offered_tools(body, _tool),
            forced=forced_tool(body),
            structured=_is_structured(body),
        )

    def prompt(self, body: Body, tail: Tail) -> Body:
        """The request for upstream, with the tail behind the history."""
        body = eased(body, tail)
        messages = [*body["messages"]]
        if body.get("cache_control"):
            messages[-1] = _marked(messages[-1], body["cache_control"])
            body = {name: value for name, value in body.items() if name != "cache_control"}
        for rejected in tail.rejected:
            messages += _answered(rejected)
        # The beginning of a reply, which upstream is to continue, has to stay the last message.
        opening = [messages.pop()] if messages[-1]["role"] == "assistant" else []
        if tail.place == "system" and messages and not opening:
            messages.append({"role": "system", "content": tail.context})
        elif messages and messages[-1]["role"] != "assistant":
            last = messages.pop()
            content = _blocks(last.get("content"))
            messages.append({**last, "content": _with_block(content, tail)})
        else:
            messages.append({"role": "user", "content": [_text(tail.context)]})
        return {**body, "messages": [*messages, *opening]}

    def replies(self, answer: Body) -> tuple[WireReply, ...]:
        """The one reply of an answer."""
        content = answer.get("content")
        if not isinstance(content, list):
            raise BadReplyError("the upstream reply has no content")
        check_frame(answer, (block for block in content if block.get("type") == "tool_use"))
        return (reply_of(content),)

    def answer(self, answer: Body, choices: Sequence[tuple[Filtered, str]]) -> Body:
        """The answer for the client, with only the allowed calls, and `text` of ours."""
        ((filtered, text),) = choices
        allowed = iter(filtered.verdicts)
        content = [b for b in answer["content"] if b["type"] != "tool_use" or next(allowed).allowed]
        if text and self._structured:
            return {**answer, "content": content, **refused_by_us(text)}
        if text:
            has_text = any(block["type"] == "text" for block in content)
            content.append({"type": "text", "text": f"{BREAK}{text}" if has_text else text})
        reason = answer.get("stop_reason")
        if reason == "tool_use" and not filtered.execute:
            reason = "end_turn"
        return {**answer, "content": content, "stop_reason": reason}

    def items(self, answer: Body) -> Sequence[Body]:
        """Nothing: requests of this format name no parts of earlier answers."""
        return ()

    def stream(self, passes: frozenset[str]) -> MessagesStream:
        """An assembler; calls of the tools in `passes` are not held back."""
        return MessagesStream(passes, structured=self._structured)

    def error(self, status: int, problem: str) -> Body:
        """An error as this format writes it."""
        return {
            "type": "error",
            "error": {"type": _KINDS.get(status, "api_error"), "message": problem},
        }


def _is_structured(body: Body) -> bool:
    config = body.get("output_config")
    inner = config.get("format") if isinstance(config, dict) else None
    return asks_for_json(inner) or asks_for_json(body.get("output_format"))


def _tool(tool: Any, n: int) -> OfferedTool:
    if not isinstance(tool, dict) or tool.get("type") not in (None, "custom"):
        raise BadRequestError(f"tools[{n}]: {HOSTED}")
    string(tool, "name", f"tools[{n}]")
    return offered_tool(tool, "input_schema")


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
            calls = (call_of(b, where) for b in blocks if b["type"] == "tool_use")
            yield Reply(text=text_of(blocks, where), calls=tuple(calls))
        case "system":
            text_of(content, f"{where}.content")
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


def _text(text: str) -> Body:
    return {"type": "text", "text": text}


def _with_block(blocks: Sequence[Any], tail: Tail) -> list[Any]:
    """The blocks of a turn, with the ledger block behind them, or inside the last one of a result."""
    if not blocks or blocks[-1]["type"] != "tool_result" or tail.place == "user":
        return [*blocks, _text(tail.context)]
    *before, result = blocks
    content = [*_blocks(result.get("content")), _text(tail.context)]
    return [*before, {**result, "content": content}]


def _marked(message: Body, marker: Any) -> Body:
    """The client's last message, which the cache is to hold, and not the ledger block behind it."""
    *before, last = _blocks(message["content"]) or [_text("")]
    if last.get("type") in THOUGHTS or last.get("text") == "" or "cache_control" in last:
        return message
    return {**message, "content": [*before, {**last, "cache_control": marker}]}


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content or ())


def _answered(rejected: Rejected) -> list[Body]:
    """A rejected reply as it stood, and the answer that each of its calls gets instead of a result."""
    results = [
        {
            "type": "tool_result",
            "tool_use_id": call_id,
            "content": text,
            "is_error": True,
        }
        for call_id, text in rejected.answers
    ]
    content = [_sendable(block) for block in rejected.raw]
    return [{"role": "assistant", "content": content}, {"role": "user", "content": results}]


def _sendable(block: Body) -> Body:
    if block["type"] == "tool_use" and not isinstance(block.get("input"), dict):
        return {**block, "input": {}}
    return block
