"""The ledger at the tail of a prompt, within a size: what is oldest gives way to a line that says so."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ledgeragent.gateway.wirejson import canonical_text
from ledgeragent.ledger import Entry, Ledger
from ledgeragent.paths import Path, quote
from ledgeragent.render import CLOSE, block, line_of, render
from ledgeragent.text import visible
from ledgeragent.types import Json

LEFT_OUT_HEADER = "x-ledgeragent-left-out"

_SHORTEST_LINE = 16
"""Bytes. With less than that left, nobody looks for a record that fits."""

_MISSES = 100
"""So many records may be too long for what is left; behind them no shorter one is looked for."""


class LedgerTail(NamedTuple):
    """The block, and how many records it leaves out."""

    text: str
    left_out: int


_EMPTY = LedgerTail(block([]), 0)


def ledger_tail(ledger: Ledger, most: int) -> LedgerTail:
    """The ledger block with records of at most `most` bytes: those that were read last.

    The model is told how many of which kind are left out, and which tool reads them again. The gate
    judges by all of them all the same.
    """
    lines = _lines_within(ledger, most)
    if lines is not None:
        if not lines:  # Most conversations begin so.
            return _EMPTY
        return LedgerTail(block([lines[path] for path in sorted(lines)]), 0)
    left, misses = most, 0
    fitting: list[Entry] = []
    missing: Counter[tuple[str, str]] = Counter()
    for entry in _newest(ledger):
        size = -1
        if left >= _SHORTEST_LINE and misses < _MISSES:
            size = _size(_line(entry))
        if 0 <= size <= left:
            left -= size
            fitting.append(entry)
        else:
            misses += size > left
            missing[entry.path[0], entry.source.name] += 1
    text = render(Ledger().put_all(fitting)) if fitting else render(Ledger())
    notes = "\n".join(_note(root, tool, count) for (root, tool), count in sorted(missing.items()))
    return LedgerTail(f"{text.removesuffix(CLOSE)}{notes}\n{CLOSE}", missing.total())


def _lines_within(ledger: Ledger, most: int) -> dict[Path[Json], str] | None:
    """The line of each record by its path; None where they are too long together."""
    lines: dict[Path[Json], str] = {}
    for entry in ledger:
        lines[entry.path] = line = _line(entry)
        most -= _size(line)
        if most < 0:
            return None
    return lines


def _line(entry: Entry) -> str:
    entry.shown_by(canonical_text)
    return line_of(entry)


def _size(line: str) -> int:
    """The bytes of a record's line, with its end."""
    return (len(line) if line.isascii() else len(line.encode("utf-8", "replace"))) + 1


def _newest(ledger: Ledger) -> Iterator[Entry]:
    """The records, those of the latest turn first, those of one turn by their paths."""
    turns: dict[int, list[Entry]] = defaultdict(list)
    for entry in ledger:
        turns[entry.turn].append(entry)
    for turn in sorted(turns, reverse=True):
        yield from sorted(turns[turn], key=lambda entry: entry.path)


def _note(root: str, tool: str, count: int) -> str:
    records = "one record" if count == 1 else f"{count} records"
    return (
        f"({records} under {quote(root)}, read earlier by {visible(tool)}, left out for length: "
        "nothing is wrong with them, and the same call shows one again)"
    )
