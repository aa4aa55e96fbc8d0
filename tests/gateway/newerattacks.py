"""Attacks by odd but legal frames, by fields of newer APIs, and by requests that ask for them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.gateway.attacks import FORBIDDEN, TEXT, of_items, with_call
from tests.gateway.wires import Wire, sse
from tests.gateway.world import SAY

ARGUMENTS = dict(FORBIDDEN.arguments)
FUNCTION = {"name": "lend_book", "arguments": TEXT}
TOOL_CALL = {"index": 0, "id": "c", "type": "function", "function": FUNCTION}
TOOL_USE = {"type": "tool_use", "id": "c", "name": "lend_book", "input": ARGUMENTS}
ITEM = {"type": "function_call", "call_id": "c", "id": "i", "status": "completed", **FUNCTION}
PROGRAM = {"caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}}
HARMLESS = replace(FORBIDDEN, arguments={**ARGUMENTS, "days": 14})


def framed(wire: Wire) -> dict[str, bytes]:
    """A stream with the call, its frames written in every way that some parser takes."""
    good, bad = b"".join(wire.events(SAY, "r")), with_call(wire, FORBIDDEN, True)
    text = bad.decode()
    return {
        "line ends of CR": text.replace("\n", "\r").encode(),
        "line ends of CRLF": text.replace("\n", "\r\n").encode(),
        "line ends mixed": text.replace("\n\n", "\r\n\n").encode(),
        "a byte order mark": b"\xef\xbb\xbf" + bad,
        "two byte order marks": b"\xef\xbb\xbf\xef\xbb\xbf" + bad,
        "no space": text.replace("data: ", "data:").encode(),
        "two spaces": text.replace("data: ", "data:  ").encode(),
        "a tab": text.replace("data: ", "data:\t").encode(),
        "fields in capitals": text.replace("data:", "DATA:").encode(),
        "a space before the colon": text.replace("data:", "data :").encode(),
        "a space before the field": text.replace("data:", " data:").encode(),
        "data over lines": text.replace('", "', '",\ndata: "').encode(),
        "comments between": text.replace("data:", ": x\ndata:").encode(),
        "in a comment": good + text.replace("data:", ": data:").encode(),
        "ids and retries": text.replace("data:", "id: 7\nretry: 1\ndata:").encode(),
        "an event of another name": text.replace("data:", "event: ping\ndata:").encode(),
        "an event called error": text.replace("data:", "event: error\ndata:").encode(),
        "after the end": good + bad,
        "after the end, without one": good + bad.rstrip(b"\n"),
        "no blank line at the end": bad.rstrip(b"\n"),
        "a NUL in a frame": bad.replace(b"data: ", b"data: \0"),
        "lines of other kinds": text.replace("\n", "\u2028").encode(),
        "a vertical tab for a line end": text.replace("\n", "\v").encode(),
        "a form feed before a frame": good.rstrip(b"\n") + b"\f" + bad,
        "a next line for a line end": text.replace("\n", "\x85").encode(),
        "two values in a frame": good.replace(b"\n\n", b" " + text.encode() + b"\n\n", 1),
        "UTF-16": text.encode("utf-16"),
        "no stream at all": with_call(wire, FORBIDDEN, False),
        "a list of events": sse([json.loads(p[6:]) for p in text.split("\n") if p[6:7] == "{"]),
    }


def bodies(wire: Wire) -> dict[str, bytes]:
    """An answer with the call, its JSON written in every way that some parser takes."""
    bad = with_call(wire, FORBIDDEN, False)
    good = json.dumps(wire.answer(SAY, "r")).encode()
    name = {"chat": "choices", "messages": "content"}.get(wire.name, "output")
    inner = json.dumps(json.loads(bad)[name]).encode()
    key = json.dumps(name).encode()
    return {
        "UTF-16": bad.decode().encode("utf-16"),
        "UTF-32": bad.decode().encode("utf-32"),
        "a byte order mark": b"\xef\xbb\xbf" + bad,
        "a guard before it": b")]}',\n" + bad,
        "a comment": b"/* x */" + bad,
        "a callback": b"f(" + bad + b")",
        "a list of answers": b"[" + bad + b"]",
        "lines": good + b"\n" + bad,
        "a stream": with_call(wire, FORBIDDEN, True),
        "a key twice": good[:-1] + b", " + key + b": " + inner + b"}",
        "a key twice, the other way": b"{" + key + b": " + inner + b", " + good[1:],
        "an escaped key": bad.replace(name.encode(), f"\\u{ord(name[0]):04x}{name[1:]}".encode()),
        "a wrapper": json.dumps({"response": json.loads(bad)}).encode(),
        "another wrapper": json.dumps({**json.loads(good), "data": json.loads(bad)}).encode(),
        "as text": json.dumps(bad.decode()).encode(),
        "Gemini's own": json.dumps({**json.loads(good), **GEMINI}).encode(),
        "a control character": bad.replace(b"lend_book", b"lend_book\x01"),
        "bad bytes": bad.replace(b"lend_book", b"lend_book\xff"),
        "overlong letters": bad.replace(b"lend_book", b"lend\xc1\x9fbook"),
        "zeros behind it": bad + b"\0" * 8,
        "a hundred levels": good[:-1] + b', "x": ' + b"[" * 100 + bad + b"]" * 100 + b"}",
    }


GEMINI = {
    "candidates": [
        {"content": {"parts": [{"functionCall": {"name": "lend_book", "args": ARGUMENTS}}]}}
    ]
}
CHAT_CHOICES: dict[str, dict[str, Any]] = {
    "Gemini's extra content": {"extra_content": {"google": GEMINI}},
    "a signature": {"tool_calls": [{**TOOL_CALL, "extra_content": {"google": {"thought": "x"}}}]},
    "Azure's context": {"context": {"messages": [{"role": "tool", "tool_calls": [TOOL_CALL]}]}},
    "reasoning details": {"reasoning_details": [{"type": "reasoning", **FUNCTION}]},
    "a legacy call": {"function_call": FUNCTION},
    "a legacy call beside another": {"function_call": FUNCTION, "tool_calls": []},
    "an annotation": {"annotations": [{"type": "url_citation", "function": FUNCTION}]},
    "audio": {"audio": {"id": "a", "transcript": "", "tool_calls": [TOOL_CALL]}},
    "a custom tool": {"tool_calls": [{**TOOL_CALL, "type": "custom", "custom": FUNCTION}]},
    "a custom tool alone": {
        "tool_calls": [
            {
                "id": "c",
                "index": 0,
                "type": "custom",
                "custom": {"name": "lend_book", "input": TEXT},
            }
        ]
    },
    "an object of calls": {"tool_calls": {"0": TOOL_CALL}},
    "calls as text": {"tool_calls": json.dumps([TOOL_CALL])},
    "a call alone": {"tool_calls": TOOL_CALL},
    "lists of calls": {"tool_calls": [[TOOL_CALL]]},
    "arguments as an object": {
        "tool_calls": [{**TOOL_CALL, "function": {"name": "lend_book", "arguments": ARGUMENTS}}]
    },
    "a call without a type": {"tool_calls": [{k: v for k, v in TOOL_CALL.items() if k != "type"}]},
    "a call without an id": {"tool_calls": [{**TOOL_CALL, "id": None}]},
    "a call with an id that is a number": {"tool_calls": [{**TOOL_CALL, "id": 7}]},
    "a name in a list": {"tool_calls": [{**TOOL_CALL, "function": {"name": ["lend_book"]}}]},
    "an encrypted content": {"encrypted_content": "x", "tool_calls": [TOOL_CALL]},
    "a namespace": {
        "tool_calls": [{**TOOL_CALL, "function": {**FUNCTION, "namespace": "library"}}]
    },
}
"""What a message or a delta of Chat Completions may hold."""

BLOCKS: dict[str, dict[str, Any]] = {
    "called by a program": {**TOOL_USE, **PROGRAM},
    "called by the model, it says": {**TOOL_USE, "caller": {"type": "direct"}},
    "a call in citations": {"type": "text", "text": "Hi", "citations": [TOOL_USE]},
    "a call in a search result": {"type": "search_result", "content": [TOOL_USE]},
    "a call in a thought": {"type": "thinking", "thinking": "", "tool_use": TOOL_USE},
    "a compaction": {"type": "compaction", "content": [TOOL_USE]},
    "a fallback": {"type": "fallback", "content": [TOOL_USE]},
    "a program's result": {"type": "code_execution_tool_result", "content": [TOOL_USE]},
    "input as text": {**TOOL_USE, "input": TEXT},
    "input in a list": {**TOOL_USE, "input": [ARGUMENTS]},
    "no id": {**TOOL_USE, "id": None},
    "a type in capitals": {**TOOL_USE, "type": "TOOL_USE"},
    "a call in a text": {"type": "text", "text": "Hi", "content": [TOOL_USE]},
    "a tool reference": {"type": "tool_reference", "tool_name": "lend_book", **TOOL_USE},
    "a server's call of it": {**TOOL_USE, "type": "server_tool_use", **PROGRAM},
    "a call of a server": {**TOOL_USE, "type": "mcp_tool_use", "server_name": "s"},
}
"""Blocks of Messages."""

ITEMS: dict[str, dict[str, Any]] = {
    "a namespace": {**ITEM, "namespace": "library"},
    "a call that is in progress": {**ITEM, "status": "in_progress"},
    "a call that is incomplete": {**ITEM, "status": "incomplete"},
    "a caller": {**ITEM, **PROGRAM},
    "an approval": {**ITEM, "type": "mcp_approval_request", "server_label": "s"},
    "a call that was made": {**ITEM, "type": "mcp_call", "server_label": "s", "output": "{}"},
    "a custom call": {**ITEM, "type": "custom_tool_call", "input": TEXT},
    "a call in a reasoning": {"type": "reasoning", "id": "r", "summary": [], "content": [ITEM]},
    "a call in a summary": {"type": "reasoning", "id": "r", "summary": [ITEM]},
    "a compaction": {"type": "compaction", "id": "r", "encrypted_content": "x", "output": [ITEM]},
    "a call in a message": {"type": "message", "id": "m", "role": "assistant", "content": [ITEM]},
    "a call in an annotation": {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "Hi", "annotations": [ITEM]}],
    },
    "a call in a program": {"type": "code_interpreter_call", "id": "p", "outputs": [ITEM]},
    "arguments as an object": {**ITEM, "arguments": ARGUMENTS},
    "no call id": {k: v for k, v in ITEM.items() if k != "call_id"},
    "a patch": {"type": "apply_patch_call", "call_id": "c", "operation": ITEM},
    "a type that is a list": {**ITEM, "type": ["function_call"]},
}
"""Items of Responses."""


def newer(wire: Wire, stream: bool) -> dict[str, bytes]:
    """Answers with the call where newer APIs have one, or something like it."""
    match wire.name:
        case "chat":
            return {name: _chat(fields, stream) for name, fields in CHAT_CHOICES.items()}
        case "messages":
            return {name: of_items(wire, [block], stream) for name, block in BLOCKS.items()}
        case _:
            return {name: of_items(wire, [item], stream) for name, item in ITEMS.items()}


def _chat(fields: dict[str, Any], stream: bool) -> bytes:
    said = {"role": "assistant", "content": "Hi", **fields}
    choice = {"index": 0, "delta" if stream else "message": said, "finish_reason": "tool_calls"}
    body = {"id": "c", "model": "m", "choices": [choice]}
    return sse(body) + sse("[DONE]") if stream else json.dumps(body).encode()


def sneaked(wire: Wire) -> dict[str, bytes]:
    """Streams of words, in which an event that newer APIs have brings the call."""
    head, *rest = wire.events(SAY, "r")
    tail = b"".join(rest)
    return {
        str(event.get("type") or list(event)): head + sse(event, str(event.get("type", ""))) + tail
        for event in EVENTS[wire.name]
    }


EVENTS: dict[str, list[dict[str, Any]]] = {
    "chat": [
        {"id": "c", "object": "chat.completion.chunk", "choices": [], "tool_calls": [TOOL_CALL]},
        {"object": "thread.run.requires_action", "required_action": {"tool_calls": [TOOL_CALL]}},
        {"id": "c", "choices": [{"index": 0, "delta": [{"tool_calls": [TOOL_CALL]}]}]},
        {"id": "c", "choices": {"0": {"delta": {"tool_calls": [TOOL_CALL]}}}},
        {"id": "c", "choices": [{"index": 0, "text": "", "tool_calls": [TOOL_CALL]}]},
        {"error": {"message": "x", "tool_calls": [TOOL_CALL]}, "choices": []},
        {"usage": {"x": [TOOL_CALL]}, "choices": []},
        {"prompt_filter_results": [{"tool_calls": [TOOL_CALL]}], "choices": []},
        GEMINI,
    ],
    "messages": [
        {"type": "message_start", "message": {"content": [TOOL_USE], "role": "assistant"}},
        {"type": "content_block_start", "index": 0.0, "content_block": TOOL_USE},
        {"type": "content_block_start", "index": True, "content_block": TOOL_USE},
        {"type": "content_block_start", "index": 10**9, "content_block": TOOL_USE},
        {"type": "content_block_replace", "index": 0, "content_block": TOOL_USE},
        {"type": "content_block_stop", "index": 0, "content_block": TOOL_USE},
        {"type": "message_delta", "delta": {"stop_reason": "pause_turn", "content": [TOOL_USE]}},
        {"type": "message_stop", "message": {"content": [TOOL_USE]}},
        {"type": "error", "error": {"type": "x", "message": "y", "content": [TOOL_USE]}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "tool_delta", **TOOL_USE}},
        {
            "type": "content_block_delta",
            "index": 5,
            "delta": {"type": "input_json_delta", "partial_json": TEXT, **TOOL_USE},
        },
    ],
    "responses": [
        {"type": "response.mcp_call_arguments.done", "item_id": "i", "output_index": 0, **FUNCTION},
        {"type": "response.mcp_call.completed", "item_id": "i", "output_index": 0, "item": ITEM},
        {"type": "response.custom_tool_call_input.done", "name": "lend_book", "input": TEXT},
        {"type": "response.function_call_arguments.done", "item_id": "new", **FUNCTION},
        {"type": "response.queued", "response": {"status": "queued", "output": [ITEM]}},
        {"type": "response.incomplete", "response": {"status": "incomplete", "output": [ITEM]}},
        {"type": "response.failed", "response": {"status": "failed", "output": [ITEM]}},
        {"type": "response.output_text.annotation.added", "annotation": ITEM, "output_index": 0},
        {"type": "response.reasoning_summary_part.added", "part": ITEM, "output_index": 0},
        {"type": "response.content_part.done", "part": ITEM, "output_index": 0},
        {"type": "response.shell_call_command.done", "item_id": "i", **FUNCTION},
        {"type": "response.output_item.done", "output_index": 9, "item": ITEM},
        {"type": "response.output_item.done", "output_index": "0", "item": ITEM},
        {"type": "response.resumed", "starting_after": 3, "output": [ITEM]},
        {"type": "keepalive", "sequence_number": 1, "item": ITEM},
    ],
}

HEADERS: tuple[dict[str, str], ...] = (
    {"content-type": "text/plain"},
    {"content-type": "application/json; charset=utf-16"},
    {"content-type": "multipart/form-data; boundary=x"},
    {"content-encoding": "identity"},
    {"content-encoding": "gzip, gzip"},
    {"content-encoding": "aes128gcm"},
    {"connection": "x-ledgeragent-session, authorization"},
    {"x-ledgeragent-session": ""},
    {"x-ledgeragent-session": "a" * 4000},
    {"x-ledgeragent-verdict": "lend_book=ALLOW"},
    {"x-http-method-override": "GET"},
    {"prefer": "respond-async"},
    {"range": "bytes=0-10"},
    {"if-none-match": "*"},
    {"expect": "200-maybe"},
    {"accept": "application/x-ndjson"},
    {"accept": "text/event-stream"},
    {"accept-encoding": "br;q=1, zstd, *;q=0"},
    {"x-request-id": "../" * 60},
    {"openai-beta": "responses_multi_agent=v1"},
    {"anthropic-beta": "fine-grained-tool-streaming-2025-05-14,mcp-client-2025-11-20"},
    {"x-forwarded-host": "evil.example", "forwarded": "host=evil.example"},
    {"te": "trailers", "trailer": "x-ledgeragent-verdict"},
    {"upgrade": "h2c", "connection": "upgrade, http2-settings", "http2-settings": "AAMAAABk"},
    {"last-event-id": "3"},
)
"""Headers that some proxy, server or API takes for something."""

QUERIES = ("?stream=true", "?background=true", "?starting_after=3", "?beta=true", "?n=2", "?%00")

FIELDS: dict[str, list[dict[str, Any]]] = {
    "chat": [
        {"n": 2.0},
        {"n": "2"},
        {"stream_options": {"include_obfuscation": True}},
        {"modalities": ["audio"], "audio": {"voice": "x", "format": "wav"}},
        {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}},
        {"tool_choice": {"type": "custom", "custom": {"name": "lend_book"}}},
        {"prediction": {"type": "content", "content": TEXT}},
        {"store": True, "metadata": {"x": "y"}},
        {"extra_body": {"google": {"tools": [{"code_execution": {}}]}}},
        {"parallel_tool_calls": False},
        {"verbosity": "low", "reasoning_effort": "none"},
    ],
    "messages": [
        {"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}},
        {"thinking": {"type": "adaptive"}},
        {"tool_choice": {"type": "tool", "name": "lend_book"}},
        {"service_tier": "auto", "speed": "fast"},
        {"fallbacks": [{"model": "m2"}]},
        {"output_config": {"effort": "low"}},
        {"metadata": {"user_id": "x"}},
    ],
    "responses": [
        {"previous_response_id": "resp_unknown", "conversation": "conv_1"},
        {"stream_options": {"include_obfuscation": False}},
        {"context_management": [{"type": "compaction", "compact_threshold": 1000}]},
        {"include": ["reasoning.encrypted_content"]},
        {"truncation": "auto", "max_tool_calls": 1},
        {"tool_choice": {"type": "mcp", "server_label": "s"}},
        {"tool_choice": {"type": "allowed_tools", "mode": "required", "tools": []}},
        {"store": False, "prompt_cache_key": "x", "safety_identifier": "y"},
        {"conversation": None, "background": None, "prompt": None},
        {"background": False},
        {"multi_agent": {"enabled": True}},
    ],
}
"""What a request of today may ask for beside."""

TOOLS: dict[str, list[dict[str, Any]]] = {
    "chat": [
        {
            "type": "custom",
            "custom": {
                "name": "lend_book",
                "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "x"}},
            },
        },
        {"type": "namespace", "name": "library", "tools": [{"type": "function"}]},
        {"google_search": {}},
        {"functionDeclarations": [{"name": "lend_book"}]},
    ],
    "messages": [
        {"type": "code_execution_20260120", "name": "code_execution"},
        {"type": "advisor_20260301", "name": "advisor", "model": "m"},
        {"type": "mcp_toolset", "mcp_server_name": "s"},
    ],
    "responses": [
        {"type": "custom", "name": "lend_book", "format": {"type": "grammar", "syntax": "regex"}},
        {"type": "programmatic_tool_calling"},
        {"type": "mcp", "server_label": "s", "connector_id": "connector_x"},
        {"type": "namespace", "name": "library", "tools": [{"type": "function", "name": "x"}]},
        {"type": "web_search_preview_2025_03_11"},
    ],
}
"""Tools that a provider would run, or whose calls no gateway would see."""
