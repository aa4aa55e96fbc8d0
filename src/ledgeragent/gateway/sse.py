"""Server-sent events: cut out of a byte stream, and written back."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import NamedTuple

from ledgeragent.types import Json

DONE = "[DONE]"


class Event(NamedTuple):
    """One event: its name ("" if it has none) and its data, decoded unless it is `[DONE]`."""

    name: str
    data: Json

    def encode(self) -> bytes:
        """The event as it goes over the wire."""
        data = self.data if self.data == DONE else json.dumps(self.data, ensure_ascii=False)
        head = f"event: {self.name}\n" if self.name else ""
        return f"{head}data: {data}\n\n".encode()


class Parser:
    """Cuts events out of chunks that may end anywhere. Raises ValueError for data that isn't JSON."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[Event]:
        """The events that are complete after this chunk."""
        self._rest += chunk.replace(b"\r\n", b"\n")
        while (end := self._rest.find(b"\n\n")) >= 0:
            block, self._rest = self._rest[:end], self._rest[end + 2 :]
            event = _event(block)
            if event is not None:
                yield event

    @property
    def cut(self) -> bool:
        """True if the stream ended inside an event."""
        return bool(self._rest.strip())


def _event(block: bytes) -> Event | None:
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
    return Event(name, text if text == DONE else json.loads(text))
