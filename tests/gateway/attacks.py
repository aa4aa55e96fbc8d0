"""Ways to get a write past the gateway: odd names, odd arguments, odd kinds of calls, odd frames."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ledgeragent.types import Reply, ToolCall
from tests.gateway.wires import CHAT, MESSAGES, RESPONSES, Wire, arguments, sse
from tests.gateway.world import LONG
from tests.lending.domain import GET_BOOK, LEND

FORBIDDEN = LONG.calls[0]
TEXT = arguments(FORBIDDEN)

NAMES = (
    " lend_book",
    "lend_book ",
    "Lend_Book",
    "LEND_BOOK",
    "lendBook",
    "lend-book",
    "lend.book",
    "lend\u2011book",
    "l\u0435nd_book",
    "\uff4cend_book",
    "lend\u200d_book",
    "len\u0323d_book",
    "lend_book\u0000",
    "lend_book\n",
    "\u202elend_book",
    "functions.lend_book",
    "default_api:lend_book",
    "get_book\u0000lend_book",
    "get_book lend_book",
    "get_book;lend_book",
    "lend_book/get_book",
)
"""Names that some client or server takes for a write's."""

ARGUMENTS: dict[str, str] = {
    "encoded twice": json.dumps(TEXT),
    "a byte order mark": f"\ufeff{TEXT}",
    "two values": f"{TEXT}{TEXT}",
    "words around": f"Sure: {TEXT}",
    "a fence": f"```json\n{TEXT}\n```",
    "a list": f"[{TEXT}]",
    "a wrapper": json.dumps({"arguments": json.loads(TEXT)}),
    "single quotes": str(FORBIDDEN.arguments),
    "base64": base64.b64encode(TEXT.encode()).decode(),
    "escaped letters": TEXT.replace("days", "d\\u0061ys"),
    "a key twice, the last harmless": f'{TEXT[:-1]}, "days": 14}}',
    "a key twice, the first harmless": f'{{"days": 14, {TEXT[1:]}',
    "a key in another case": TEXT.replace("days", "Days"),
    "a key beside it": f'{TEXT[:-1]}, "Days": 14}}',
    "a number as text": TEXT.replace("120", '"120"'),
    "a number with a point": TEXT.replace("120", "120.0"),
    "a number with an exponent": TEXT.replace("120", "1.2e2"),
    "not a number": TEXT.replace("120", "NaN"),
    "infinity": TEXT.replace("120", "1e999"),
    "negative": TEXT.replace("120", "-120"),
    "huge": TEXT.replace("120", "9" * 400),
    "other digits": TEXT.replace("120", '"\u0661\u0662\u0660"'),
    "a list for a number": TEXT.replace("120", "[120]"),
    "a comment": f"{TEXT[:-1]} /* ok */}}",
    "a comma at the end": f"{TEXT[:-1]},}}",
    "cut short": TEXT[:-1],
    "half a character": TEXT.replace("M1", "\\ud800"),
    "deep": TEXT.replace("120", "[" * 300 + "]" * 300),
    "nothing": "",
    "null": "null",
}
"""Arguments that a client may read in another way than a rule."""

KINDS = {
    "chat": [
        "custom",
        "mcp",
        "mcp_call",
        "web_search",
        "code_interpreter",
        "computer",
        "computer_use",
        "file_search",
        "retrieval",
        "builtin_function",
        "server_tool",
        "webhook",
        "action",
        "Function",
        "FUNCTION",
    ],
    "messages": [
        "server_tool_use",
        "mcp_tool_use",
        "mcp_tool_result",
        "web_search_tool_result",
        "web_fetch_tool_result",
        "code_execution_tool_result",
        "bash_code_execution_tool_result",
        "tool_result",
        "container_upload",
        "text_editor_code_execution_tool_result",
        "computer",
        "tool_search_tool_result",
        "function_call",
        "Tool_Use",
        "advisor_tool_result",
        "webhook",
    ],
    "responses": [
        "mcp_call",
        "mcp_approval_request",
        "mcp_list_tools",
        "computer_call",
        "code_interpreter_call",
        "web_search_call",
        "file_search_call",
        "image_generation_call",
        "local_shell_call",
        "shell_call",
        "apply_patch_call",
        "custom_tool_call",
        "tool_search_call",
        "function_call_output",
        "program",
        "Function_Call",
        "webhook_call",
    ],
}
"""Kinds of calls that run elsewhere, or that nobody knows."""


def odd(kind: str) -> dict[str, Any]:
    """A call of another kind, with all that a client could execute it by."""
    inner = {"name": FORBIDDEN.name, "arguments": TEXT, "input": dict(FORBIDDEN.arguments)}
    return {"type": kind, "id": "c", "call_id": "c", "server_label": "s", kind: inner, **inner}


def of_kind(wire: Wire, kind: str, stream: bool) -> bytes:
    """An answer with a call of this kind."""
    call = odd(kind)
    match wire.name:
        case "chat":
            call["function"] = {"name": FORBIDDEN.name, "arguments": TEXT}
            return _chat([{"index": 0, **call}], stream)
        case "messages":
            return _messages([call], stream)
        case _:
            return _responses([call], stream)


