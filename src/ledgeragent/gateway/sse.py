"""Server-sent events: cut out of a byte stream, and written back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from ledgeragent.types import Json, parse_json

DONE = "[DONE]"


class ServerEvent(NamedTuple):
    """One event: its name ("" if it has none) and its data, decoded unless it is `[DONE]`.

    An event without data is a comment, which clients skip; `name` is then its text.
    """

    name: str
    data: Json

    def encode(self) -> bytes:
        """The event as it goes over the wire."""
        if self.data is None:
            return f": {self.name}\n\n".encode("ascii", "replace")
        data = DONE if self.data == DONE else json.dumps(self.data, separators=(",", ":"))
        head = f"event: {self.name}\n" if self.name else ""
        return f"{head}data: {data}\n\n".encode("ascii", "replace")


class EventParser:
    """Cuts events out of chunks that may end anywhere. ValueError for data that isn't JSON.

    What is left when the stream ends is no event and is dropped.
    """

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """The events that are complete after this chunk."""
        self._rest = (self._rest + chunk).replace(b"\r\n", b"\n")
        while (end := self._rest.find(b"\n\n")) >= 0:
            block, self._rest = self._rest[:end], self._rest[end + 2 :]
            event = _event(block)
            if event is not None:
                yield event


def _event(block: bytes) -> ServerEvent | None:
    name, data = "", []
    for line in block.decode("utf-8").split("\n"):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
    if not data:
        return None
    text = "\n".join(data)
    try:
        return ServerEvent(name, DONE if text == DONE else parse_json(text))
    except RecursionError:
        raise ValueError("an event is nested too deeply") from None
