"""A model that needs no key: the same four replies, in the form that each library expects.

Maya asks for order G-1007 to be cancelled. The model first tries it unread, then reads, then tries
again although the order is packed, and at last tells her.
"""

from __future__ import annotations

import json
from typing import Any

import httpx2

from ledgeragent import Reply, ToolCall

SAYS = "I'm maya.brandt@example.org. Please cancel order G-1007."
CANCEL = ToolCall(name="cancel_order", arguments={"order_id": "G-1007"}, id="c1")
REPLIES = (
    Reply(calls=(CANCEL,)),
    Reply(
        calls=(
            ToolCall(name="find_customer", arguments={"email": "maya.brandt@example.org"}, id="c2"),
            ToolCall(name="get_order", arguments={"order_id": "G-1007"}, id="c3"),
        )
    ),
    Reply(calls=(ToolCall(name="cancel_order", arguments={"order_id": "G-1007"}, id="c4"),)),
    Reply(text="I'm sorry: G-1007 is packed already, so I can't cancel it."),
)


def show(conversation: object, filtered: Any) -> None:
    """Prints what the gate made of each call."""
    for verdict in filtered.verdicts:
        print(f"{verdict.decision.name:<6} {verdict.call}")


def openai_transport() -> httpx2.MockTransport:
    """Answers Chat Completions requests with the scripted replies."""
    left = list(REPLIES)

    def answer(request: httpx2.Request) -> httpx2.Response:
        reply = left.pop(0)
        message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
        if reply.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
                }
                for call in reply.calls
            ]
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        head = {"id": "1", "object": "chat.completion", "created": 0, "model": "scripted"}
        return httpx2.Response(200, json={**head, "choices": [choice]})

    return httpx2.MockTransport(answer)


def anthropic_transport() -> httpx2.MockTransport:
    """Answers Messages requests with the scripted replies."""
    left = list(REPLIES)

    def answer(request: httpx2.Request) -> httpx2.Response:
        reply = left.pop(0)
        blocks: list[Any] = [{"type": "text", "text": reply.text}] if reply.text else []
        blocks += (
            {"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments}
            for c in reply.calls
        )
        head = {"id": "1", "type": "message", "role": "assistant", "model": "scripted"}
        end = {
            "stop_reason": "tool_use" if reply.calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        return httpx2.Response(200, json={**head, "content": blocks, **end})

    return httpx2.MockTransport(answer)
