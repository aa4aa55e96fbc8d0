"""What a request wishes of the reply: a tool that has to be called, a text that has to be JSON."""

from __future__ import annotations

from typing import Any

from ledgeragent.gateway.dialects.base import Body, Tail


def forced_tool(body: Body) -> str:
    """The tool that a request leaves the model no choice but to call, "" for none."""
    choice = body.get("tool_choice")
    if not isinstance(choice, dict):
        return ""
    function = choice.get("function")
    name = (function if isinstance(function, dict) else choice).get("name")
    return name if isinstance(name, str) else ""


def eased(body: Body, tail: Tail) -> Body:
    """The request, in which a rejected call may be followed by another: the read that it waits for.

    A model that has to call one tool could only repeat what was rejected.
    """
    if not tail.rejected or not forced_tool(body):
        return body
    choice = body["tool_choice"]
    if choice["type"] == "function":
        return {**body, "tool_choice": "required"}
    rest = {name: value for name, value in choice.items() if name != "name"}
    return {**body, "tool_choice": {**rest, "type": "any"}}


def asks_for_json(format: Any) -> bool:
    """True for the description of a text's format that makes it JSON."""
    return isinstance(format, dict) and str(format.get("type", "")).startswith("json")
