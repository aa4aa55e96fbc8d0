"""Does a server pass tools on to its model? Asked before hours of runs that could call none."""

from __future__ import annotations

from dataclasses import dataclass
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


_LONGEST_ANSWER = 300


class ToolSupport(Enum):
    """What became of a plain request to call a tool."""

    CALLS = "it calls tools"
    WHEN_FORCED = (
        "it called a tool only when it had to (tool_choice: required): the model, or how the server "
        "reads its calls (vLLM: --enable-auto-tool-choice and --tool-call-parser; llama.cpp: --jinja), "
        "makes it answer in words"
    )
    NEVER = (
        "the server ignores `tools`: asked to call one, it did not, even with tool_choice: required. "
        "Nothing could be measured (vLLM: --enable-auto-tool-choice and --tool-call-parser; "
        "llama.cpp: --jinja and a chat template that shows tools)"
    )


@dataclass(frozen=True, slots=True)
class ToolHearing:
    """What a server makes of `tools`; `answer` are its words, or its refusal, where it called none."""

    support: ToolSupport
    answer: str = ""

    def __str__(self) -> str:
        if not self.answer:
            return self.support.value
        return f"{self.support.value}. It answered: {self.answer}"


def tool_support(endpoint: Endpoint) -> ToolHearing:
    """What the model does when asked to call a tool; raises EndpointError where it cannot be asked.

    A server that refuses to be forced may still answer the plain question, so that only the plain
    one's failure is raised.
    """
    is_called, words = _asked(endpoint, {})
    if is_called:
        return ToolHearing(ToolSupport.CALLS)
    try:
        is_called, answer = _asked(endpoint, {"tool_choice": "required"})
    except EndpointError as refusal:
        is_called, answer = False, _short(str(refusal))
    if is_called:
        return ToolHearing(ToolSupport.WHEN_FORCED, words)
    return ToolHearing(ToolSupport.NEVER, answer)


def _asked(endpoint: Endpoint, more: Json) -> tuple[bool, str]:
    """Whether a tool was called, and what was said."""
    body = {"messages": [_QUESTION], "tools": [_TOOL], **more}
    answer = endpoint.ask("chat/completions", body)
    message = answer["choices"][0].get("message") or {}
    return bool(message.get("tool_calls")), _short(str(message.get("content") or ""))


def _short(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _LONGEST_ANSWER else f"{words[:_LONGEST_ANSWER]}…"
