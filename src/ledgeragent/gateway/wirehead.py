"""The head of a message as it goes over the wire."""

from __future__ import annotations

from collections.abc import Mapping


def wire_head(first: list[str], headers: Mapping[str, str], size: int) -> bytes:
    """The first lines and the headers before a body of so many bytes.

    ValueError for a header that would be more than one.
    """
    lines = [*first, *map(": ".join, headers.items())]
    text = "\r\n".join((*lines, f"content-length: {size}\r\n\r\n"))
    if text.count("\n") != len(lines) + 2 or text.count("\r") != len(lines) + 2:
        raise ValueError("a header has a line end in it")
    return text.encode("utf-8", "surrogateescape")
