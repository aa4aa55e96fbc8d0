"""JSON as the gateway writes it: tight, and by the quickest library that is there."""

from __future__ import annotations

import json
from collections.abc import Callable

from ledgeragent.types import Json, strict

try:
    import orjson
except ImportError:  # It has no wheel for every machine.
    orjson = None  # type: ignore[assignment]

ascii_text: Callable[[Json], str] = json.JSONEncoder(separators=(",", ":")).encode
"""The value as text in ASCII, so that neither half a character nor an odd line end can stop it."""


def encoded(value: Json) -> bytes:
    """A value that `parse_json` can read, as bytes. Half a character, and what else the quick library
    refuses, is written in ASCII.
    """
    if orjson is not None:
        try:
            return orjson.dumps(value)
        except TypeError:  # Its own error is one of these.
            pass
    return ascii_text(value).encode()


def ascii_encoded(value: Json) -> bytes:
    """The bytes of `ascii_text`, by the quick library where it finds nothing outside of ASCII."""
    data = encoded(value)
    return data if data.isascii() else ascii_text(value).encode()


def beginning(text: str, at: int) -> tuple[Json, int]:
    """The value of strict JSON that begins here, whatever follows it, and where it ends."""
    try:
        value: tuple[Json, int] = strict.scan_once(text, at)
    except StopIteration:
        raise ValueError("no value begins here") from None
    return value
