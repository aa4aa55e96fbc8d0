"""A model API that answers at once, so that it is never what is measured."""

from __future__ import annotations

import asyncio
import re

from benchmarks.dialogue import SMALL, reply_bytes, small_reply


class Upstream(asyncio.Protocol):
    """Just enough of a server to never be what is measured."""

    def __init__(self) -> None:
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keeps the connection."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answers every whole request."""
        self._rest += data
        while (end := self._rest.find(b"\r\n\r\n")) >= 0:
            found = re.search(rb"content-length: *(\d+)", self._rest[:end], re.IGNORECASE)
            size = end + 4 + (int(found[1]) if found else 0)
            if len(self._rest) < size:
                return
            body, self._rest = self._rest[end + 4 : size], self._rest[size:]
            if SMALL.encode() in body:
                self._transport.write(SMALL_ANSWER)
                continue
            streams = re.search(rb'"stream": ?true', body) is not None
            self._transport.write(ANSWERS[streams])


def _answer(stream: bool, body: bytes) -> bytes:
    kind = b"text/event-stream" if stream else b"application/json"
    head = b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n"
    return head % (kind, len(body)) + body


ANSWERS = {stream: _answer(stream, reply_bytes(stream)) for stream in (False, True)}
SMALL_ANSWER = _answer(False, small_reply())


async def serve_upstream(port: int) -> None:
    """Serves until killed."""
    server = await asyncio.get_running_loop().create_server(Upstream, "127.0.0.1", port)
    await server.serve_forever()
