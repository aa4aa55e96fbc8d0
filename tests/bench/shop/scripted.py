"""A model by script behind a real local HTTP server: it knows each task's calls and plays them.

`careful` plays the right ones. `obliging` first makes the calls that policy forbids, and the right
ones only once it was refused. The model's name picks one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from ledgeragent.bench.running.endpoint import FEEDBACK
from ledgeragent.bench.shop.tasks import Task, tasks
from ledgeragent.types import ToolCall, canonical
from tests.bench.chat_server import serving

_READS = {
    "order_id": "get_order",
    "parcel_id": "get_parcel",
    "sku": "get_product",
    "code": "get_voucher",
    "box_id": "get_box",
}
Failure = tuple[int, bytes]
"""A status and a body to answer with instead: 200 with an odd body is garbage."""


def with_reads(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """The calls, each after the reads of every record that it names."""
    listed: list[ToolCall] = []
    for call in calls:
        for name, tool in _READS.items():
            if name in call.arguments:
                listed.append(ToolCall(name=tool, arguments={name: call.arguments[name]}))
        listed.append(call)
    return listed


def answer(model: str, messages: Sequence[dict[str, Any]], refused: set[str]) -> dict[str, Any]:
    """The next message: the first call of the plan that was not made yet, else a closing word.

    `refused` remembers the conversations in which something was: what was refused leaves the history.
    """
    said = next(m["content"] for m in messages if m["role"] == "user")
    task = next(task for task in tasks() if task.opens == said)
    if _was_refused(messages):
        refused.add(task.id)
    elif not any(message["role"] == "assistant" for message in messages):
        refused.discard(task.id)
    plan = _plan(task, model, task.id in refused)
    made = [
        (call["function"]["name"], call["function"]["arguments"])
        for message in messages
        for call in message.get("tool_calls", ())
    ]
    position = 0
    for call in plan:
        wanted = (call.name, canonical(call.arguments))
        if wanted in made[position:]:
            position += made[position:].index(wanted) + 1
            continue
        function = {"name": call.name, "arguments": canonical(call.arguments)}
        called = {"id": "same", "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [called]}
    return {"role": "assistant", "content": "It is settled as the rules have it. Goodbye."}


def _plan(task: Task, model: str, refused: bool) -> list[ToolCall]:
    who = ToolCall(name="find_customer", arguments={"email": task.email})
    if model == "obliging" and task.tempting and not refused:
        return [who, *with_reads(task.tempting)]
    return [who, *with_reads(task.gold)]


def _was_refused(messages: Sequence[dict[str, Any]]) -> bool:
    texts = (str(message.get("content")) for message in messages[1:])
    return any(FEEDBACK in text or text.startswith("I can't do that") for text in texts)


@contextmanager
def server(failures: Sequence[Failure] = (), most: int | None = None) -> Iterator[str]:
    """The address of a running server; it gives the `failures` first, one per request.

    After `most` answers it is too busy for good.
    """
    left = list(failures)
    answered: list[str] = []
    refused: set[str] = set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if left:
                status, data = left.pop(0)
            elif most is not None and len(answered) >= most:
                status, data = 503, b""
            else:
                answered.append(body["model"])
                message = answer(body["model"], body["messages"], refused)
                usage = {
                    "prompt_tokens": 10,
                    "completion_tokens": 2,
                    "prompt_tokens_details": {"cached_tokens": 5},
                }
                found = {"choices": [{"message": message}], "usage": usage}
                status, data = 200, json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with serving(Handler) as url:
        yield url
