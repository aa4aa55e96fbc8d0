"""JSON as the gateway writes it: tight, and by the quickest library that is there."""

from __future__ import annotations

import json
from collections.abc import Callable

from ledgeragent.types import Json, canonical, strict

try:
    import orjson
except ImportError:  # It has no wheel for every machine.
    orjson = None  # type: ignore[assignment]

_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_POWERS = (b"0e0", b"0e-0")
_SMALL = b"0.0000"
"""Numbers that the two libraries write in other ways, or texts that look like one."""

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


def canonical_text(value: Json) -> str:
    """What `canonical` writes for a value of JSON, by the quick library where it writes the same."""
    if orjson is not None:
        try:
            data = orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except TypeError:
            return canonical(value)
        digits = data.translate(_DIGITS)
        if _SMALL not in data and not any(mark in digits for mark in _POWERS):
            return data.decode()
    return canonical(value)


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
