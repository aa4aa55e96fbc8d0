"""The head of a message as it goes over the wire."""

from __future__ import annotations

from collections.abc import Mapping


def wire_head(first: list[str], headers: Mapping[str, str], size: int) -> bytes:
    """The first lines and the headers before a body of so many bytes.

    ValueError for a header that would be more than one.
    """
    lines = [*first, *map(": ".join, headers.items()), f"content-length: {size}\r\n\r\n"]
    joined = "".join(lines[:-1])
    if "\n" in joined or "\r" in joined:
        raise ValueError("a header has a line end in it")
    return "\r\n".join(lines).encode("utf-8", "surrogateescape")
