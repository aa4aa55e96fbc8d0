"""A model provider on a real port: scripted replies in the wire formats of OpenAI and Anthropic.

It refuses, as providers do, a request whose messages are not valid.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any

from ledgeragent.types import Message, Reply, ToolCall, ToolReturn, UserMessage
from tests.conformance.scene import Scene

Wire = dict[str, Any]


class Upstream:
    """The server. A scene is found by the API key that its client sends."""

    def __init__(self) -> None:
        self.scenes: dict[str, Scene] = {}
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            # An answer is two packets; on a kept connection the second waits 40 ms for word of the first.
            disable_nagle_algorithm = True

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                try:
                    status, (kind, data) = 200, upstream.respond(self.path, self.headers, body)
                except AssertionError as problem:
                    answer = {"error": {"message": str(problem), "type": "invalid"}}
                    status, kind, data = 400, "application/json", json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stops listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def respond(self, path: str, headers: Mapping[str, str], body: Wire) -> tuple[str, bytes]:
        """The content type and bytes of the answer."""
        return "application/json", json.dumps(self.answer(path, headers, body)).encode()

    def answer(self, path: str, headers: Mapping[str, str], body: Wire) -> Wire:
        """The scene's next reply in the format that the path asks for."""
        key = headers.get("x-api-key") or headers["Authorization"].removeprefix("Bearer ")
        scene = self.scenes[key]
        if path.endswith("/chat/completions"):
            messages, tail = read_chat(body["messages"], shadow=scene.shadow)
            return chat_completion(scene.next(messages, tail))
        messages, tail = read_messages(body["messages"], shadow=scene.shadow)
        return anthropic_message(scene.next(messages, tail))


def read_chat(raw: list[Wire], *, shadow: bool = False) -> tuple[list[Message], str]:
    """The messages of a Chat Completions request, and the text of its last one, the ledger block."""
    if shadow:
        return chat_messages(raw), ""
    assert raw[-1]["role"] == "system", "the ledger block comes last"
    return chat_messages(raw[:-1]), raw[-1]["content"]


def chat_messages(raw: list[Wire]) -> list[Message]:
    """The messages of a Chat Completions request."""
    found: list[Message] = []
    for message in raw:
        if message["role"] == "user":
            found.append(UserMessage(text=message["content"]))
        elif message["role"] == "tool":
            found.append(ToolReturn(call_id=message["tool_call_id"], content=message["content"]))
        else:
            calls = [c | c["function"] for c in message.get("tool_calls") or ()]
            found.append(
                Reply(text=message.get("content") or "", calls=tuple(map(_read_call, calls)))
            )
    return found


def read_messages(raw: list[Wire], *, shadow: bool = False) -> tuple[list[Message], str]:
    """The messages of an Anthropic request, and the ledger block: its last one, or in its last result."""
    roles = [message["role"] for message in raw]
    assert roles[0] == roles[-1] == "user", f"the roles {roles} neither begin nor end with user"
    assert all(a != b for a, b in pairwise(roles)), "roles alternate"
    blocks = [(m["role"], block) for m in raw for block in m["content"]]
    if shadow:
        return list(_anthropic(blocks)), ""
    role, last = blocks[-1]
    if last["type"] != "tool_result":
        return list(_anthropic(blocks[:-1])), last["text"]
    *texts, tail = (block["text"] for block in last["content"])
    return list(_anthropic([*blocks[:-1], (role, {**last, "content": "".join(texts)})])), tail


def _anthropic(blocks: list[tuple[str, Wire]]) -> Iterator[Message]:
    text, calls = "", list[ToolCall]()
    for role, block in [*blocks, ("end", {"type": "end"})]:
        if role == "assistant":
            if block["type"] == "text":
                text += block["text"]
            else:
                calls.append(_read_call({**block, "arguments": block["input"]}))
            continue
        if text or calls:
            yield Reply(text=text, calls=tuple(calls))
            text, calls = "", []
        if block["type"] == "tool_result":
            yield ToolReturn(call_id=block["tool_use_id"], content=block["content"])
        elif role == "user":
            yield UserMessage(text=block["text"])


def _read_call(raw: Wire) -> ToolCall:
    return ToolCall.parse(name=raw["name"], arguments=raw["arguments"], id=raw["id"])


def chat_completion(reply: Reply) -> Wire:
    """A reply as Chat Completions gives it."""
    calls = [
        {
            "id": c.id,
            "type": "function",
            "function": {"name": c.name, "arguments": argument_text(c)},
        }
        for c in reply.calls
    ]
    message: Wire = {"role": "assistant", "content": reply.text or None}
    if calls:
        message["tool_calls"] = calls
    reason = "tool_calls" if calls else "stop"
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
    }


def argument_text(call: ToolCall) -> str:
    """The arguments of a call as the model wrote them."""
    return call.malformed if call.malformed is not None else json.dumps(call.arguments)


def anthropic_message(reply: Reply) -> Wire:
    """A reply as the Messages API gives it."""
    blocks: list[Wire] = [{"type": "text", "text": reply.text}] if reply.text else []
    blocks += (
        {"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in reply.calls
    )
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "scripted",
        "content": blocks,
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
