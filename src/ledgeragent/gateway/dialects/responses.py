"""OpenAI's Responses: `/v1/responses`."""

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
    string,
)
from ledgeragent.gateway.dialects.framing import check_frame
from ledgeragent.gateway.dialects.offering import offered_tool, offered_tools
from ledgeragent.gateway.dialects.placing import AUTO, LAST, ROLES, forms_of, joined
from ledgeragent.gateway.dialects.responseitems import (
    SILENT_ITEMS,
    calls_in,
    items_of,
    messages_of,
    output_of,
    reply_of,
    said_by_us,
    with_owed,
)
from ledgeragent.gateway.dialects.responsestream import ResponsesStream
from ledgeragent.gateway.dialects.wishes import asks_for_json, eased, forced_tool
from ledgeragent.gateway.errors import BadReplyError, BadRequestError
from ledgeragent.gateway.readhistory import NOTHING, Earlier
from ledgeragent.gateway.seam import BREAK

_KEPT_UPSTREAM = "what upstream keeps cannot be judged; send it as input"
_REFUSED = {
    "conversation": _KEPT_UPSTREAM,
    "prompt": _KEPT_UPSTREAM,
    "background": "an answer that is fetched later cannot be judged",
}


class ResponsesDialect:
    """The dialect. `place` is where the ledger block stands.

    Where upstream keeps the history itself, the block goes into the instructions, which it does not
    keep: else every turn would leave another one behind.
    """

    path = "/v1/responses"
    is_read_in_order = False
    echoes = True

    def __init__(self, place: str = AUTO, *, structured: bool = False) -> None:
        self.forms = forms_of(place, ("system", "user", LAST))
        self._place = place
        self._structured = structured

    def refusing(self, structured: bool) -> ResponsesDialect:
        """The format, in which a refusal is a part of its own kind where text is to be JSON."""
        if structured == self._structured:
            return self
        return ResponsesDialect(self._place, structured=structured)

    def conversation(self, body: Body, earlier: Earlier = NOTHING) -> Request:
        """The request's history; BadRequestError names the field that cannot be read."""
        refuse(body, _REFUSED)
        raw = body.get("input")
        if not isinstance(raw, str | list) or not raw:
            raise BadRequestError("input: should be text or a list with at least one item")
        after = body.get("previous_response_id")
        if after is not None and not isinstance(after, str):
            raise BadRequestError("previous_response_id: should be text")
        return Request(
            messages=tuple(messages_of(items_of(raw))),
            stream=flag(body, "stream"),
            after=after,
            tools=offered_tools(body, _tool),
            forced=forced_tool(body),
            structured=_is_structured(body),
        )

    def prompt(self, body: Body, tail: Tail) -> Body:
        """The request for upstream, with the tail behind the history."""
        body = eased(body, tail)
        continues = body.get("previous_response_id") is not None
        items = items_of(body["input"])
        if continues:
            items = list(with_owed(items, tail.owed))
        for rejected in tail.rejected:
            items += _answered(rejected, is_kept=body.get("store") is not False)
        if not continues:
            return {**body, "input": _with_context(items, tail)}
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
        check_frame(answer, calls_in(answer["output"]))
        return (reply_of(answer),)

    def answer(self, answer: Body, choices: Sequence[tuple[Filtered, str]]) -> Body:
        """The answer for the client, with only the allowed calls, and `text` of ours."""
        ((filtered, text),) = choices
        output = list(_kept(answer["output"], filtered))
        if text:
            has_text = any(item["type"] == "message" for item in output)
            spoken = f"{BREAK}{text}" if has_text and not self._structured else text
            output.append(said_by_us(answer, spoken, structured=self._structured))
        return {**answer, "output": output}

    def items(self, answer: Body) -> Sequence[Body]:
        """The items of the output."""
        output: Sequence[Body] = answer["output"]
        return output

    def stream(self, passes: frozenset[str]) -> ResponsesStream:
        """An assembler; calls of the tools in `passes` are not held back."""
        return ResponsesStream(passes, structured=self._structured)

    def error(self, status: int, problem: str) -> Body:
        """An error as this format writes it."""
        kind = "invalid_request_error" if status < 500 else "server_error"
        return {"error": {"message": problem, "type": kind, "param": None, "code": None}}


def _with_context(items: Sequence[Body], tail: Tail) -> list[Body]:
    *before, last = items
    if tail.place == LAST and last.get("type") == "function_call_output":
        output = joined(last.get("output"), tail.context, "input_text")
        return [*before, {**last, "output": output}]
    if tail.place == LAST and last.get("role") in ("user", "system", "developer"):
        content = joined(last.get("content"), tail.context, "input_text")
        return [*before, {**last, "content": content}]
    role = tail.place if tail.place in ROLES else "user"
    return [*items, {"role": role, "content": tail.context}]


def _is_structured(body: Body) -> bool:
    text = body.get("text")
    return isinstance(text, dict) and asks_for_json(text.get("format"))


def _tool(tool: Any, n: int) -> OfferedTool:
    if not isinstance(tool, dict) or tool.get("type") != "function":
        raise BadRequestError(f"tools[{n}]: {HOSTED}")
    string(tool, "name", f"tools[{n}]")
    return offered_tool(tool, "parameters")


def _kept(output: Sequence[Body], filtered: Filtered) -> Iterator[Body]:
    """The items without rejected calls, and without the reasoning that only led to one."""
    verdicts = iter(filtered.verdicts)
    waiting: list[Body] = []
    for item in output:
        if item["type"] in SILENT_ITEMS:
            waiting.append(item)
            continue
        if item["type"] != "function_call" or next(verdicts).allowed:
            yield from waiting
            yield item
        waiting = []


def _answered(rejected: Rejected, *, is_kept: bool) -> Iterator[Body]:
    """A rejected reply as it stood, and the answer that each of its calls gets instead of a result."""
    yield from rejected.raw if is_kept else _self_contained(rejected.raw)
    for call_id, text in rejected.answers:
        yield output_of(call_id, text)


def _self_contained(items: Sequence[Body]) -> Iterator[Body]:
    """The items for an upstream that keeps none: it knows no id, and no reasoning but the encrypted."""
    for item in items:
        if item["type"] not in SILENT_ITEMS:
            yield {name: value for name, value in item.items() if name != "id"}
        elif item.get("encrypted_content"):
            yield item
