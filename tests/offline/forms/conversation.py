"""One conversation of our own in the forms that tools keep: a book is looked up, and then lent."""

from __future__ import annotations

import json
from typing import Any

ASK = "Is Ferns in? Then lend it to me."
BOOK = {"book_id": "B1", "title": "Ferns", "status": "in"}
BOOK_TEXT = json.dumps(BOOK)
LOOK = {"book_id": "B1"}
LEND = {"book_id": "B1", "days": 14}
LENT = "lent until Friday"
DONE = "It is yours until Friday."


def text(arguments: Any) -> str:
    """Arguments as chat APIs carry them."""
    return json.dumps(arguments)


def openai(**first: Any) -> list[Any]:
    """OpenAI chat messages."""
    return [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": ASK}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "get_book", "arguments": text(LOOK)},
                }
            ],
            **first,
        },
        {"role": "tool", "tool_call_id": "c1", "content": BOOK_TEXT},
        {
            "role": "assistant",
            "tool_calls": [
                {
                    "id": "c2",
                    "type": "function",
                    "function": {"name": "lend_book", "arguments": text(LEND)},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": LENT},
        {"role": "assistant", "content": DONE},
    ]


LEGACY = [
    {"role": "user", "content": ASK},
    {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "get_book", "arguments": text(LOOK)},
    },
    {"role": "function", "name": "get_book", "content": BOOK_TEXT},
    {
        "role": "assistant",
        "content": None,
        "function_call": {"name": "lend_book", "arguments": text(LEND)},
    },
    {"role": "function", "name": "lend_book", "content": LENT},
    {"role": "assistant", "content": DONE},
]

ANTHROPIC = {
    "model": "m",
    "system": "Be kind.",
    "messages": [
        {"role": "user", "content": ASK},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "tool_use", "id": "t1", "name": "get_book", "input": LOOK},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "content": [{"type": "text", "text": BOOK_TEXT}],
                }
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "t2", "name": "lend_book", "input": LEND}],
        },
        {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": "t2", "content": LENT}],
        },
        {"role": "assistant", "content": [{"type": "text", "text": DONE}]},
    ],
}

CLAUDE_CODE = [
    {"type": "summary", "summary": "Lending", "leafUuid": "u5"},
    *(
        {"type": m["role"], "message": m, "uuid": f"u{n}", "sessionId": "s1", "isSidechain": False}
        for n, m in enumerate(ANTHROPIC["messages"])  # type: ignore[arg-type]
    ),
]


def converse(**more: Any) -> list[Any]:
    """Messages of the Converse API; Strands adds fields."""
    result = {"toolUseId": "t1", "status": "success", "content": [{"json": BOOK}]}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": [{"text": ASK}]},
        {
            "role": "assistant",
            "content": [{"toolUse": {"toolUseId": "t1", "name": "get_book", "input": LOOK}}],
        },
        {"role": "user", "content": [{"toolResult": result}]},
        {
            "role": "assistant",
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm."}}},
                {"toolUse": {"toolUseId": "t2", "name": "lend_book", "input": LEND}},
            ],
        },
        {
            "role": "user",
            "content": [{"toolResult": {"toolUseId": "t2", "content": [{"text": LENT}]}}],
        },
        {"role": "assistant", "content": [{"text": DONE}]},
    ]
    return [{**message, **more} for message in messages]


GEMINI = {
    "systemInstruction": {"parts": [{"text": "Be kind."}]},
    "contents": [
        {"role": "user", "parts": [{"text": ASK}]},
        {"role": "model", "parts": [{"functionCall": {"name": "get_book", "args": LOOK}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "get_book", "response": {"result": BOOK}}}],
        },
        {"role": "model", "parts": [{"functionCall": {"name": "lend_book", "args": LEND}}]},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "lend_book", "response": {"result": LENT}}}],
        },
        {"role": "model", "parts": [{"text": DONE}]},
    ],
}

ADK = {
    "id": "s1",
    "app_name": "library",
    "events": [{"author": c["role"], "content": c} for c in GEMINI["contents"]],  # type: ignore[index]
}

GEN_AI: list[Any] = [
    {"role": "system", "parts": [{"type": "text", "content": "Be kind."}]},
    {"role": "user", "parts": [{"type": "text", "content": ASK}]},
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": "get_book", "arguments": LOOK}],
    },
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "response": BOOK}]},
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c2", "name": "lend_book", "arguments": LEND}],
    },
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c2", "response": LENT}]},
    {"role": "assistant", "parts": [{"type": "text", "content": DONE}], "finish_reason": "stop"},
]

VERCEL_UI = [
    {"id": "m1", "role": "user", "parts": [{"type": "text", "text": ASK}]},
    {
        "id": "m2",
        "role": "assistant",
        "parts": [
            {"type": "step-start"},
            {
                "type": "tool-get_book",
                "toolCallId": "c1",
                "state": "output-available",
                "input": LOOK,
                "output": BOOK,
            },
            {"type": "step-start"},
            {
                "type": "dynamic-tool",
                "toolName": "lend_book",
                "toolCallId": "c2",
                "state": "output-available",
                "input": LEND,
                "output": LENT,
            },
            {"type": "step-start"},
            {"type": "text", "text": DONE, "state": "done"},
        ],
    },
]

