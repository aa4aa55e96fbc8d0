"""Chat Completions: `/v1/chat/completions`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ledgeragent.engines.assembly import reply, tool_return, user_message
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
    listed,
    refuse,
    result_of,
    text_of,
)
from ledgeragent.gateway.dialects.chatstream import ChatStream
from ledgeragent.gateway.dialects.framing import check_frame, check_functions
from ledgeragent.gateway.dialects.offering import offered_tool, offered_tools
from ledgeragent.gateway.dialects.placing import AUTO, LAST, ROLES, forms_of, joined
from ledgeragent.gateway.dialects.wishes import asks_for_json, eased, forced_tool
from ledgeragent.gateway.errors import BadReplyError, BadRequestError
from ledgeragent.gateway.readhistory import NOTHING, Earlier
from ledgeragent.gateway.values import read_call
from ledgeragent.types import Message, Reply, ToolCall

# A third of what a named tuple's own constructor costs.
_tuple = tuple.__new__
_SILENT = ("system", "developer")
_REFUSED = {
    "functions": "use tools instead",
    "function_call": "use tool_choice instead",
    "web_search_options": HOSTED,
}


class ChatDialect:
    """The dialect. `place` is where the ledger block stands."""

    path = "/v1/chat/completions"
    is_read_in_order = True
    echoes = True

    def __init__(self, place: str = AUTO, *, structured: bool = False) -> None:
        self.forms = forms_of(place, ("system", "user", LAST))
        self._place = place
        self._structured = structured

    def refusing(self, structured: bool) -> ChatDialect:
        """The format, in which a refusal has a field of its own where the text is to be JSON."""
        if structured == self._structured:
            return self
        return ChatDialect(self._place, structured=structured)

    def conversation(self, body: Body, earlier: Earlier = NOTHING) -> Request:
        """The request's history; BadRequestError names the field that cannot be read."""
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages:
            raise BadRequestError("messages: should be a list with at least one message")
        refuse(body, _REFUSED)
        stream = flag(body, "stream")
        if stream and body.get("n") not in (None, 1):
            raise BadRequestError("n: a streamed reply with several choices cannot be judged")
        tools = offered_tools(body, _tool)
        history = (*earlier.messages, *_messages(messages, earlier.items))
        forced, structured = forced_tool(body), asks_for_json(body.get("response_format"))
        return _tuple(Request, (history, stream, None, tools, forced, structured, None))

    def prompt(self, body: Body, tail: Tail) -> Body:
        """The request for upstream, with the tail behind the history."""
        extra = [message for rejected in tail.rejected for message in _answered(rejected)]
        messages = [*body["messages"], *extra]
        if tail.place == LAST and messages[-1]["role"] != "assistant":
            last = messages.pop()
            messages.append({**last, "content": joined(last.get("content"), tail.context)})
        else:
            role = tail.place if tail.place in ROLES else "user"
            messages.append({"role": role, "content": tail.context})
        return {**eased(body, tail), "messages": messages}

    def replies(self, answer: Body) -> tuple[WireReply, ...]:
        """The replies of an answer, one per choice."""
        messages = [choice["message"] for choice in answer["choices"]]
        calls: list[Any] = []
        for message in messages:
            calls += message.get("tool_calls") or ()
        check_frame(answer, [call["function"] for call in calls] if calls else ())
        check_functions(calls)
        replies: list[WireReply] = []
        for message in messages:
            replies.append(_tuple(WireReply, (_reply(message, "message"), message, "")))
            if message.get("function_call"):
                raise BadReplyError("the upstream reply has a call that is no tool call")
        if not replies:
            raise BadReplyError("the upstream reply has no choice")
        return tuple(replies)

    def answer(self, answer: Body, choices: Sequence[tuple[Filtered, str]]) -> Body:
        """The answer for the client: each choice with only its allowed calls, and `text` of ours."""
        pairs = zip(answer["choices"], choices, strict=True)
        return {**answer, "choices": [self._choice(raw, *choice) for raw, choice in pairs]}

    def items(self, answer: Body) -> Sequence[Body]:
        """Nothing: requests of this format name no parts of earlier answers."""
        return ()

    def stream(self, passes: frozenset[str]) -> ChatStream:
        """An assembler; calls of the tools in `passes` are not held back."""
        return ChatStream(passes, structured=self._structured)

    def _choice(self, raw: Body, filtered: Filtered, text: str) -> Body:
        message = dict(raw["message"])
        calls = message.pop("tool_calls", None) or []
        pairs = zip(calls, filtered.verdicts, strict=True)
        allowed = [call for call, verdict in pairs if verdict.allowed]
        if allowed:
            message["tool_calls"] = allowed
        if text and self._structured:
            message["refusal"] = text
        elif text:
            reply_text = filtered.reply.text
            message["content"] = f"{reply_text}\n\n{text}" if reply_text else text
        reason = raw.get("finish_reason") if allowed or not calls else "stop"
        return {**raw, "message": message, "finish_reason": reason}

    def error(self, status: int, problem: str) -> Body:
        """An error as this format writes it."""
        kind = "invalid_request_error" if status < 500 else "api_error"
        return {"error": {"message": problem, "type": kind, "param": None, "code": None}}


def _tool(tool: Any, n: int) -> OfferedTool:
    function = tool.get("function") if isinstance(tool, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or tool.get("type", "function") != "function":
        raise BadRequestError(f"tools[{n}]: {HOSTED}")
    return offered_tool(tool["function"], "parameters")


def _messages(raw: Sequence[Any], first: int) -> list[Message]:
    new = enumerate(raw[first:], first)
    messages = [_message(message, f"messages[{n}]") for n, message in new]
    return [message for message in messages if message is not None]


def _message(raw: Any, where: str) -> Message | None:
    if not isinstance(raw, dict):
        raise BadRequestError(f"{where}: should be an object")
    role = raw.get("role")
    if role == "user":
        return user_message(text_of(raw.get("content"), f"{where}.content"))
    if role == "assistant":
        return _reply(raw, where)
    if role == "tool":
        content = result_of(raw.get("content"), f"{where}.content")
        return tool_return(str(raw.get("tool_call_id", "")), content, False, False)
    if role not in _SILENT:
        raise BadRequestError(f"{where}.role: {role!r} is no role of this API")
    return None


def _reply(raw: Mapping[str, Any], where: str) -> Reply:
    calls = listed(raw, "tool_calls", f"{where}.")
    text = text_of(raw.get("content"), f"{where}.content")
    if refusal := text_of(raw.get("refusal"), f"{where}.refusal"):
        text = f"{text}\n\n{refusal}" if text else refusal
    if not calls:
        return reply(text, (), "")
    tool_calls = [_call(call, f"{where}.tool_calls[{n}]") for n, call in enumerate(calls)]
    return reply(text, tuple(tool_calls), "")


def _call(raw: Any, where: str) -> ToolCall:
    function = raw.get("function") if isinstance(raw, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise BadRequestError(f"{where}: only function calls can be judged")
    arguments = function.get("arguments")
    if arguments is not None and not isinstance(arguments, str | dict):
        raise BadRequestError(f"{where}.function.arguments: should be JSON text")
    return read_call(name=function["name"], arguments=arguments, id=str(raw.get("id") or ""))


def _answered(rejected: Rejected) -> Iterator[Body]:
    """A rejected reply as it stood, and the answer that each of its calls gets instead of a result."""
    yield {**rejected.raw, "role": "assistant"}
    for call_id, text in rejected.answers:
        yield {"role": "tool", "tool_call_id": call_id, "content": text}
