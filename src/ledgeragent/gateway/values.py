"""How many values a JSON text may hold, which is looked at before anything is made of it.

A decoder in C makes the values of a whole text in one go, during which nothing else of the process runs:
no other client is answered, and no sign of life is given. What that takes goes by the number of
values, and not by bytes: 8 MiB of words are read in 5 ms, as many of `[],[],` in half a second.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ledgeragent.gateway.errors import TooLargeError
from ledgeragent.types import Json, Message, ToolCall, ToolReturn

MAX_VALUES = 200_000
"""More than any model can take in: a value is two tokens or more."""

MOST_MARKS = 100_000
"""Of the marks below in the arguments of one call: more than a model can write in a reply."""

_MARKS = (b",", b":", b"[", b"{")
"""What stands before each value and each key but the first."""

_PIECE = 1 << 18


class TooManyValuesError(ValueError):
    """A JSON text holds more values, each key being one, than are read."""


@dataclass(frozen=True, slots=True)
class ValueBound:
    """At most so many values, keys among them, in one JSON text."""

    most: int = MAX_VALUES

    def check(self, text: bytes, what: str = "it") -> None:
        """TooManyValuesError for a text with more. A text of strings is no text with many values."""
        if len(text) > self.most and _marks(text) > self.most:
            count = sum(map(_marks, _outside_strings(text)))
            if count > self.most:
                raise TooManyValuesError(f"{what} holds more than {self.most} values")


DEFAULT_BOUND = ValueBound()


def check_returns(messages: Iterable[Message], bound: ValueBound) -> None:
    """TooLargeError if what a tool returned, which is read as JSON too, has more."""
    for message in messages:
        if isinstance(message, ToolReturn):
            texts = _texts(message.content)
            if sum(map(len, texts)) > bound.most:
                text = "\n".join(texts).encode("utf-8", "surrogatepass")
                try:
                    bound.check(text, f"the return of the call {message.call_id[:80]!r}")
                except TooManyValuesError as problem:
                    raise TooLargeError(f"the body is not read: {problem}") from None


def read_call(*, name: str, arguments: Json, id: str = "") -> ToolCall:
    """The call as the model wrote it, malformed where its arguments are a text of too many values.

    What stands in their strings counts too, since a call may carry another one's arguments.
    """
    is_long = isinstance(arguments, str) and len(arguments) > MOST_MARKS
    if is_long and sum(map(arguments.count, ",:[{")) > MOST_MARKS:
        return ToolCall(name=name, id=id, malformed="arguments of too many values to be read")
    return ToolCall.parse(name=name, arguments=arguments, id=id)


def _texts(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return [text for text in texts if isinstance(text, str)]


def _marks(text: bytes) -> int:
    return sum(map(text.count, _MARKS))


def _outside_strings(text: bytes) -> Iterator[bytes]:
    """What of a JSON text stands in none of its strings, piece by piece, so that others get a turn."""
    start, is_inside = 0, False
    while start < len(text):
        piece = text[start : start + _PIECE]
        # No piece begins between a backslash and what it is for.
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2 and len(piece) == _PIECE:
            piece = piece[:-1]
        start += len(piece)
        parts = piece.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
        yield b"".join(parts[is_inside::2])
        is_inside ^= len(parts) % 2 == 0
