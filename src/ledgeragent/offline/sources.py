"""Files of recorded data, read in pieces: JSON Lines, one JSON document or a Parquet table.

They may be compressed, and stand in an object store; `-` is standard input. JSON Lines and tables are
never held as a whole; a JSON document is, since it can be parsed only whole.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from itertools import islice
from typing import IO, TypeAlias, cast

from ledgeragent.errors import DataError
from ledgeragent.files.compression import peek, plain
from ledgeragent.files.limits import IDLE_LINES, MEMORY, memory_of, most_bytes, surely_fits
from ledgeragent.files.objects import is_object, opened_object
from ledgeragent.files.reading import opened
from ledgeragent.offline.cutting import EMPTY, Lines, Together, cut
from ledgeragent.offline.folders import is_results_folder, merged
from ledgeragent.offline.lines import decoded_line, stripped_line
from ledgeragent.offline.packed import is_packed, unpacked
from ledgeragent.offline.piece import NOWHERE, Piece
from ledgeragent.offline.tablerows import PARQUET, TableRows
from ledgeragent.types import Json

_ATTEMPTS = 3

Decoded: TypeAlias = Callable[[bytes, str, int], Json | DataError]
"""The value of a line of a file, by its number, or what is wrong with it."""


def pieces(file: str, together: Together = lambda values: False) -> Iterator[Piece]:
    """The file cut into pieces of about a megabyte; raises DataError where it cannot be read.

    It stays whole where its first lines are values that belong `together`. Databases and archives
    that are known are unpacked into the JSON document that they hold, a harness's folder of results is
    read as one.
    """
    name = "<stdin>" if file == "-" else file
    if not is_object(file) and is_results_folder(file):
        document, problems = merged(file)
        yield Piece(file=name, line=1, lines=(document,), document=True)
        for problem in problems:
            yield Piece(file=problem.file, line=NOWHERE, problem=problem.problem)
        return
    try:
        with opened_object(file) if is_object(file) else opened(file) as raw:
            yield from _cut_open(name, raw, together)
    except OSError as error:
        raise DataError(error.strerror or str(error), file=name) from None


def _cut_open(name: str, raw: IO[bytes], together: Together) -> Iterator[Piece]:
    if peek(raw).startswith(PARQUET):
        yield from cut(name, _table(name, raw), raw, together)
        return
    stream = plain(raw)
    if is_packed(peek(stream)):
        yield _unpacked(name, stream, raw)
    else:
        yield from cut(name, cast(Lines, stream), raw, together)


def patiently(file: str, together: Together = lambda values: False) -> Iterator[Piece]:
    """The same, where a file that cannot be read is begun again, and in the end told and left out.

    What it held before that place is there. Only objects in a store are begun again.
    """
    passed, last = 0, Piece(file=file, line=NOWHERE)
    for attempt in range(1, _ATTEMPTS + 1):
        try:
            for piece in islice(pieces(file, together), passed, None):
                passed, last = passed + 1, piece
                yield piece
            return
        except DataError as problem:
            if attempt == _ATTEMPTS or not is_object(file):
                yield _broken(last, problem)
                return


def _broken(last: Piece, problem: DataError) -> Piece:
    """What stands for the rest of a file behind a piece, or for all of it."""
    behind = last.line + len(last.lines) if problem.file == last.file and last.line else NOWHERE
    words = problem.problem
    return Piece(file=problem.file, line=behind, position=last.position, problem=words)


def records(
    piece: Piece, decoded: Decoded = stripped_line
) -> Iterator[tuple[int, Json | DataError]]:
    """Each JSON value of a piece with its line number, or what is wrong with that line.

    `decoded` makes the value of a line that was not decoded before.
    """
    if piece.document:
        yield from _document(piece)
    elif piece.values is not None:
        yield from piece.values
    else:
        yield from _lines(piece, decoded)
    if piece.problem is not None:
        number = piece.line + len(piece.lines)
        place = None if piece.problem == EMPTY or number == NOWHERE else number
        yield number, DataError(piece.problem, file=piece.file, line=place)


def _lines(
    piece: Piece, decoded: Decoded = stripped_line
) -> Iterator[tuple[int, Json | DataError]]:
    """The values of a piece, line by line."""
    lines = piece.lines if len(piece.lines) != 1 else io.BytesIO(piece.lines[0])
    small, total, most = surely_fits(piece.size), 0, MEMORY.value << 20
    for number, line in enumerate(lines, piece.line):
        if line and not line.isspace():
            total += 0 if small else memory_of(line)
            if total > most:
                problem = "what belongs together would take more memory than it may"
                yield number, MEMORY.refusal(problem, piece.file, number)
                return
            yield number, decoded(line, piece.file, number)


def _table(name: str, raw: IO[bytes]) -> TableRows:
    if not raw.seekable():
        raise DataError("a Parquet table is read from its end: name the file", file=name)
    try:
        return TableRows(raw, name)
    except ValueError as problem:
        raise DataError(str(problem), file=name) from None


def _unpacked(name: str, stream: IO[bytes], raw: IO[bytes]) -> Piece:
    """The one piece of a file that is no text; raises DataError where it cannot be unpacked."""
    content = stream.read(most_bytes() + 1)
    if len(content) > most_bytes():
        raise MEMORY.refusal("it would take more memory than one document may", name)
    try:
        lines = (unpacked(content, name),)
    except (ValueError, RecursionError) as problem:
        raise DataError(str(problem), file=name) from None
    position = raw.tell() if raw.seekable() else 0
    return Piece(file=name, line=1, lines=lines, document=True, position=position)


def _document(piece: Piece) -> Iterator[tuple[int, Json | DataError]]:
    """The one value of a document; its lines one by one where it turns out to be JSON Lines."""
    text = piece.lines[0] if len(piece.lines) == 1 else b"".join(piece.lines)
    value = decoded_line(text.rstrip(), piece.file, piece.line)
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
