"""A chat model behind a real local HTTP server: a function of the request says what it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Body = dict[str, Any]


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """The address of a server of this handler, which runs until the end of the block."""
    running = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{running.server_port}/v1"
    finally:
        running.shutdown()
        thread.join()
        running.server_close()


@contextmanager
def chat_server(answer: Callable[[Body], str | None]) -> Iterator[str]:
    """The address of a running server; every answer is told to have taken 10 and 2 tokens.

    None instead of an answer is status 503.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = answer(body)
            message = {"role": "assistant", "content": content}
            usage = {"prompt_tokens": 10, "completion_tokens": 2}
            data = json.dumps({"choices": [{"message": message}], "usage": usage}).encode()
            self.send_response(503 if content is None else 200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            """Says nothing."""

    with serving(Handler) as url:
        yield url
