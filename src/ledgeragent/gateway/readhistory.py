"""A history as it came in a body, and what it was read as: all that its next request need not read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ledgeragent.types import Json, Message


class Earlier(NamedTuple):
    """What the first `items` of a body's messages were read as before."""

    items: int
    messages: tuple[Message, ...]


NOTHING = Earlier(0, ())


@dataclass(slots=True)
class ReadHistory:
    """A history in bytes, which end behind its last message, and as it was read.

    `head` is what stands before the messages, `items` are these as they came. `earlier` are those of them
    that were read before. `digests`, where they are known, are those of the beginnings of its messages.
    """

    raw: bytes
    head: dict[str, Json]
    items: list[Json]
    earlier: Earlier = NOTHING
    digests: Sequence[bytes] = ()

    def take(self, messages: tuple[Message, ...]) -> None:
        """Notes what all of it was read as."""
        self.earlier = Earlier(len(self.items), messages)
