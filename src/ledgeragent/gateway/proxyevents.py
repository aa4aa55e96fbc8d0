"""Events of an answer that another program hands on in pieces of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ledgeragent.gateway.dialects.base import Body
from ledgeragent.gateway.sse import DONE, EventParser, ServerEvent


class ProxyEvents:
    """The events of a streamed answer, piece by piece."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._parser = EventParser()

    def of(self, chunk: Any) -> Iterator[ServerEvent]:
        """Those that are complete after this piece."""
        if isinstance(chunk, bytes | str):
            yield from self._parser.feed(chunk.encode() if isinstance(chunk, str) else chunk)
        else:
            data = plain_body(chunk)
            yield ServerEvent(str(data["type"]) if self._kind == "aresponses" else "", data)

    def end(self) -> Iterator[ServerEvent]:
        """What the proxy says itself at the end of an answer."""
        if self._kind == "acompletion":
            yield ServerEvent("", DONE)


def plain_body(response: Any) -> Body:
    """An answer, or a piece of one, as the JSON that the proxy would make of it."""
    if isinstance(response, Mapping):
        return {name: value for name, value in response.items() if name != "_hidden_params"}
    body: Body = response.model_dump(mode="json", exclude_none=True)
    return body
