"""Content codings: what a server packed, unpacked in pieces of bounded size."""

from __future__ import annotations

import zlib
from collections.abc import Iterator

from ledgeragent.errors import MissingExtraError

try:
    from multidict import CIMultiDictProxy
except ImportError:
    raise MissingExtraError("multidict", "gateway") from None

ACCEPTED = "gzip"
"""What an upstream is asked for; it may also send its answer as it is."""

_PIECE = 1 << 16
_SLICE = 1 << 14
"""What is unpacked at once: zlib copies all that stands behind the end of a body in it."""

_MOST_BODIES = 10_000
"""So many may stand one behind the other. Empty ones take 20 bytes, and more time than any other."""

_EITHER_HEADER = 47
"""zlib's sign for data that begins as gzip or as zlib does."""


def coding_of(headers: CIMultiDictProxy[str]) -> str:
    """How a body is packed, by all that its headers say of it; "" if it is not."""
    name = "content-encoding"
    if name not in headers:
        return ""
    listed = ",".join(headers.getall(name)).split(",")
    return ", ".join(c for c in map(str.strip, listed) if c.lower() not in ("", "identity"))


def unpacked(raw: bytes, coding: str, limit: int) -> bytes:
    """A whole body unpacked; OverflowError past `limit` bytes, ValueError if it is not of the coding."""
    if not coding:
        return raw
    unpacker, parts, size = Unpacker(coding), list[bytes](), 0
    for piece in unpacker.feed(raw):
        parts.append(piece)
        size += len(piece)
        if size > limit:
            raise OverflowError(f"it is over {limit} bytes")
    if not unpacker.is_whole:
        raise ValueError("it breaks off")
    return b"".join(parts)


class Unpacker:
    """Unpacks one body. ValueError for a coding that it does not know, or data that is not of it."""

    def __init__(self, coding: str) -> None:
        self._is_packed = bool(coding)
        if self._is_packed and coding.lower() not in ("gzip", "x-gzip", "deflate"):
            raise ValueError(f"it is packed as {coding[:40]!r}, which was not asked for")
        self._zlib = zlib.decompressobj(_EITHER_HEADER)
        self._bodies = 1

    @property
    def is_whole(self) -> bool:
        """True if nothing is missing at the end of what was unpacked."""
        return not self._is_packed or self._zlib.eof

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """What this much more of the body holds, in pieces of 64 KiB at most where it was packed."""
        if not self._is_packed:
            yield chunk
            return
        for start in range(0, len(chunk), _SLICE):
            yield from self._unpacked(chunk[start : start + _SLICE])

    def _unpacked(self, rest: bytes) -> Iterator[bytes]:
        while rest:
            if self._zlib.eof:  # Several bodies may stand one behind the other.
                self._bodies += 1
                if self._bodies > _MOST_BODIES:
                    raise ValueError(f"it is packed in more than {_MOST_BODIES:,} parts")
                self._zlib = zlib.decompressobj(_EITHER_HEADER)
            try:
                piece = self._zlib.decompress(rest, _PIECE)
            except zlib.error as problem:
                raise ValueError(f"it cannot be unpacked: {problem}") from None
            if piece:
                yield piece
            rest = self._zlib.unused_data if self._zlib.eof else self._zlib.unconsumed_tail
            if not rest and len(piece) == _PIECE:
                yield from self._held_back()

    def _held_back(self) -> Iterator[bytes]:
        """What zlib has unpacked already, and had no room for."""
        while len(piece := self._zlib.decompress(b"", _PIECE)) == _PIECE:
            yield piece
        if piece:
            yield piece
