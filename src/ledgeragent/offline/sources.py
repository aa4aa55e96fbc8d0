"""Files of recorded data, read in pieces: JSON Lines or one JSON document, plain or gzip, `-` for stdin.

A JSON Lines file is never held as a whole; a JSON document is, since it can be parsed only whole.
"""

from __future__ import annotations

import gzip
import io
import json
import math
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import IO, cast

from ledgeragent.errors import DataError
from ledgeragent.files.limits import IDLE_LINES, MEMORY, memory_of, most_bytes, refuse_large
from ledgeragent.files.reading import opened
from ledgeragent.offline.folders import is_results_folder, merged
from ledgeragent.offline.packed import is_packed, unpacked
from ledgeragent.types import Json

PIECE_BYTES = 1 << 20
_GZIP = b"\x1f\x8b"
_HEAD = 16
_DAMAGED = "the compressed data is damaged or ends early"
_EMPTY = "the file is empty"
_SHORTEST_RECORD = 12
_MOST_LINES = 1 << 16
_OPENERS = (b"[", b"{", b",", b":")

# NaN and Infinity are no JSON, but Python writes them: as text no rule mistakes them for a number.
_decode = json.JSONDecoder(parse_constant=str).decode
# So it stays where a number is too large to be told from Infinity; the library alone is faster.
_HUGE = re.compile(rb"[0-9][eE]\+?[0-9]{3}|[0-9]{200}")
_decode_huge = json.JSONDecoder(
    parse_constant=str,
    parse_float=lambda digits: n if math.isfinite(n := float(digits)) else digits,
).decode


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
        with opened(file) as raw:
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
        yield from _lines(piece)
    if piece.problem is not None:
        number = piece.line + len(piece.lines)
        place = None if piece.problem == _EMPTY else number
        yield number, DataError(piece.problem, file=piece.file, line=place)


def _lines(piece: Piece) -> Iterator[tuple[int, Json | DataError]]:
    """The values of a piece, line by line."""
    lines = piece.lines if len(piece.lines) != 1 else io.BytesIO(piece.lines[0])
    total, most = 0, MEMORY.value << 20
    for number, line in enumerate(lines, piece.line):
        if text := line.strip():
            total += memory_of(text)
            if total > most:
                problem = "what belongs together would take more memory than it may"
                yield number, MEMORY.refusal(problem, piece.file, number)
                return
            yield number, _parse(text, piece.file, number)


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
    content = stream.read(most_bytes() + 1)
    if len(content) > most_bytes():
        raise MEMORY.refusal("it would take more memory than one document may", name)
    try:
        lines = (unpacked(content, name),)
    except (ValueError, RecursionError) as problem:
        raise DataError(str(problem), file=name) from None
    return Piece(file=name, line=1, lines=lines, document=True, position=_position(raw))


def _belong(lines: list[bytes], together: Callable[[list[Json]], bool]) -> bool:
    values = (_parse(text, "", 0) for line in lines if (text := line.strip()))
    return together([value for value in values if not isinstance(value, DataError)])


def _position(raw: IO[bytes]) -> int:
    return raw.tell() if raw.seekable() else 0


@dataclass(slots=True)
class _Cutter:
    """What of a file was read and is not handed out yet. Its lines stay lines until they are many."""

    file: str
    raw: IO[bytes]
    first: int = 1
    lines: list[bytes] = field(default_factory=list)
    size: int = 0
    count: int = 0
    idle: int = 0
    blank: bool = True
    document: bool = False
    whole: bool | None = None
    most: int = field(default_factory=most_bytes)
    most_idle: int = field(default_factory=lambda: IDLE_LINES.value)

    def add(self, line: bytes) -> None:
        """Takes a line; DataError where the limits of what is read end."""
        if self.blank and line.strip():
            self.blank, self.document = False, line.rstrip().endswith(_OPENERS)
        self.lines.append(line)
        self.size += len(line)
        self.count += 1
        self._require_limits(line)
        if len(self.lines) >= _MOST_LINES and (self.document or self.whole or self.blank):
            # A line takes more than its bytes: of many short ones, a multiple.
            self.lines = [b"".join(self.lines)]

    def _require_limits(self, line: bytes) -> None:
        number = self.first + self.count - 1
        if len(line) <= _SHORTEST_RECORD and not (self.document and line.strip()):
            self.idle += 1
            if self.idle > self.most_idle:
                problem = "the file has more empty lines than are read"
                raise IDLE_LINES.refusal(problem, self.file, number)
        if self.size > self.most:
            noun = "it" if self.document or self.whole else "this line"
            problem = f"{noun} would take more memory than one document may"
            raise MEMORY.refusal(problem, self.file, number)

    def has_piece(self, together: Callable[[list[Json]], bool]) -> bool:
        """True if what was read can be handed out by itself."""
        if self.size < PIECE_BYTES or self.document:
            return False
        if self.whole is None and self.count > 1:
            self.whole = _belong(self.lines, together)
        return self.whole is False

    def give_up(self, refusal: DataError) -> str:
        """Leaves the last line out, and all of a document, which is none without its end."""
        head = [] if self.document or self.whole else self.lines[:-1]
        self.first += self.count - 1 - len(head)
        self.lines, self.count, self.blank = head, len(head), False
        return refusal.problem

    def piece(self, problem: str | None = None) -> Piece:
        """What was read since the last one."""
        lines, first = tuple(self.lines), self.first
        self.first, self.size, self.count, self.lines = first + self.count, 0, 0, []
        return Piece(
            file=self.file,
            line=first,
            lines=lines,
            document=self.document,
            position=_position(self.raw),
            problem=problem,
        )


def _cut(
    name: str, stream: IO[bytes], raw: IO[bytes], together: Callable[[list[Json]], bool]
) -> Iterator[Piece]:
    cutter = _Cutter(name, raw)
    problem: str | None = None
    while True:
        try:
            line = stream.readline(cutter.most + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile):
            line, problem = b"", _DAMAGED
        if not line:
            break
        try:
            cutter.add(line)
        except DataError as refusal:
            problem = cutter.give_up(refusal)
            break
        if cutter.has_piece(together):
            yield cutter.piece()
    if cutter.blank and problem is None:
        problem = _EMPTY
    yield cutter.piece(problem)


def _parse(text: bytes, file: str, line: int) -> Json | DataError:
    try:
        refuse_large(text, file, line)
        decode = _decode_huge if _HUGE.search(text) else _decode
        return decode(text.removeprefix(BOM_UTF8).decode())
    except DataError as refusal:
        return refusal
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
    text = piece.lines[0] if len(piece.lines) == 1 else b"".join(piece.lines)
    value = _parse(text.rstrip(), piece.file, piece.line)
    if not isinstance(value, DataError):
        yield piece.line, value
        return
    broken_line = cast(int, value.line)
    values = [*islice(_lines(piece), IDLE_LINES.value)]
    whole = [v for _, v in values if isinstance(v, dict | list)]
    if 2 * len(whole) >= len(values):
        yield from values
    else:
        yield broken_line, value
