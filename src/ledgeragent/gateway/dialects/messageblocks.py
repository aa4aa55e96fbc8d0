"""Content blocks of a message: what a reply may hold, and the reply in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ledgeragent.gateway.dialects.base import (
    WireReply,
    string,
)
from ledgeragent.gateway.errors import BadReplyError
from ledgeragent.types import Reply, ToolCall

SAFE_BLOCKS = ("text", "thinking", "redacted_thinking")
"""What a reply may hold besides tool calls; everything else ran upstream."""


def reply_of(content: Sequence[Any]) -> WireReply:
    """The reply in these blocks. Input that is no object makes a malformed call."""
    other = {block["type"] for block in content} - {*SAFE_BLOCKS, "tool_use"}
    if other:
        raise BadReplyError(f"the upstream sent {min(other)}, which cannot be judged")
    text = "".join(block["text"] for block in content if block["type"] == "text")
    calls = tuple(call_of(block, "content") for block in content if block["type"] == "tool_use")
    return WireReply(Reply(text=text, calls=calls), content)


def call_of(block: Mapping[str, Any], where: str) -> ToolCall:
    name, number, arguments = string(block, "name", where), block.get("id"), block.get("input")
    if isinstance(arguments, Mapping) or arguments is None:
        return ToolCall(name=name, arguments=arguments or {}, id=str(number or ""))
    return ToolCall(name=name, id=str(number or ""), malformed=str(arguments))
