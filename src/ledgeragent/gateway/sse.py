"""Server-sent events: cut out of a byte stream, and written back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ledgeragent.gateway.logprobs import Cut
from ledgeragent.gateway.values import DEFAULT_BOUND, TooManyValuesError, ValueBound
from ledgeragent.gateway.wirejson import ascii_encoded
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
        data = DONE.encode() if self.data == DONE else ascii_encoded(self.data)
        head = f"event: {self.name}\n".encode("ascii", "replace") if self.name else b""
        return b"%bdata: %b\n\n" % (head, data)


class EventParser:
    """Cuts events out of chunks that may end anywhere.

    ValueError for data that isn't JSON, or holds more values than the bound.

    What is left when the stream ends is no event and is dropped.
    """

    def __init__(self, bound: ValueBound = DEFAULT_BOUND) -> None:
        self._bound = bound
        self._rest = bytearray()
        self._seen = 0

    def feed(self, chunk: bytes) -> Iterator[ServerEvent]:
        """The events that are complete after this chunk."""
        rest = self._rest
        if rest.endswith(b"\r"):  # The line end may come in two pieces.
            del rest[-1]
            chunk = b"\r" + chunk
        rest += chunk.replace(b"\r\n", b"\n")
        begin = 0
        # What was looked through before is not looked through again, but for its last byte.
        while (end := rest.find(b"\n\n", max(begin, self._seen - 1))) >= 0:
            event = self._event(bytes(rest[begin:end]))
            begin = self._seen = end + 2
            if event is not None:
                yield event
        del rest[:begin]
        self._seen = len(rest)

    def _event(self, block: bytes) -> ServerEvent | None:
        cut: Cut | None = None
        try:
            self._bound.check(block, "an event")
        except TooManyValuesError:
            cut = Cut(block)
            block = cut.text
            self._bound.check(block, "an event")
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
            value = DONE if text == DONE else parse_json(text)
        except RecursionError:
            raise ValueError("an event is nested too deeply") from None
        if cut is not None and not cut.mend(value):
            raise TooManyValuesError("an event holds too many values")
        return ServerEvent(name, value)
