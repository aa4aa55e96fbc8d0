"""Files of recorded data, read in pieces: JSON Lines or one JSON document, plain or gzip, `-` for stdin.

A JSON Lines file is never held as a whole; a JSON document is, since it can be parsed only whole.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import IO, cast

from ledgeragent.errors import DataError
from ledgeragent.offline.folders import is_results_folder, merged
from ledgeragent.offline.packed import is_packed, unpacked
from ledgeragent.types import Json

PIECE_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_HEAD = 16
_DAMAGED = "the compressed data is damaged or ends early"
_EMPTY = "the file is empty"
_OPENERS = (b"[", b"{", b",", b":")

# NaN and Infinity are no JSON, but Python writes them: as text no rule mistakes them for a number.
_decode = json.JSONDecoder(parse_constant=str).decode


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some lines of a file, the first of them number `line`.

    `document`: the lines are one JSON value. `position`: how many bytes of the file (as stored)
    were read so far. `problem`: why nothing follows, where the file ended too early.
    """

    file: str
    line: int
    lines: tuple[bytes, ...] = ()
    document: bool = False
    position: int = 0
    problem: str | None = None


def pieces(
    file: str, together: Callable[[list[Json]], bool] = lambda values: False
) -> Iterator[Piece]:
    """The file cut into pieces of about a megabyte; raises DataError where it cannot be opened.

    It stays whole where its first lines are values that belong `together`. Databases and archives
    that are known are unpacked into the JSON document that they hold, a harness's folder of results is
    read as one.
    """
    name = "<stdin>" if file == "-" else file
    if is_results_folder(file):
        yield Piece(file=name, line=1, lines=(merged(file),), document=True)
        return
    try:
        with _opened(file) as raw:
            zipped = _peek(raw)[:2] == _GZIP
            stream: IO[bytes] = _unzipped(raw) if zipped else raw
            if is_packed(_peek(stream)):
                yield _unpacked(name, stream, raw)
            else:
                yield from _cut(name, stream, raw, together)
    except OSError as error:
        raise DataError(error.strerror or str(error), file=name) from None


def records(piece: Piece) -> Iterator[tuple[int, Json | DataError]]:
    """Each JSON value of a piece with its line number, or what is wrong with that line."""
    if piece.document:
        yield from _document(piece)
    else:
        for number, line in enumerate(piece.lines, piece.line):
            if text := line.strip():
                yield number, _parse(text, piece.file, number)
    if piece.problem is not None:
        number = piece.line + len(piece.lines)
        place = None if piece.problem == _EMPTY else number
        yield number, DataError(piece.problem, file=piece.file, line=place)


def _opened(file: str) -> IO[bytes] | nullcontext[IO[bytes]]:
    return nullcontext(sys.stdin.buffer) if file == "-" else open(file, "rb")


def _peek(raw: IO[bytes]) -> bytes:
    peek = getattr(raw, "peek", None)
    try:
        return bytes(peek(_HEAD)[:_HEAD]) if peek is not None else b""
    except (EOFError, zlib.error, gzip.BadGzipFile):
        return b""


def _unzipped(raw: IO[bytes]) -> IO[bytes]:
    # GzipFile alone hands out lines through a small buffer, which costs a quarter more.
    return cast(IO[bytes], io.BufferedReader(gzip.GzipFile(fileobj=raw), PIECE_BYTES))


def _unpacked(name: str, stream: IO[bytes], raw: IO[bytes]) -> Piece:
    """The one piece of a file that is no text; raises DataError where it cannot be unpacked."""
    try:
        lines = (unpacked(stream.read(), name),)
    except ValueError as problem:
        raise DataError(str(problem), file=name) from None
    return Piece(file=name, line=1, lines=lines, document=True, position=_position(raw))


def _belong(lines: list[bytes], together: Callable[[list[Json]], bool]) -> bool:
    values = (_parse(text, "", 0) for line in lines if (text := line.strip()))
    return together([value for value in values if not isinstance(value, DataError)])


def _position(raw: IO[bytes]) -> int:
    return raw.tell() if raw.seekable() else 0


def _cut(
    name: str,
    stream: Iterable[bytes],
    raw: IO[bytes],
    together: Callable[[list[Json]], bool],
) -> Iterator[Piece]:
    lines: list[bytes] = []
    first, size, document = 1, 0, False
    blank = True
    whole: bool | None = None
    problem: str | None = None
    source = iter(stream)
    while True:
        try:
            line = next(source, None)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            line, problem = None, _DAMAGED
        if line is None:
            break
        if blank and line.strip():
            blank, document = False, line.rstrip().endswith(_OPENERS)
        lines.append(line)
        size += len(line)
        if size >= PIECE_BYTES and whole is None and not document and len(lines) > 1:
            whole = _belong(lines, together)
        if size >= PIECE_BYTES and not document and whole is False:
            yield Piece(file=name, line=first, lines=tuple(lines), position=_position(raw))
            first, size, lines = first + len(lines), 0, []
    if blank and problem is None:
        problem = _EMPTY
    yield Piece(
        file=name,
        line=first,
        lines=tuple(lines),
        document=document,
        position=_position(raw),
        problem=problem,
    )


def _parse(text: bytes, file: str, line: int) -> Json | DataError:
    try:
        return _decode(text.removeprefix(BOM_UTF8).decode())
    except UnicodeDecodeError:
        return DataError("not UTF-8 text", file=file, line=line)
    except json.JSONDecodeError as error:
        where = f"{error.msg} at column {error.colno}"
        return DataError(f"not JSON: {where}", file=file, line=line + error.lineno - 1)
    except RecursionError:
        return DataError("nested too deeply", file=file, line=line)
    except ValueError as error:
        return DataError(f"not JSON: {error}", file=file, line=line)


def _document(piece: Piece) -> Iterator[tuple[int, Json | DataError]]:
    """The one value of a document; its lines one by one where it turns out to be JSON Lines."""
    value = _parse(b"".join(piece.lines).rstrip(), piece.file, piece.line)
    if not isinstance(value, DataError):
        yield piece.line, value
        return
    broken_line = cast(int, value.line)
    values = [
        (number, _parse(text, piece.file, number))
        for number, line in enumerate(piece.lines, piece.line)
        if (text := line.strip())
    ]
    whole = [v for _, v in values if isinstance(v, dict | list)]
    if 2 * len(whole) >= len(values):
        yield from values
    else:
        yield broken_line, value
