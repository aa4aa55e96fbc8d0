"""Pieces: some lines of a file of recorded data, the least that is read, sent and judged as one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, fields, replace

from ledgeragent.errors import DataError
from ledgeragent.types import Json

PIECE_BYTES = 1 << 20
NOWHERE = 0
"""The line of a piece that stands for a whole file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """Some lines of a file, the first of them number `line`.

    `document`: the lines are one JSON value. `together`: they are several, and belong together.
    `position`: how many bytes of the file (as stored) were read so far. `problem`: why the line behind
    these cannot be read. `values` are what the lines were decoded to, where that was needed before; they
    stay in the process.
    """

    file: str
    line: int
    lines: tuple[bytes, ...] = ()
    document: bool = False
    together: bool = False
    position: int = 0
    problem: str | None = None
    values: tuple[tuple[int, Json | DataError], ...] | None = field(
        default=None, compare=False, repr=False
    )

    def __getstate__(self) -> list[object]:
        return [None if f.name == "values" else getattr(self, f.name) for f in fields(self)]

    @property
    def size(self) -> int:
        """Bytes of its lines."""
        return sum(map(len, self.lines))

    def halves(self) -> tuple[Piece, ...]:
        """The first and the second half of its lines; () where they are one, or belong together."""
        middle = len(self.lines) // 2
        if self.document or self.together or not middle:
            return ()
        first = replace(self, lines=self.lines[:middle], problem=None, values=None)
        line = self.line + middle
        return first, replace(self, line=line, lines=self.lines[middle:], values=None)

    def lost(self, why: str) -> Piece:
        """What is left of it where nothing can be done with its lines."""
        last = self.line + max(0, len(self.lines) - 1)
        span = f"line {last} is" if last == self.line else f"lines {self.line} to {last} are"
        return Piece(
            file=self.file,
            line=self.line,
            position=self.position,
            problem=f"{span} left out: {why}",
        )


@dataclass(frozen=True, slots=True)
class Partition:
    """Pieces of one file that follow each other, which one worker takes.

    `name` is its own among those of all files, the same whenever these files are read.
    """

    name: str
    pieces: tuple[Piece, ...]

    @property
    def wholes(self) -> tuple[str, ...]:
        """The names of the partitions that it is a part of."""
        file, number, *halves = self.name.split("-")
        return tuple("-".join((file, number, *halves[:n])) for n in range(len(halves)))

    def parts(self) -> tuple[Partition, ...]:
        """The same in two; () where it cannot be divided."""
        middle = len(self.pieces) // 2
        halves = (
            [self.pieces[:middle], self.pieces[middle:]]
            if middle
            else [(half,) for half in self.pieces[0].halves()]
        )
        return tuple(Partition(f"{self.name}-{n}", half) for n, half in enumerate(halves))

    def lost(self, why: str) -> Partition:
        """What is left of it where no worker survives it."""
        return Partition(self.name, tuple(piece.lost(why) for piece in self.pieces))

    def emptied(self) -> Partition:
        """Only how far it goes."""
        last = self.pieces[-1]
        return Partition(
            self.name, (Piece(file=last.file, line=last.line, position=last.position),)
        )


def partitions(number: int, pieces: Iterable[Piece], size: int) -> Iterator[Partition]:
    """The pieces of file `number` in partitions of at least `size` bytes, but for the last."""
    count, batch, total = 0, list[Piece](), 0
    for piece in pieces:
        batch.append(piece)
        total += piece.size
        if total >= size:
            yield Partition(f"{number:05}-{count:06}", tuple(batch))
            count, batch, total = count + 1, [], 0
    if batch:
        yield Partition(f"{number:05}-{count:06}", tuple(batch))
