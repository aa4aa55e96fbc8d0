"""Runs as SOPBench publishes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ledgeragent.offline.traces import Trace
from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage


def is_whole(record: dict[str, Any]) -> bool:
    """True for a run with a verdict, whose conversation begins with its own task's request.

    One published file has the conversations of other tasks beside its tasks.
    """
    if not record.get("evaluations") or not record.get("interactions"):
        return False
    opening = record["interactions"][0]["interaction"][:1]
    return bool(opening) and opening[0].get("content") == record["task"]["user_prompt"]


def trace(record: dict[str, Any]) -> Trace:
    """The conversation of a run."""
    return Trace(run="", messages=tuple(_messages(record["interactions"][0]["interaction"])))


def _messages(interaction: list[dict[str, Any]]) -> Iterator[Message]:
    for entry in interaction:
        if "tool_call_id" in entry:
            content = str(entry.get("content") or "")
            yield ToolReturn(call_id=str(entry["tool_call_id"]), content=content)
        elif entry.get("sender") == "user":
            yield UserMessage(text=entry.get("content") or "")
        else:
            calls = tuple(
                ToolCall.parse(
                    name=call["function"]["name"],
                    arguments=call["function"]["arguments"],
                    id=call["id"],
                )
                for call in entry.get("tool_calls") or ()
            )
            yield Reply(text=entry.get("content") or "", calls=calls)
