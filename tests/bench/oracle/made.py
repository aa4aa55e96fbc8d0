"""Runs of our own in the form that SOPBench publishes."""

from __future__ import annotations

import json
from typing import Any

ASK = "Please do this for me."

Step = tuple[str, dict[str, Any], str]
"""A tool, its arguments, and what it answers."""


def run(
    *steps: Step,
    goal: str,
    stated: list[Any] | None = None,
    numbers: dict[str, Any] | None = None,
    kept: bool = True,
    ask: str = ASK,
) -> dict[str, Any]:
    """A run of these steps; `kept` is the oracle's verdict on it."""
    opening = {"sender": "user", "content": ask}
    messages = [one for number, step in enumerate(steps) for one in _messages(step, f"c{number}")]
    return {
        "task": {
            "user_prompt": ASK,
            "user_goal": goal,
            "constraints_original": stated,
            "constraint_parameters": numbers,
        },
        "interactions": [{"interaction": [opening, *messages]}],
        "evaluations": [{"constraint_not_violated": kept, "success": kept}],
    }


def _messages(step: Step, number: str) -> list[dict[str, Any]]:
    name, arguments, answer = step
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": number, "type": "function", "function": function}
    return [
        {"sender": "assistant", "content": None, "tool_calls": [call]},
        {"tool_call_id": number, "tool_name": name, "content": answer},
    ]


def single(constraint: str, **arguments: str) -> list[Any]:
    """One constraint as a task states it."""
    return ["single", constraint, arguments or {"username": "username"}]
