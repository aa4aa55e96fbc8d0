"""Text in columns: styled words, wrapped to a width, painted only where colour is wanted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import NamedTuple

from ledgeragent.text import printable

_CODES = {
    "bold": "1",
    "dim": "2",
    "red": "1;31",
    "green": "32",
    "yellow": "1;33",
    "cyan": "36",
    "blue": "1;34",
}


class ScreenSpan(NamedTuple):
    """Some text in one style ("" for none)."""

    text: str
    style: str = ""


ScreenLine = tuple[ScreenSpan, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ink:
    """How lines are drawn: with or without colour, with Unicode lines and arrows or in ASCII."""

    colour: bool = False
    rule: str = "─"
    double: str = "━"
    bar: str = "│"
    joint: str = "┬"
    arrow: str = "→"
    right: str = "✓"
    wrong: str = "✗"

    def paint(self, line: ScreenLine) -> str:
        """The line as text, without trailing space."""
        text = "".join(self._styled(span) for span in line)
        return text if self.colour else text.rstrip()

    def _styled(self, span: ScreenSpan) -> str:
        text = printable(span.text)
        if not (self.colour and span.style and text.strip()):
            return text
        return f"\x1b[{_CODES[span.style]}m{text}\x1b[0m"


ASCII = Ink(rule="-", double="=", bar="|", joint="+", arrow="->", right="(right)", wrong="(WRONG)")

_BREAKABLE = re.compile(r"(?<=[.@=(,/])")


def paragraph(
    text: str, width: int, *, label: ScreenSpan, indent: int, style: str = ""
) -> list[ScreenLine]:
    """Text wrapped beside a label, the further lines under the text."""
    parts = wrapped(text, width - indent)
    first = ScreenSpan(label.text.ljust(indent), label.style)
    rest = ScreenSpan(" " * indent)
    return [(first if n == 0 else rest, ScreenSpan(part, style)) for n, part in enumerate(parts)]


def wrapped(text: str, width: int) -> list[str]:
    """The text in lines no longer than `width`, broken between words, else at `.`, `@` and `=`."""
    words = (part for word in text.split() for part in _fitting(word, width))
    lines: list[str] = []
    for word, glued in words:
        gap = "" if glued else " "
        if lines and len(lines[-1]) + len(gap) + len(word) <= width:
            lines[-1] += gap + word
        else:
            lines.append(word)
    return lines or [""]


def _fitting(word: str, width: int) -> Iterator[tuple[str, bool]]:
    """The word in pieces that fit a line, each with whether it continues the piece before."""
    pieces = _BREAKABLE.split(word) if len(word) > width else [word]
    glued = False
    for piece in pieces:
        for start in range(0, len(piece), width):
            yield piece[start : start + width], glued
            glued = True


def length(line: ScreenLine) -> int:
    """How many columns a line takes."""
    return sum(len(span.text) for span in line)


def beside(
    columns: Sequence[Sequence[ScreenLine]], widths: Sequence[int], bar: ScreenSpan
) -> list[ScreenLine]:
    """Blocks next to each other, each filled to its width."""
    lines: list[ScreenLine] = []
    for row in zip_longest(*columns, fillvalue=()):
        line: list[ScreenSpan] = []
        for n, (cell, width) in enumerate(zip(row, widths, strict=True)):
            if n:
                line.append(bar)
            line += [*cell, ScreenSpan(" " * (width - length(cell)))]
        lines.append(tuple(line))
    return lines
