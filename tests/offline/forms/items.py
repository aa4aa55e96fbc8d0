"""The same conversation as items of the Responses API, and as calls in the text of messages."""

from __future__ import annotations

import json
from typing import Any

from .conversation import ASK, BOOK_TEXT, DONE, LEND, LENT, LOOK, text

RESPONSES: list[dict[str, Any]] = [
    {"role": "user", "content": ASK},
    {"type": "reasoning", "id": "r1", "summary": []},
    {"type": "function_call", "call_id": "c1", "name": "get_book", "arguments": text(LOOK)},
    {"type": "function_call_output", "call_id": "c1", "output": BOOK_TEXT},
    {"type": "function_call", "call_id": "c2", "name": "lend_book", "arguments": text(LEND)},
    {"type": "function_call_output", "call_id": "c2", "output": LENT},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": DONE}]},
]

NEMO_GYM = {
    "responses_create_params": {
        "input": RESPONSES[:1],
        "tools": [
            {"type": "function", "name": "get_book"},
            {"type": "function", "name": "lend_book"},
        ],
    },
    "response": {"object": "response", "output": RESPONSES[1:]},
    "reward": 1.0,
}

ROLLOUT = [
    {"type": "session_meta", "payload": {"id": "s1"}},
    *({"type": "response_item", "payload": item} for item in RESPONSES),
]


def tagged(call: dict[str, Any]) -> str:
    """A call as text."""
    return f"<tool_call>\n{json.dumps(call)}\n</tool_call>"


HERMES = [
    {"role": "system", "content": "Call tools in <tool_call></tool_call>."},
    {"role": "user", "content": ASK},
    {"role": "assistant", "content": "I look. " + tagged({"name": "get_book", "arguments": LOOK})},
    {"role": "user", "content": f"<tool_response>\n{BOOK_TEXT}\n</tool_response>"},
    {
        "role": "assistant",
        "content": "<think>Hm.</think>" + tagged({"name": "lend_book", "arguments": LEND}),
    },
    {
        "role": "tool",
        "content": f"<tool_response>{json.dumps({'name': 'lend_book', 'content': LENT})}</tool_response>",
    },
    {"role": "assistant", "content": DONE},
]

QWEN_CODER = [
    *HERMES[:2],
    {
        "role": "assistant",
        "content": "<tool_call>\n<function=get_book>\n<parameter=book_id>\nB1\n</parameter>\n"
        "</function>\n</tool_call>",
    },
    *HERMES[3:],
]

_SPEAKERS = {"system": "system", "user": "human", "assistant": "gpt", "tool": "tool"}

SHAREGPT = {
    "conversations": [{"from": _SPEAKERS[m["role"]], "value": m["content"]} for m in HERMES]
}

SHAREGPT_CALLS = {
    "conversations": [
        {"from": "human", "value": ASK},
        {"from": "function_call", "value": json.dumps({"name": "get_book", "arguments": LOOK})},
        {"from": "observation", "value": BOOK_TEXT},
        {"from": "function_call", "value": json.dumps({"name": "lend_book", "arguments": LEND})},
        {"from": "observation", "value": LENT},
        {"from": "gpt", "value": DONE},
    ]
}