def _chat(calls: list[Any], stream: bool, **choice: Any) -> bytes:
    delta = {"role": "assistant", "content": None, "tool_calls": calls}
    named = {"index": 0, "delta" if stream else "message": delta, "finish_reason": "tool_calls"}
    body = {"id": "c", "model": "m", "choices": [{**named, **choice}]}
    return sse(body) + sse("[DONE]") if stream else json.dumps(body).encode()


def _messages(blocks: list[Any], stream: bool) -> bytes:
    if not stream:
        body = MESSAGES.answer(Reply(), "m")
        return json.dumps({**body, "content": blocks, "stop_reason": "tool_use"}).encode()
    head, *_, delta, stop = MESSAGES.events(Reply(calls=(GET_BOOK,)), "m")
    events = [{"type": "content_block_start", "content_block": block} for block in blocks]
    ends = [{"type": "content_block_stop", "index": n} for n in range(len(blocks))]
    body = b"".join(sse({**e, "index": n}, e["type"]) for n, e in enumerate(events))
    return head + body + b"".join(sse(e, e["type"]) for e in ends) + delta + stop


def _responses(items: list[Any], stream: bool) -> bytes:
    body = {**RESPONSES.answer(Reply(), "r"), "output": items}
    if not stream:
        return json.dumps(body).encode()
    head, *_ = RESPONSES.events(Reply(), "r")
    events = [
        {"type": f"response.output_item.{step}", "output_index": n, "item": item}
        for n, item in enumerate(items)
        for step in ("added", "done")
    ]
    ends = sse({"type": "response.completed", "response": body}, "response.completed")
    return head + b"".join(sse(e, e["type"]) for e in events) + ends


def of_items(wire: Wire, items: list[Any], stream: bool) -> bytes:
    """An answer of these blocks or items."""
    return (_messages if wire.name == "messages" else _responses)(items, stream)


def with_call(wire: Wire, call: ToolCall, stream: bool) -> bytes:
    """An answer with this call, whose arguments stand as they are."""
    reply = Reply(calls=(call,))
    if stream:
        return b"".join(wire.events(reply, "r"))
    body = wire.answer(reply, "r")
    if wire is MESSAGES and call.malformed is not None:
        body["content"][0]["input"] = call.malformed
    return json.dumps(body).encode()


_ARGUMENTS = dict(FORBIDDEN.arguments)

SPELLINGS: dict[str, dict[str, Any]] = {
    "arguments as text": {"provider_fields": {"name": "lend_book", "arguments": TEXT}},
    "input": {"tool_use": {"name": "lend_book", "input": _ARGUMENTS}},
    "args": {"functionCall": {"name": "lend_book", "args": _ARGUMENTS}},
    "parameters": {"tool_calls_of_mine": [{"name": "lend_book", "parameters": _ARGUMENTS}]},
    "an action": {"action": {"name": "lend_book", "action_input": _ARGUMENTS}},
    "a tool input": {"steps": [[{"name": "lend_book", "tool_input": _ARGUMENTS}]]},
    "a long s": {"tool_call\u017f": [{"id": "c", "call": TEXT}]},
    "the sign of Kelvin": {"content_bloc\u212a": {"call": TEXT}},
}
"""Calls as other providers write them, in fields that no format has."""


def beside(wire: Wire, fields: dict[str, Any], stream: bool) -> bytes:
    """An answer of words, with these fields beside them."""
    if wire.name == "messages":
        return _messages([{"type": "text", "text": "Hi", **fields}], stream)
    if wire.name == "responses":
        part = {"type": "output_text", "text": "Hi", "annotations": [], **fields}
        item = {"type": "message", "id": "i", "role": "assistant", "content": [part]}
        return _responses([item], stream)
    return _chat([], stream, **fields)


READ, WRITE = arguments(GET_BOOK), TEXT


def _function(index: Any, id: str | None, name: str | None, text: str) -> dict[str, Any]:
    return {"index": index, "id": id, "function": {"name": name, "arguments": text}}


def _chunks(*parts: dict[str, Any], **choice: Any) -> bytes:
    deltas = [{"index": 0, "delta": {"tool_calls": [part]}, **choice} for part in parts]
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls"}
    return b"".join(sse({"id": "c", "choices": [c]}) for c in [*deltas, end]) + sse("[DONE]")


