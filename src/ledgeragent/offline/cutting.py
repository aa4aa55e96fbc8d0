"""Cutting: a stream of lines in pieces of about a megabyte, within the limits of what is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Protocol, TypeAlias

from ledgeragent.errors import DataError
from ledgeragent.files.compression import DAMAGES
from ledgeragent.files.limits import IDLE_LINES, MEMORY, most_bytes
from ledgeragent.offline.lines import decoded_line
from ledgeragent.offline.piece import PIECE_BYTES, Piece
from ledgeragent.types import Json

EMPTY = "the file is empty"
_DAMAGED = "the compressed data is damaged or ends early"
_SHORTEST_RECORD = 12
_MOST_LINES = 1 << 16
_OPENERS = (b"[", b"{", b",", b":")

Together: TypeAlias = Callable[[list[Json]], bool]
"""True for the first values of a file whose lines have to be read as a whole."""


class Lines(Protocol):
    """What is read line by line; DataError for a line that cannot be read, where others may follow."""

    def readline(self, size: int, /) -> bytes: ...


def cut(name: str, stream: Lines, raw: IO[bytes], together: Together) -> Iterator[Piece]:
    """The pieces of a stream that comes from a file.

    A line that is too long is left out; so is all behind a place where compressed data is damaged.
    """
    cutter = _Cutter(name, raw)
    problem: str | None = None
    while True:
        try:
            line = stream.readline(cutter.most + 1)
        except DAMAGES:
            line, problem = b"", _DAMAGED
        except DataError as refusal:
            yield cutter.passing(refusal)
            continue
        if not line:
            break
        try:
            cutter.add(line)
        except DataError as refusal:
            problem = cutter.give_up(refusal)
            if not cutter.goes_on or not _passed(stream, line, cutter.most):
                break
            yield cutter.piece(problem)
            problem = None
        if cutter.has_piece(together):
            yield cutter.piece()
    if cutter.blank and problem is None:
        problem = EMPTY
    yield cutter.piece(problem)


def _passed(stream: Lines, line: bytes, most: int) -> bool:
    """Reads on to the end of a line that was too long; False where nothing can follow it."""
    try:
        while line and not line.endswith(b"\n"):
            line = stream.readline(most)
    except DAMAGES:
        return False
    return bool(line)


@dataclass(slots=True)
class _Cutter:
    """What of a file was read and is not handed out yet. Its lines stay lines until they are many.

    `goes_on`: behind what was given up, others may follow.
    """

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
    goes_on: bool = False
    values: tuple[tuple[int, Json | DataError], ...] | None = None
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
            apart = not (self.document or self.whole)
            self.goes_on = apart
            noun = "this line" if apart else "it"
            problem = f"{noun} would take more memory than one document may"
            raise MEMORY.refusal(problem, self.file, number)

    def has_piece(self, together: Together) -> bool:
        """True if what was read can be handed out by itself."""
        if self.size < PIECE_BYTES or self.document:
            return False
        if self.whole is None and self.count > 1:
            self.whole = self._belong(together)
        return self.whole is False

    def _belong(self, together: Together) -> bool:
        numbered = enumerate(self.lines, self.first)
        values = tuple(
            (number, decoded_line(text, self.file, number))
            for number, line in numbered
            if (text := line.strip())
        )
        self.values = values
        return together([value for _, value in values if not isinstance(value, DataError)])

    def give_up(self, refusal: DataError) -> str:
        """Leaves the last line out, and all of a document, which is none without its end."""
        head = [] if self.document or self.whole else self.lines[:-1]
        self.first += self.count - 1 - len(head)
        self.lines, self.count, self.blank = head, len(head), False
        return refusal.problem

    def passing(self, refusal: DataError) -> Piece:
        """What was read, before a line that cannot be, behind which others may follow."""
        self.blank = False
        return self.piece(refusal.problem)

    def piece(self, problem: str | None = None) -> Piece:
        """What was read since the last one, without the line that has the problem."""
        lines, first, values = tuple(self.lines), self.first, self.values
        self.first, self.size, self.count, self.lines = first + self.count, 0, 0, []
        self.first += problem is not None
        self.values = None
        return Piece(
            file=self.file,
            line=first,
            lines=lines,
            document=self.document,
            together=bool(self.whole),
            position=self.raw.tell() if self.raw.seekable() else 0,
            problem=problem,
            values=values if self.whole is False and problem is None else None,
        )
