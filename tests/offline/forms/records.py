"""The same conversation in the records of tracers, loggers and benchmarks."""

from __future__ import annotations

import json
from typing import Any

from .conversation import (
    ASK,
    BOOK,
    BOOK_TEXT,
    DONE,
    GEN_AI,
    LANGCHAIN,
    LEND,
    LENT,
    LOOK,
    openai,
)

CHAT = openai()


def inspect_sample() -> dict[str, Any]:
    """A sample of inspect_ai."""
    messages = []
    for message in CHAT:
        calls = [
            {
                "id": c["id"],
                "function": c["function"]["name"],
                "arguments": json.loads(c["function"]["arguments"]),
            }
            for c in message.get("tool_calls", ())
        ]
        messages.append({**message, "tool_calls": calls} if calls else message)
    return {"id": "lend", "epoch": 1, "messages": messages, "scores": {"includes": {"value": "C"}}}


INSPECT = {"version": 2, "eval": {"task": "library"}, "samples": [inspect_sample()]}

AGENT_DOJO = {
    "suite_name": "library",
    "user_task_id": "user_task_1",
    "injection_task_id": None,
    "messages": [
        {
            **m,
            "tool_calls": [
                {
                    "function": c["function"]["name"],
                    "args": json.loads(c["function"]["arguments"]),
                    "id": c["id"],
                    "placeholder_args": None,
                }
                for c in m["tool_calls"]
            ],
        }
        if m.get("tool_calls")
        else m
        for m in CHAT
    ],
    "utility": True,
    "security": True,
}

MCP: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}},
    {"jsonrpc": "2.0", "id": 0, "result": {"capabilities": {}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "get_book", "arguments": LOOK},
    },
    {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": BOOK_TEXT}]}},
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "lend_book", "arguments": LEND},
    },
    {
        "jsonrpc": "2.0",
        "id": 2,
        "result": {"content": [{"type": "text", "text": LENT}], "isError": False},
    },
]

MCP_LOG = [{"time": str(n), "direction": "in", "message": message} for n, message in enumerate(MCP)]

BATCH = {
    "custom_id": "r1",
    "method": "POST",
    "url": "/v1/chat/completions",
    "body": {"model": "m", "messages": CHAT},
}

BATCH_OUTPUT = {
    "id": "b1",
    "custom_id": "r1",
    "response": {"status_code": 200, "body": {"choices": [{"index": 0, "message": CHAT[2]}]}},
    "error": None,
}

REQUESTS = [
    {"request": {"messages": CHAT[:n]}, "response": {"choices": [{"message": CHAT[n]}]}}
    for n in (2, 4, 6)
]

LANGFUSE = {
    "id": "t1",
    "name": "chat",
    "observations": [
        {
            "id": f"o{n}",
            "type": "GENERATION",
            "startTime": f"2026-01-01T00:00:0{n}Z",
            "input": CHAT[:n],
            "output": CHAT[n],
        }
        for n in (2, 4, 6)
    ],
}

LANGFUSE_ROWS = [{**o, "traceId": "t1"} for o in LANGFUSE["observations"]]  # type: ignore[union-attr]

LANGSMITH = {
    "id": "r1",
    "trace_id": "r1",
    "run_type": "chain",
    "name": "agent",
    "inputs": {"messages": [{"role": "user", "content": ASK}]},
    "outputs": {"messages": LANGCHAIN[1:]},
    "child_runs": [],
}


def otlp(*spans: dict[str, Any]) -> dict[str, Any]:
    """OTLP JSON with these spans: name and attributes."""
    return {
        "resourceSpans": [
            {
                "resource": {},
                "scopeSpans": [
                    {
                        "spans": [
                            {
                                "traceId": "t1",
                                "spanId": f"s{n}",
                                "name": "chat m",
                                "startTimeUnixNano": f"17000000000000000{n}",
                                "attributes": [
                                    {"key": key, "value": {"stringValue": value}}
                                    for key, value in span.items()
                                ],
                            }
                            for n, span in enumerate(spans, 1)
                        ]
                    }
                ],
            }
        ]
    }


OTLP = otlp(
    *(
        {
            "gen_ai.input.messages": json.dumps(GEN_AI[:n]),
            "gen_ai.output.messages": json.dumps([GEN_AI[n]]),
        }
        for n in (2, 4, 6)
    )
)

OTLP_TOOLS = otlp(
    {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_book",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.call.arguments": json.dumps(LOOK),
        "gen_ai.tool.call.result": BOOK_TEXT,
    },
    {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "lend_book",
        "gen_ai.tool.call.id": "c2",
        "gen_ai.tool.call.arguments": json.dumps(LEND),
        "gen_ai.tool.call.result": LENT,
    },
)

