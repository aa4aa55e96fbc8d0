"""Overhearing: a stream that passes through another program, kept as it passes, and judged at its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ledgeragent.gateway.dialects.reading import reading
from ledgeragent.gateway.errors import BadReplyError
from ledgeragent.gateway.sse import ServerEvent

MOST_BYTES = 8 << 20
"""Of one stream that are kept, as of an answer at the gateway."""


@dataclass(slots=True)
class Overhearing:
    """What was heard of a stream; `problem` says why it cannot be judged, and nothing is kept then."""

    limit: int = MOST_BYTES
    parts: list[bytes] = field(default_factory=list)
    problem: Exception | None = None
    _size: int = 0

    def add(self, events: Callable[[], Iterable[ServerEvent]]) -> None:
        """Keeps these events, which are read here: what is wrong with them stops nobody."""
        if self.problem is not None:
            return
        try:
            with reading():
                parts = [event.encode() for event in events()]
            self._size += sum(map(len, parts))
            if self._size > self.limit:
                raise BadReplyError(f"the answer is over {self.limit} bytes")
            self.parts += parts
        except Exception as problem:
            self.problem = problem
            self.parts.clear()
