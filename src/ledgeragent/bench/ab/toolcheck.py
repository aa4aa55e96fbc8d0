"""Does a server pass tools on to its model? Asked before hours of runs that could call none."""

from __future__ import annotations

from enum import Enum

from ledgeragent.bench.running.endpoint import Endpoint, EndpointError
from ledgeragent.types import Json

_TOOL: Json = {
    "type": "function",
    "function": {
        "name": "get_order",
        "description": "Reads one order.",
        "parameters": {
            "type": "object",
            "properties": {"order_id": {"type": "string"}},
            "required": ["order_id"],
        },
    },
}
_QUESTION: Json = {"role": "user", "content": "Use the tool get_order to look up the order A1."}


class ToolSupport(Enum):
    """What became of a plain request to call a tool."""

    CALLS = "it calls tools"
    WHEN_FORCED = (
        "it called a tool only when it had to (tool_choice: required): the model, or how the server "
        "reads its calls (vLLM: --enable-auto-tool-choice and --tool-call-parser; llama.cpp: --jinja), "
        "makes it answer in words"
    )
    NEVER = (
        "the server ignores `tools`: asked to call one, it answered in words, even with "
        "tool_choice: required. Nothing could be measured (vLLM: --enable-auto-tool-choice and "
        "--tool-call-parser; llama.cpp: --jinja)"
    )


def tool_support(endpoint: Endpoint) -> ToolSupport:
    """What the model does when asked to call a tool; raises EndpointError where it cannot be asked."""
    if _calls(endpoint, {}):
        return ToolSupport.CALLS
    try:
        forced = _calls(endpoint, {"tool_choice": "required"})
    except EndpointError:
        forced = False
    return ToolSupport.WHEN_FORCED if forced else ToolSupport.NEVER


def _calls(endpoint: Endpoint, more: Json) -> bool:
    body = {"messages": [_QUESTION], "tools": [_TOOL], **more}
    answer = endpoint.ask("chat/completions", body)
    return bool((answer["choices"][0].get("message") or {}).get("tool_calls"))
