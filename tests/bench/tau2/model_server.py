"""A model behind a real local HTTP server that says what a script tells it to."""

from __future__ import annotations

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]

HANG = -1
"""A failure that is no answer: the server waits until the client gives up."""


def call(name: str, **arguments: Any) -> Body:
    """A scripted tool call."""
    return {"name": name, "arguments": arguments}


class Script:
    """What the agent and the customer say in turn, per arm; keeps every request."""

    def __init__(self, agent: list[str | Body], customer: list[str]) -> None:
        self._agent, self._customer = agent, customer
        self.agent_requests: dict[str, list[Body]] = defaultdict(list)
        self.other_requests: dict[str, list[Body]] = defaultdict(list)
        self._customer_turns: dict[str, int] = defaultdict(int)

    def reply(self, arm: str, body: Body) -> Body:
        """The message that answers a request: helpers and customers are asked without tools."""
        if body.get("tools"):
            step = self._agent[len(self.agent_requests[arm])]
            self.agent_requests[arm].append(body)
            return _message(step)
        self.other_requests[arm].append(body)
        if "###STOP###" not in body["messages"][0]["content"]:
            return _message(
                "look_up - it comes first\nlist_all_product_types - it shows what there is"
            )
        step = self._customer[self._customer_turns[arm]]
        self._customer_turns[arm] += 1
        return _message(step)


class Moody(Script):
    """Answers by what was said so far, so that runs may come in any order; fails at first.

    Its first answers are a 429, a 500, and text that is no JSON.
    """

    def __init__(self) -> None:
        super().__init__([], [])
        self.failures: list[int] = [429, 500, 0]
        self.abandoned = 0
        self.judged: list[str] = []

    def reply(self, arm: str, body: Body) -> Body:
        """A read, then words, from the agent; a request, then the stop, from the customer.

        A judge objects to nothing.
        """
        if "metExpectation" in str(body["messages"][0]["content"]):
            self.judged.append(body["model"])
            return _message('{"results": []}')
        roles = [message["role"] for message in body["messages"]]
        if body.get("tools"):
            return _message("Done." if "tool" in roles else call("list_all_product_types"))
        return _message("###STOP###" if "assistant" in roles else "What do you sell?")


def _message(step: str | Body) -> Body:
    if isinstance(step, str):
        return {"role": "assistant", "content": step}
    made = {"name": step["name"], "arguments": json.dumps(step["arguments"])}
    one = {"id": f"call_{step['name']}", "type": "function", "function": made}
    return {"role": "assistant", "content": None, "tool_calls": [one]}


@contextmanager
def serving(script: Script) -> Iterator[str]:
    """The address of a running server."""
    counting = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            failures = getattr(script, "failures", [])
            if failures:
                self._fail(failures.pop(0))
                return
            message = script.reply(self.path.split("/")[1], body)
            answer = {
                "id": "x",
                "object": "chat.completion",
                "created": 0,
                "model": "scripted",
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12},
            }
            self._send(200, json.dumps(answer).encode())

        def _fail(self, status: int) -> None:
            if status == HANG:
                self._wait()
                return
            self._send(status or 200, b"<html>" if not status else b'{"error": {"message": "no"}}')

        def _wait(self) -> None:
            self.connection.settimeout(30)
            self.close_connection = True
            with suppress(ConnectionError):
                if self.connection.recv(1):
                    return
            with counting:
                script.abandoned += 1  # type: ignore[attr-defined]

        def _send(self, status: int, text: bytes) -> None:
            self.send_response(status)
            if status == 429:
                self.send_header("Retry-After", "1")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args: Any) -> None:
            """Silence."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