VERCEL_UI_4 = [
    {"id": "m1", "role": "user", "content": ASK},
    {
        "id": "m2",
        "role": "assistant",
        "content": DONE,
        "toolInvocations": [
            {
                "state": "result",
                "step": 0,
                "toolCallId": "c1",
                "toolName": "get_book",
                "args": LOOK,
                "result": BOOK,
            },
            {
                "state": "result",
                "step": 1,
                "toolCallId": "c2",
                "toolName": "lend_book",
                "args": LEND,
                "result": LENT,
            },
        ],
    },
]


def vercel_model(key: str = "input") -> list[Any]:
    """Model messages of the AI SDK: `input` since version 5, `args` before."""
    return [
        {"role": "user", "content": [{"type": "text", "text": ASK}]},
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": "c1", "toolName": "get_book", key: LOOK}
            ],
        },
        {
            "role": "tool",
            "content": [
                {
                    "type": "tool-result",
                    "toolCallId": "c1",
                    "toolName": "get_book",
                    "output": {"type": "json", "value": BOOK},
                }
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "tool-call", "toolCallId": "c2", "toolName": "lend_book", key: LEND}
            ],
        },
        {
            "role": "tool",
            "content": [
                {"type": "tool-result", "toolCallId": "c2", "toolName": "lend_book", "result": LENT}
            ],
        },
        {"role": "assistant", "content": DONE},
    ]


LANGCHAIN: list[dict[str, Any]] = [
    {"type": "system", "content": "Be kind."},
    {"type": "human", "content": ASK},
    {
        "type": "ai",
        "content": [{"type": "tool_use", "id": "c1", "name": "get_book", "input": LOOK}],
        "tool_calls": [{"name": "get_book", "args": LOOK, "id": "c1", "type": "tool_call"}],
    },
    {"type": "tool", "content": BOOK_TEXT, "tool_call_id": "c1", "status": "success"},
    {
        "type": "ai",
        "content": "",
        "tool_calls": [{"name": "lend_book", "args": LEND, "id": "c2", "type": "tool_call"}],
    },
    {"type": "tool", "content": LENT, "tool_call_id": "c2", "status": "success"},
    {"type": "ai", "content": DONE, "tool_calls": []},
]

_CLASSES = {
    "system": "SystemMessage",
    "human": "HumanMessage",
    "ai": "AIMessage",
    "tool": "ToolMessage",
}

LANGCHAIN_DUMPD: list[dict[str, Any]] = [
    {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", _CLASSES[m["type"]]],
        "kwargs": m,
    }
    for m in LANGCHAIN
]

PYDANTIC_AI = [
    {
        "kind": "request",
        "parts": [
            {"part_kind": "system-prompt", "content": "Be kind."},
            {"part_kind": "user-prompt", "content": [ASK]},
        ],
    },
    {
        "kind": "response",
        "parts": [
            {
                "part_kind": "tool-call",
                "tool_name": "get_book",
                "args": text(LOOK),
                "tool_call_id": "c1",
            }
        ],
    },
    {
        "kind": "request",
        "parts": [
            {
                "part_kind": "tool-return",
                "tool_name": "get_book",
                "content": BOOK,
                "tool_call_id": "c1",
            }
        ],
    },
    {
        "kind": "response",
        "parts": [
            {"part_kind": "tool-call", "tool_name": "lend_book", "args": LEND, "tool_call_id": "c2"}
        ],
    },
    {
        "kind": "request",
        "parts": [
            {
                "part_kind": "tool-return",
                "tool_name": "lend_book",
                "content": LENT,
                "tool_call_id": "c2",
            }
        ],
    },
    {"kind": "response", "parts": [{"part_kind": "text", "content": DONE}]},
]

AG2 = [
    {
        "role": "tool",
        "name": "desk",
        "content": m["content"],
        "tool_responses": [
            {"tool_call_id": m["tool_call_id"], "role": "tool", "content": m["content"]}
        ],
    }
    if m["role"] == "tool"
    else m
    for m in openai()
]

AUTOGEN = [
    {"type": "TextMessage", "source": "user", "content": ASK},
    {
        "type": "ToolCallRequestEvent",
        "source": "desk",
        "content": [{"id": "c1", "name": "get_book", "arguments": text(LOOK)}],
    },
    {
        "type": "ToolCallExecutionEvent",
        "source": "desk",
        "content": [{"call_id": "c1", "name": "get_book", "content": BOOK_TEXT, "is_error": False}],
    },
    {
        "type": "ToolCallRequestEvent",
        "source": "desk",
        "content": [{"id": "c2", "name": "lend_book", "arguments": text(LEND)}],
    },
    {
        "type": "ToolCallExecutionEvent",
        "source": "desk",
        "content": [{"call_id": "c2", "name": "lend_book", "content": LENT, "is_error": False}],
    },
    {"type": "ToolCallSummaryMessage", "source": "desk", "content": LENT},
    {"type": "TextMessage", "source": "desk", "content": DONE},
]
