"""Readings: what was read of a conversation's last request is not read again with the next one.

Clients send the whole history each time, and mostly in the same bytes. So a body that begins with the
bytes of an earlier one, up to and with its last message, is taken from there on. Wherever anything is
not as plain as that (a key twice, a value that is no list), the whole body is read as any other is.
"""

from __future__ import annotations

import re
import zlib
from collections import OrderedDict
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from ledgeragent.gateway.dialects.base import Body, Dialect, decode
from ledgeragent.gateway.readhistory import ReadHistory
from ledgeragent.gateway.values import ValueBound
from ledgeragent.gateway.wirejson import beginning
from ledgeragent.types import parse_json

_KEY = "messages"
_LIST = re.compile(r'"messages"[ \t\n\r]*:[ \t\n\r]*(?=\[)')
_SPACE = " \t\n\r"

_BLOCK = 8192
"""Bytes. A history is found by the checksum of its last whole block; a shorter one is read again."""

_TWINS = 4
"""So many histories that are alike up to their last block are kept."""

_WEIGHT = 4
"""How many times the bytes of a history it takes with all that was read of it, about."""

_Place: TypeAlias = tuple[str, int, int]


class Parted(NamedTuple):
    """A body in two parts: its history, and what stands behind it."""

    reading: ReadHistory
    rest: Body

    @property
    def body(self) -> Body | None:
        """The body; None where another history stands behind this one, and counts in its place."""
        if _KEY in self.rest:
            return None
        return {**self.reading.head, _KEY: self.reading.items, **self.rest}


class Readings:
    """The latest readings, at most so many bytes of them."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._size = 0
        self._places: OrderedDict[_Place, list[ReadHistory]] = OrderedDict()

    def decode(
        self, raw: bytes, dialect: Dialect, bound: ValueBound
    ) -> tuple[Body, ReadHistory | None]:
        """The JSON object in a body, and the reading that it begins with, where it is that plain.

        Raises what `decode` does.
        """
        if dialect.is_read_in_order and len(raw) >= _BLOCK:
            bound.check(raw)
            earlier = self._find(raw, dialect)
            try:
                parts = _parted(raw) if earlier is None else _continued(earlier, raw)
            except (ValueError, RecursionError):
                parts = None  # What is wrong with it is said below.
            if parts is not None and (body := parts.body) is not None:
                return body, parts.reading
        return decode(raw, bound=bound), None

    def keep(self, reading: ReadHistory, dialect: Dialect) -> None:
        """Keeps a reading, in the place of the one that it goes on from."""
        size = len(reading.raw)
        if size < _BLOCK or _WEIGHT * size > self._limit:
            return
        place = (dialect.path, *_last(_checksums(reading.raw)))
        twins = self._places.setdefault(place, [])
        self._places.move_to_end(place)
        for twin in [t for t in twins if reading.raw.startswith(t.raw)] or twins[: 1 - _TWINS]:
            twins.remove(twin)
            self._size -= _WEIGHT * len(twin.raw)
        twins.append(reading)
        self._size += _WEIGHT * size
        while self._size > self._limit:
            _, oldest = self._places.popitem(last=False)
            self._size -= sum(_WEIGHT * len(twin.raw) for twin in oldest)

    def _find(self, raw: bytes, dialect: Dialect) -> ReadHistory | None:
        """The longest reading that a body begins with."""
        for checksum in reversed(list(_checksums(raw))):
            twins = self._places.get((dialect.path, *checksum), ())
            fitting = [twin for twin in twins if raw.startswith(twin.raw)]
            if fitting:
                return max(fitting, key=lambda twin: len(twin.raw))
        return None


def _checksums(raw: bytes) -> Iterator[tuple[int, int]]:
    """The end of each whole block, and the checksum of all up to there."""
    view, checksum = memoryview(raw), 1
    for end in range(_BLOCK, len(raw) + 1, _BLOCK):
        checksum = zlib.adler32(view[end - _BLOCK : end], checksum)
        yield end, checksum


def _last(checksums: Iterator[tuple[int, int]]) -> tuple[int, int]:
    return list(checksums)[-1]


def _parted(raw: bytes) -> Parted | None:
    """A body cut in two behind its history; None where that is not where it seems to be."""
    text = raw.decode("utf-8")
    match = _LIST.search(text)
    head = _head(text[: match.start()]) if match is not None else None
    if match is None or head is None:
        return None
    items, end = beginning(text, match.end())
    rest = _rest(text[end:])
    if not items or rest is None:
        return None
    return Parted(ReadHistory(_history(raw, text[end - 1 :]), head, items), rest)


def _continued(earlier: ReadHistory, raw: bytes) -> Parted | None:
    """A body cut in two, whose history begins with one that was read."""
    more = raw[len(earlier.raw) :].decode("utf-8").lstrip(_SPACE)
    if more.startswith(","):
        more = f"[{more[1:]}"
        items, end = beginning(more, 0)
        if not items:
            return None
    elif more.startswith("]"):
        items, end = [], 1
    else:
        return None
    rest = _rest(more[end:])
    if rest is None:
        return None
    raw = _history(raw, more[end - 1 :])
    items = [*earlier.items, *items]
    return Parted(ReadHistory(raw, earlier.head, items, earlier.earlier, earlier.digests), rest)


def _history(raw: bytes, behind: str) -> bytes:
    """A body up to the last message, where this text stands behind that."""
    return raw[: len(raw) - len(behind.encode())].rstrip(_SPACE.encode())


def _head(text: str) -> Body | None:
    """The object that begins so and has nothing else in it; None where another key cannot follow."""
    text = text.strip(_SPACE)
    if text == "{":
        return {}
    head = parse_json(f"{text[:-1]}}}") if text.endswith(",") else None
    return head if isinstance(head, dict) and head else None


def _rest(text: str) -> Body | None:
    """What stands in an object behind one of its values; None where nothing can."""
    text = text.strip(_SPACE)
    if text == "}":
        return {}
    rest = parse_json(f"{{{text[1:]}") if text.startswith(",") else None
    return rest if isinstance(rest, dict) and rest else None