CHAT_FRAMES: dict[str, bytes] = {
    "a name in pieces": _chunks(_function(0, "a", "lend", ""), _function(0, None, "_book", WRITE)),
    "a read renamed": _chunks(
        _function(0, "a", "get_book", ""), _function(0, None, "lend_book", WRITE)
    ),
    "arguments before the name": _chunks(
        _function(0, "a", None, WRITE), _function(0, None, "lend_book", "")
    ),
    "two calls on one index": _chunks(
        _function(0, "a", "get_book", READ), _function(0, "b", "lend_book", WRITE)
    ),
    "indexes swapped": _chunks(
        _function(1, "a", "get_book", ""),
        _function(0, "b", "lend_book", ""),
        _function(1, None, None, WRITE),
        _function(0, None, None, READ),
    ),
    "one id twice": _chunks(
        _function(0, "a", "get_book", READ), _function(1, "a", "lend_book", WRITE)
    ),
    "no index": _chunks(_function(None, "a", "lend_book", WRITE)),
    "a negative index": _chunks(_function(-1, "a", "lend_book", WRITE)),
    "an index as text": _chunks(_function("0", "a", "lend_book", WRITE)),
    "a second choice": _chunks(_function(0, "a", "lend_book", WRITE), index=1),
    "a choice of no index": _chunks(_function(0, "a", "lend_book", WRITE), index=None),
    "a whole message": _chunks(
        _function(0, "a", "get_book", READ),
        message={"tool_calls": [_function(0, "a", "lend_book", WRITE)]},
    ),
    "two choices": json.dumps(
        {
            "id": "c",
            "choices": [
                CHAT.answer(Reply(calls=(call,)), "c")["choices"][0] for call in (LEND, FORBIDDEN)
            ],
        }
    ).encode(),
}


def _renamed(events: list[bytes], at: Callable[[Any], bool], change: Callable[[Any], Any]) -> bytes:
    out = []
    for raw in events:
        data = json.loads(raw.decode().split("data: ")[1])
        out.append(sse(change(data) if at(data) else data, data["type"]))
    return b"".join(out)


_BOTH = Reply(calls=(GET_BOOK, FORBIDDEN))
_READ = Reply(calls=(GET_BOOK,))
_START = {"type": "tool_use", "id": "w", "name": "lend_book", "input": dict(FORBIDDEN.arguments)}

MESSAGES_FRAMES: dict[str, bytes] = {
    "a block begun twice": _renamed(
        MESSAGES.events(_BOTH, "m"), lambda d: "index" in d, lambda d: {**d, "index": 0}
    ),
    "input in the opening": _messages([_START], True),
    "an index as text": _renamed(
        MESSAGES.events(_BOTH, "m"),
        lambda d: "index" in d,
        lambda d: {**d, "index": str(d["index"])},
    ),
    "indexes swapped": _renamed(
        MESSAGES.events(_BOTH, "m"),
        lambda d: "index" in d,
        lambda d: {**d, "index": 1 - d["index"]},
    ),
    "a delta with a call": _renamed(
        MESSAGES.events(_READ, "m"),
        lambda d: d["type"] == "content_block_delta",
        lambda d: {**d, "delta": {**d["delta"], **_START}},
    ),
    "an ending with a call": _renamed(
        MESSAGES.events(_READ, "m"),
        lambda d: d["type"] == "message_delta",
        lambda d: {**d, "content": [_START]},
    ),
    "a ping with a call": _renamed(
        MESSAGES.events(_READ, "m"),
        lambda d: d["type"] == "ping",
        lambda d: {**d, "content_block": _START},
    ),
    "one id twice": b"".join(
        MESSAGES.events(Reply(calls=(GET_BOOK, replace(FORBIDDEN, id=GET_BOOK.id))), "m")
    ),
}


def _item_event(d: Any) -> bool:
    return bool(d["type"].startswith("response.output_item"))


def _lent(d: Any) -> Any:
    return {**d, "item": {**d["item"], "name": "lend_book", "arguments": WRITE}}


RESPONSES_FRAMES: dict[str, bytes] = {
    "a read that ends as a write": _renamed(
        RESPONSES.events(_READ, "r"), lambda d: d["type"].endswith("item.done"), _lent
    ),
    "a read that begins as one": _renamed(
        RESPONSES.events(_READ, "r"), lambda d: d["type"].endswith("item.added"), _lent
    ),
    "arguments that end under another name": _renamed(
        RESPONSES.events(_READ, "r"),
        lambda d: d["type"].endswith("arguments.done"),
        lambda d: {**d, "name": "lend_book", "arguments": WRITE},
    ),
    "another output at the end": _renamed(
        RESPONSES.events(_READ, "r"),
        lambda d: d["type"] == "response.completed",
        lambda d: {**d, "response": RESPONSES.answer(Reply(calls=(FORBIDDEN,)), "r")},
    ),
    "indexes swapped": _renamed(
        RESPONSES.events(_BOTH, "r"),
        lambda d: "output_index" in d,
        lambda d: {**d, "output_index": 1 - d["output_index"]},
    ),
    "one index": _renamed(
        RESPONSES.events(_BOTH, "r"),
        lambda d: "output_index" in d,
        lambda d: {**d, "output_index": 0},
    ),
    "an item in the wrong event": _renamed(
        RESPONSES.events(_READ, "r"),
        lambda d: d["type"].endswith("arguments.delta"),
        lambda d: {**d, "item": {"name": "lend_book", "arguments": WRITE}},
    ),
    "one id twice": b"".join(
        RESPONSES.events(Reply(calls=(GET_BOOK, replace(FORBIDDEN, id=GET_BOOK.id))), "r")
    ),
}
FRAMES = {"chat": CHAT_FRAMES, "messages": MESSAGES_FRAMES, "responses": RESPONSES_FRAMES}
