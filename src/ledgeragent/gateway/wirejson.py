"""JSON as the gateway reads and writes it: tight, and by the quickest library that is there."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from ledgeragent.types import Json, canonical, parse_distinct, parse_json, strict

try:
    import orjson
except ImportError:  # It has no wheel for every machine.
    orjson = None  # type: ignore[assignment]
try:
    # orjson tells the keys that it has read before by a hash that anybody can compute: to read by it, a
    # client could have all others' `tool_calls` read as a key of its own.
    import msgspec
except ImportError:
    _quick: Any = None
else:
    _quick = msgspec

_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_POWER, _NEGATIVE_POWER = b"0e0", b"0e-0"
_SMALL = b"0.0000"
"""Numbers that the two libraries write in other ways, or texts that look like one."""

_ESCAPED_COLON = b"\\u003"

ascii_text: Callable[[Json], str] = json.JSONEncoder(separators=(",", ":")).encode
"""The value as text in ASCII, so that neither half a character nor an odd line end can stop it."""


def decoded(text: bytes) -> Json:
    """The value of strict JSON in UTF-8. What the quick library refuses, in other words, is for
    `parse_json` to read.
    """
    if _quick is not None:
        try:
            return _quick.json.decode(text)
        except (_quick.MsgspecError, UnicodeDecodeError):
            pass
    return parse_json(text.decode())


def decoded_distinct(text: bytes) -> Json:
    """The same; RepeatedKeyError where an object in it has a key twice."""
    # `in` tries first whether what it looks for is a number, and writes an error that it is none.
    if _quick is not None and text.find(_ESCAPED_COLON) < 0:
        value = decoded(text)
        # Each key stands before a colon; of equal ones all but the last are gone by now.
        with suppress(RecursionError):
            if encoded(value).count(b":") == text.count(b":"):
                return value
    return parse_distinct(text.decode())


def fingerprint(value: Json) -> bytes | None:
    """Bytes that no other value has; None where nobody makes them quickly."""
    try:
        return orjson.dumps(value) if orjson is not None else None
    except TypeError:
        return None


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
        if data.find(_SMALL) < 0 and max(digits.find(_POWER), digits.find(_NEGATIVE_POWER)) < 0:
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
