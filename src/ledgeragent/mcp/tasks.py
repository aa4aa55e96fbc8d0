"""Tasks: calls that the server has begun, and answers when it is asked for the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.mcp.messages import McpResult

_ENDED = frozenset({"completed", "failed", "cancelled"})


def started_task(result: McpResult) -> str | None:
    """The id of the task that a result tells of instead of an answer; None for an answer."""
    task = result.get("task")
    if isinstance(task, Mapping) and "content" not in result and "structuredContent" not in result:
        return _id_of(task)
    return _id_of(result) if result.get("resultType") == "task" else None


def ended_task(status: Mapping[str, Any]) -> str | None:
    """The id of a task that this status tells to have ended, with no answer in it."""
    word = status.get("status")
    has_ended = isinstance(word, str) and word in _ENDED and "result" not in status
    return _id_of(status) if has_ended else None


def inline_result(status: McpResult) -> McpResult | None:
    """The answer that a status holds, in the form of the protocol that has it there."""
    result = status.get("result")
    return dict(result) if isinstance(result, Mapping) and "taskId" in status else None


def _id_of(task: Mapping[str, Any]) -> str | None:
    name = task.get("taskId")
    return name if isinstance(name, str) else None