OTLP_LEGACY = otlp(
    {
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": ASK,
        "gen_ai.prompt.1.role": "assistant",
        "gen_ai.prompt.1.tool_calls.0.id": "c1",
        "gen_ai.prompt.1.tool_calls.0.name": "get_book",
        "gen_ai.prompt.1.tool_calls.0.arguments": json.dumps(LOOK),
        "gen_ai.prompt.2.role": "tool",
        "gen_ai.prompt.2.content": BOOK_TEXT,
        "gen_ai.prompt.2.tool_call_id": "c1",
        "gen_ai.prompt.3.role": "assistant",
        "gen_ai.prompt.3.tool_calls.0.id": "c2",
        "gen_ai.prompt.3.tool_calls.0.name": "lend_book",
        "gen_ai.prompt.3.tool_calls.0.arguments": json.dumps(LEND),
        "gen_ai.prompt.4.role": "tool",
        "gen_ai.prompt.4.content": LENT,
        "gen_ai.prompt.4.tool_call_id": "c2",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": DONE,
    }
)


def inference(prefix: str, messages: list[Any]) -> dict[str, Any]:
    """Chat messages as flat attributes of OpenInference."""
    flat: dict[str, Any] = {}
    for n, message in enumerate(messages):
        place = f"{prefix}.{n}.message"
        flat[f"{place}.role"] = message["role"]
        if isinstance(message.get("content"), str):
            flat[f"{place}.content"] = message["content"]
        elif message.get("content"):
            flat[f"{place}.contents.0.message_content.type"] = "text"
            flat[f"{place}.contents.0.message_content.text"] = message["content"][0]["text"]
        if "tool_call_id" in message:
            flat[f"{place}.tool_call_id"] = message["tool_call_id"]
        for k, call in enumerate(message.get("tool_calls", ())):
            inner = f"{place}.tool_calls.{k}.tool_call"
            flat[f"{inner}.id"] = call["id"]
            flat[f"{inner}.function.name"] = call["function"]["name"]
            flat[f"{inner}.function.arguments"] = call["function"]["arguments"]
    return flat


OPEN_INFERENCE = otlp(
    *(
        {
            "openinference.span.kind": "LLM",
            **inference("llm.input_messages", CHAT[:n]),
            **inference("llm.output_messages", [CHAT[n]]),
        }
        for n in (2, 4, 6)
    )
)

PHOENIX = [
    {
        "context.trace_id": "t1",
        "context.span_id": f"s{n}",
        "name": "ChatCompletion",
        "span_kind": "LLM",
        "start_time": f"2026-01-01T00:00:0{n}",
        "attributes.llm.input_messages": [_row(m) for m in CHAT[:n]],
        "attributes.llm.output_messages": [_row(CHAT[n])],
    }
    for _row in [
        lambda m: {
            "message.role": m["role"],
            **({"message.content": m["content"]} if isinstance(m.get("content"), str) else {}),
            **(
                {
                    "message.contents": [
                        {"message_content.type": "text", "message_content.text": ASK}
                    ]
                }
                if isinstance(m.get("content"), list)
                else {}
            ),
            **({"message.tool_call_id": m["tool_call_id"]} if "tool_call_id" in m else {}),
            "message.tool_calls": [
                {
                    "tool_call.id": c["id"],
                    "tool_call.function.name": c["function"]["name"],
                    "tool_call.function.arguments": c["function"]["arguments"],
                }
                for c in m.get("tool_calls", ())
            ],
        }
    ]
    for n in (2, 4, 6)
]

LOGFIRE = [
    {
        "trace_id": "t1",
        "span_id": "s1",
        "span_name": "agent run",
        "start_timestamp": "2026-01-01T00:00:00Z",
        "attributes": {"pydantic_ai.all_messages": GEN_AI},
    }
]

LOGFIRE_EVENTS = [
    {
        "trace_id": "t1",
        "span_id": "s1",
        "span_name": "agent run",
        "start_timestamp": "2026-01-01T00:00:00Z",
        "attributes": {
            "all_messages_events": [
                {"event.name": "gen_ai.user.message", "content": ASK, "role": "user"},
                {
                    "event.name": "gen_ai.assistant.message",
                    "role": "assistant",
                    "tool_calls": CHAT[2]["tool_calls"],
                },
                {
                    "event.name": "gen_ai.tool.message",
                    "role": "tool",
                    "id": "c1",
                    "name": "get_book",
                    "content": BOOK,
                },
                {
                    "event.name": "gen_ai.assistant.message",
                    "role": "assistant",
                    "tool_calls": CHAT[4]["tool_calls"],
                },
                {
                    "event.name": "gen_ai.tool.message",
                    "role": "tool",
                    "id": "c2",
                    "name": "lend_book",
                    "content": LENT,
                },
                {
                    "event.name": "gen_ai.choice",
                    "index": 0,
                    "message": {"role": "assistant", "content": DONE},
                },
            ]
        },
    }
]

SDK_SPANS = [
    {
        "name": "chat m",
        "context": {"trace_id": "0xt1", "span_id": f"0xs{n}"},
        "parent_id": None,
        "start_time": f"2026-01-01T00:00:0{n}.000000Z",
        "attributes": {
            "gen_ai.input.messages": json.dumps(GEN_AI[:n]),
            "gen_ai.output.messages": json.dumps([GEN_AI[n]]),
        },
        "events": [],
    }
    for n in (2, 4, 6)
]
