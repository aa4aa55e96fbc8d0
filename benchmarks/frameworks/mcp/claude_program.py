# /// script
# dependencies = ["claude-agent-sdk>=0.2.189"]
# ///
"""The program behind the Claude Agent SDK, whose model is scripted."""

import json
import os
import tempfile
from collections import deque
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from _play import Answer, Call, answer, content_text, main
from claude_agent_sdk import ClaudeAgentOptions, ToolResultBlock, UserMessage, query


class Model(ThreadingHTTPServer):
    """Calls the tools of `steps` in order, and then says that it is done."""

    def __init__(self, calls: list[Call]) -> None:
        super().__init__(("127.0.0.1", 0), _Request)
        self.steps = deque(calls)
        self.number = 0

    def block(self, body: Any) -> Any:
        """The next block of the model: a call where the shop's tools are offered, else words."""
        offered = any(t.get("name", "").startswith("mcp__shop__") for t in body.get("tools") or ())
        if not offered or not self.steps:
            return {"type": "text", "text": "Done."}
        self.number += 1
        name, arguments = self.steps.popleft()
        return {
            "type": "tool_use",
            "id": f"toolu_{self.number}",
            "name": f"mcp__shop__{name}",
            "input": arguments,
        }


class _Request(BaseHTTPRequestHandler):
    """One request of the Messages API."""

    server: Model

    def do_POST(self) -> None:
        """An answer, streamed where that is wanted."""
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if "count_tokens" in self.path:
            self._send(json.dumps({"input_tokens": 1}), "application/json")
            return
        block = self.server.block(body)
        stop = "tool_use" if block["type"] == "tool_use" else "end_turn"
        message = {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [block],
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
        if body.get("stream"):
            events = "".join(
                f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in _events(message)
            )
            self._send(events, "text/event-stream")
        else:
            self._send(json.dumps(message), "application/json")

    def _send(self, text: str, kind: str) -> None:
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        """Nothing: standard error is for what goes wrong."""


def _events(message: Any) -> Iterator[Any]:
    (block,) = message["content"]
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    if block["type"] == "text":
        empty = {**block, "text": ""}
        delta = {"type": "text_delta", "text": block["text"]}
    else:
        empty = {**block, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
    yield {"type": "content_block_start", "index": 0, "content_block": empty}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """All calls in one run of the program."""
    model = Model(calls)
    Thread(target=model.serve_forever, daemon=True).start()
    if "url" in target:
        place: Any = {"type": "http", "url": target["url"], "headers": target["headers"]}
    else:
        command, *rest = target["command"]
        place = {"type": "stdio", "command": command, "args": rest, "env": target["env"]}
    answers = []
    with tempfile.TemporaryDirectory() as folder:
        options = ClaudeAgentOptions(
            cwd=folder,
            mcp_servers={"shop": place},
            allowed_tools=[f"mcp__shop__{name}" for name, _ in calls],
            env={
                "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.server_address[1]}",
                "ANTHROPIC_API_KEY": "sk-nobody",
                "CLAUDE_CONFIG_DIR": os.path.join(folder, "config"),
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "ENABLE_TOOL_SEARCH": "false",
            },
        )
        async for message in query(prompt="Please help me.", options=options):
            content = message.content if isinstance(message, UserMessage) else ()
            blocks = content if isinstance(content, list) else ()
            results = [block for block in blocks if isinstance(block, ToolResultBlock)]
            answers += [answer(content_text(r.content), bool(r.is_error)) for r in results]
    return answers


main(play)
