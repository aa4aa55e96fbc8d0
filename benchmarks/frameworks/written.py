"""Replies written as text, for frameworks that offer a model no tools and read its words instead."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.frameworks.scripted import Step, Writer
from ledgeragent.types import Reply


def dspy(step: Step, body: dict[str, Any]) -> Reply:
    """A turn of DSPy's ReAct: a thought, the tool's name and its arguments, in marked fields."""
    if "next_tool_name" not in json.dumps(body["messages"]):
        answer = step if isinstance(step, str) else "It is done."
        return _fields(reasoning="I know all.", answer=answer)
    name, arguments = ("finish", {}) if isinstance(step, str) else step
    return _fields(
        next_thought="One step more.", next_tool_name=name, next_tool_args=json.dumps(arguments)
    )


def _fields(**fields: str) -> Reply:
    lines = [f"[[ ## {name} ## ]]\n{value}\n" for name, value in fields.items()]
    return Reply(text="\n".join([*lines, "[[ ## completed ## ]]"]))


WRITERS: dict[str, Writer] = {"dspy": dspy}
