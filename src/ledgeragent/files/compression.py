"""Compressed files: gzip, bzip2, xz and zstandard, told from their first bytes and decompressed.

Gzip by the faster library of the extra `fast` where it is. Both find the same damage, that of a header too;
of a stream that ends early the faster one may give some bytes less.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable
from typing import IO, Any, Protocol, cast

from ledgeragent.errors import MissingExtraError
from ledgeragent.files.limits import MEMORY

try:
    from isal import isal_zlib
except ImportError:
    _gzip_library: Any = zlib
    _error: type[Exception] = zlib.error
else:
    _gzip_library = isal_zlib
    _error = cast(type[Exception], isal_zlib.error)

BUFFER_BYTES = 1 << 20
_READ_BYTES = 1 << 16
"""What is decompressed at once: all that stands behind the end of a stream in it is copied."""

HEAD_BYTES = 16

DAMAGES: tuple[type[Exception], ...] = (EOFError, zlib.error, gzip.BadGzipFile, _error)
"""What is raised for compressed data that cannot be read."""

_GZIP = b"\x1f\x8b"
_GZIP_ALONE = 31
_FLAGS = 3
"""The place of the flags in its header."""
_AT_MOST_ONE_FIELD = (0, 4, 8, 16)
_BZIP2 = b"BZh"
_XZ = b"\xfd7zXZ"
_ZSTANDARD = b"\x28\xb5\x2f\xfd"


class _Decompressor(Protocol):
    """What the standard library's decompressors have in common."""

    @property
    def eof(self) -> bool: ...

    @property
    def needs_input(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


def plain(raw: IO[bytes]) -> IO[bytes]:
    """What a file holds, decompressed where it is compressed.

    Reading from it raises EOFError or zlib.error where that is damaged, or ends early.
    """
    head = peek(raw)
    if head.startswith(_GZIP):
        inner: Any = _Unpacking(_Streams(raw, _Gzip, padding=b"\0").read)
    elif head.startswith(_BZIP2):
        inner = _Unpacking(_Streams(raw, _bzip2).read)
    elif head.startswith(_XZ):
        inner = _Unpacking(_Streams(raw, _xz).read)
    elif head.startswith(_ZSTANDARD):
        inner = _Unpacking(_zstandard(raw).read)
    else:
        return raw
    return cast(IO[bytes], io.BufferedReader(inner, BUFFER_BYTES))


def peek(raw: IO[bytes]) -> bytes:
    """The first bytes of a file, which stay to be read; b"" where they cannot be had."""
    look = getattr(raw, "peek", None)
    try:
        return bytes(look(HEAD_BYTES)[:HEAD_BYTES]) if look is not None else b""
    except DAMAGES:
        return b""


class _Gzip:
    """Gzip by a library that compares a header with its checksum; that of `gzip` does not."""

    def __init__(self) -> None:
        self._stream: Any = None
        self._head = b""
        self._is_full = False

    @property
    def eof(self) -> bool:
        return self._stream is not None and self._stream.eof

    @property
    def needs_input(self) -> bool:
        return self._stream is None or not (self._is_full or self._stream.unconsumed_tail)

    @property
    def unused_data(self) -> bytes:
        return bytes(self._stream.unused_data)

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        if self._stream is None:
            self._head += data
            if len(self._head) <= _FLAGS:
                return b""
            # ISA-L overlooks flags that mean nothing, and is lost where a longer header comes in parts.
            library = _gzip_library if self._head[_FLAGS] in _AT_MOST_ONE_FIELD else zlib
            self._stream, data = library.decompressobj(wbits=_GZIP_ALONE), self._head
        tail = self._stream.unconsumed_tail
        piece: bytes = self._stream.decompress(tail + data, max(max_length, 0))
        self._is_full = len(piece) == max_length
        return piece


def _bzip2() -> _Decompressor:
    import bz2

    return bz2.BZ2Decompressor()


def _xz() -> _Decompressor:
    import lzma

    # A file's header says how much memory it takes.
    return lzma.LZMADecompressor(memlimit=MEMORY.value << 20)


def _zstandard(raw: IO[bytes]) -> Any:
    try:
        import pyarrow as pa  # type: ignore[import-untyped]
    except ImportError:
        raise MissingExtraError("pyarrow", "table") from None
    return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")


class _Unpacking(io.RawIOBase):
    """A stream of decompressed data, whose complaints about what it reads are all of one kind."""

    def __init__(self, source: Callable[[int], bytes]) -> None:
        self._source = source

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._source(len(buffer))
        except DAMAGES:
            raise
        except Exception as problem:  # every library has its own for damage
            if getattr(problem, "errno", None) is not None:
                raise
            raise EOFError(str(problem)) from None
        buffer[: len(data)] = data
        return len(data)


class _Streams:
    """The data of one compressed stream after another, as a file has them, with `padding` between."""

    def __init__(
        self, raw: IO[bytes], begin: Callable[[], _Decompressor], *, padding: bytes = b""
    ) -> None:
        self._raw = raw
        self._begin = begin
        self._padding = padding
        self._current = begin()

    def read(self, most: int) -> bytes:
        """Some of it, b"" at the end."""
        while True:
            rest = b""
            if self._current.eof:
                rest = self._unpadded(self._current.unused_data)
                while not rest:
                    more = self._raw.read(_READ_BYTES)
                    if not more:
                        return b""
                    rest = self._unpadded(more)
                self._current = self._begin()
            elif self._current.needs_input:
                rest = self._raw.read(_READ_BYTES)
                if not rest:
                    raise EOFError("the stream has no end")
            if data := self._current.decompress(rest, most):
                return data

    def _unpadded(self, data: bytes) -> bytes:
        return data.lstrip(self._padding) if self._padding else data
