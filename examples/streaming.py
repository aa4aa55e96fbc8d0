"""The scripted model behind a real port, streaming as OpenAI and Anthropic do: a few letters at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from examples.scripted import REPLIES
from ledgeragent import Reply

Event = tuple[str, dict[str, Any]]


class ScriptedServer:
    """Answers each request with the next scripted reply. `url` is where it listens."""

    def __init__(self) -> None:
        left = list(REPLIES)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                assert body["stream"] and body["tools"]
                events = openai_events if "completions" in self.path else anthropic_events
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                for name, data in events(left.pop(0)):
                    head = f"event: {name}\n" if name else ""
                    self.wfile.write(f"{head}data: {json.dumps(data)}\n\n".encode())
                    self.wfile.flush()
                if events is openai_events:
                    self.wfile.write(b"data: [DONE]\n\n")

            def log_message(self, format: str, *args: object) -> None:
                """Says nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> ScriptedServer:
        Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def pieces(text: str) -> list[str]:
    """The text, seven letters at a time."""
    return [text[n : n + 7] for n in range(0, len(text), 7)]


def openai_events(reply: Reply) -> Iterator[Event]:
    """The chunks of Chat Completions."""
    deltas: list[dict[str, Any]] = [{"content": piece} for piece in pieces(reply.text)]
    for n, call in enumerate(reply.calls):
        start = {"index": n, "id": call.id, "type": "function"}
        function = {"name": call.name, "arguments": ""}
        deltas.append({"tool_calls": [{**start, "function": function}]})
        parts = ({"arguments": piece} for piece in pieces(json.dumps(call.arguments)))
        deltas += ({"tool_calls": [{"index": n, "function": part}]} for part in parts)
    deltas[0]["role"] = "assistant"
    head = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    for delta in deltas:
        yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    reason = "tool_calls" if reply.calls else "stop"
    yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def anthropic_events(reply: Reply) -> Iterator[Event]:
    """The events of the Messages API."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    head = {"id": "1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
    end = {"stop_reason": "tool_use" if reply.calls else "end_turn", "stop_sequence": None}
    message = {**head, "stop_reason": None, "stop_sequence": None, "usage": usage}
    yield "message_start", {"type": "message_start", "message": message}
    for n, (block, deltas) in enumerate(anthropic_blocks(reply)):
        yield _event("content_block_start", index=n, content_block=block)
        for delta in deltas:
            yield _event("content_block_delta", index=n, delta=delta)
        yield _event("content_block_stop", index=n)
    yield _event("message_delta", delta=end, usage={"output_tokens": 1})
    yield _event("message_stop")


def anthropic_blocks(reply: Reply) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The content blocks as they begin, and what is added to them."""
    if reply.text:
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(reply.text)]
        yield {"type": "text", "text": ""}, deltas
    for call in reply.calls:
        parts = pieces(json.dumps(call.arguments))
        added = [{"type": "input_json_delta", "partial_json": piece} for piece in parts]
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, added


def _event(name: str, **data: Any) -> Event:
    return name, {"type": name, **data}
