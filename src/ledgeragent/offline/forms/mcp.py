"""Logs of MCP messages: `tools/call` requests and their answers, paired by id. They hold no words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ledgeragent.offline.forms.form import Dialogue, Form, inside, listed, marked
from ledgeragent.offline.forms.scribe import Scribe, call_of
from ledgeragent.types import Json

_OF_SERVERS = {
    "sampling/createMessage": "role",
    "roots/list": "roots",
    "elicitation/create": "action",
}
"""What a server asks its client, with a field of the answer by which this is told from a tool's."""

_WRAPPED = ("message", "payload", "data", "msg", "body")


def write_jsonrpc(lines: Json, scribe: Scribe) -> None:
    """Writes JSON-RPC messages down; only calls of tools and their answers are part of it."""
    waiting: set[str] = set()
    requests: dict[str, str] = {}
    for line in scribe.each(lines, "message"):
        for message in _messages(line):
            key = str(message.get("id"))
            if message.get("method") == "tools/call":
                fields = message.get("params") or {}
                # The protocol lets a call leave out its arguments where the tool takes none.
                arguments = {"arguments": fields.get("arguments") or {}}
                scribe.call(call_of(fields.get("name"), arguments, "arguments", id=key))
                waiting.add(key)
            elif "method" in message:
                if message["method"] in _OF_SERVERS:
                    requests[key] = _OF_SERVERS[message["method"]]
                scribe.leave_out("other methods")
            elif key in requests and requests[key] in (message.get("result") or {}):
                del requests[key]  # an answer to the server, whose ids are its own
                scribe.leave_out("other answers")
            elif key in waiting:
                waiting.discard(key)
                _answer(message, key, scribe)
            elif _is_tool_result(message):
                raise ValueError(
                    f"a tool's result with the id {key!r}, and no call before it has it"
                )
            else:
                scribe.leave_out("other answers")


def _messages(line: Json) -> list[Mapping[str, Json]]:
    """The messages in a line: one, a batch, or one inside an entry of a log."""
    if isinstance(line, list):
        return [message for one in line for message in _messages(one)]
    if not isinstance(line, dict):
        raise ValueError("it is no object")
    if "jsonrpc" in line:
        return [line]
    inner = next((line[k] for k in _WRAPPED if isinstance(line.get(k), dict | list)), None)
    if inner is None:
        raise ValueError("it holds no JSON-RPC message")
    return _messages(inner)


def _answer(message: Mapping[str, Json], id: str, scribe: Scribe) -> None:
    if "error" in message:
        text = inside(message["error"], "message") or message["error"]
        scribe.returned(id, f"Error: {text}", error=True)
        return
    result = message.get("result")
    structured = inside(result, "structuredContent")
    content = structured if structured is not None else inside(result, "content")
    scribe.returned(id, content, error=bool(inside(result, "isError")))


def _is_tool_result(message: Mapping[str, Json]) -> bool:
    return isinstance(inside(message, "result", "content"), list)


def _is_rpc(line: Mapping[str, Json]) -> bool:
    return "jsonrpc" in line or any(
        "jsonrpc" in line[k] for k in _WRAPPED if isinstance(line.get(k), dict)
    )


def _tools(lines: list[Json]) -> list[str]:
    lists = (inside(line, "result", "tools") for line in lines)
    return [t["name"] for tools in lists if isinstance(tools, list) for t in tools if "name" in t]


def _talks(value: Json) -> Iterator[Dialogue]:
    lines = listed(value, "messages") or []
    yield Dialogue({"tools": _tools(lines)}, lambda scribe: write_jsonrpc(lines, scribe))


FORM = Form(
    name="mcp",
    title="MCP JSON-RPC logs",
    looks='`{"jsonrpc", "id", "method": "tools/call", "params": {"name", "arguments"}}` and '
    '`{"jsonrpc", "id", "result"}`, a line each',
    unfit=marked(_is_rpc, "no message with jsonrpc", "messages"),
    dialogues=_talks,
    streams=True,
)
