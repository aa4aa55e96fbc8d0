"""Content blocks of a message: what a reply may hold, and the reply in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ledgeragent.gateway.dialects.base import (
    Body,
    WireReply,
    string,
)
from ledgeragent.gateway.errors import BadReplyError
from ledgeragent.types import Reply, ToolCall

THOUGHTS = ("thinking", "redacted_thinking")
"""Blocks that upstream signs, and takes back only as it sent them."""

SAFE_BLOCKS = ("text", *THOUGHTS)
"""What a reply may hold besides tool calls; everything else ran upstream."""


def reply_of(content: Sequence[Any]) -> WireReply:
    """The reply in these blocks. Input that is no object makes a malformed call."""
    other = {block["type"] for block in content} - {*SAFE_BLOCKS, "tool_use"}
    if other:
        raise BadReplyError(f"the upstream sent {min(other)}, which cannot be judged")
    text = "".join(block["text"] for block in content if block["type"] == "text")
    calls = tuple(call_of(block, "content") for block in content if block["type"] == "tool_use")
    return WireReply(Reply(text=text, calls=calls), content)


def refused_by_us(text: str) -> Body:
    """Why a message ends, where the client would read any text in it as JSON."""
    details = {"type": "refusal", "category": None, "explanation": text}
    return {"stop_reason": "refusal", "stop_details": details}


def call_of(block: Mapping[str, Any], where: str) -> ToolCall:
    name, number, arguments = string(block, "name", where), block.get("id"), block.get("input")
    if isinstance(arguments, Mapping) or arguments is None:
        return ToolCall(name=name, arguments=arguments or {}, id=str(number or ""))
    return ToolCall(name=name, id=str(number or ""), malformed=str(arguments))
