"""The parts that reports have in common: JSON text, tables, calls and facts on a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ledgeragent.offline.jsontext import json_text
from ledgeragent.text import visible
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Enforcement

VALUE, SENTENCE, RECORD = 120, 1_000, 4_000
"""The most characters of a name or value, of a call or reason, and of a whole record."""

_MOST_FACTS = 40


def dump(value: Json) -> str:
    """The value as JSON text for a file or a pipe."""
    return json_text(value, indent=2) + "\n"


def shorten(text: str, longest: int = VALUE) -> str:
    """The text on one line, its end left out where it is long.

    Whatever comes from a model or a record goes through here on its way into a report for people:
    it can neither begin a line of its own nor drown the others. JSON has it whole.
    """
    line = visible(text[: longest + 1])
    return line if len(line) <= longest else f"{line[:longest]}..."


def mark(enforcement: str) -> str:
    """The mark of a rule that is not enforced; nothing for one that is."""
    return "" if enforcement == Enforcement.ENFORCE.value else f" ({enforcement})"


def call_line(call: Mapping[str, Json]) -> str:
    """A call given as JSON, the way a model would write it."""
    parsed = ToolCall.parse(name=str(call["name"]), arguments=call.get("arguments"))
    return shorten(str(parsed), SENTENCE)


def fact_lines(evidence: Sequence[Mapping[str, Json]], *, turns: bool = False) -> Iterator[str]:
    """The facts read, each with its value and the read that supplied it, on request with its turn."""
    for fact in evidence[:_MOST_FACTS]:
        turn = f", turn {fact['turn']}" if turns else ""
        value = shorten(str(fact["value"]))
        yield f"{shorten(fact['path'])} = {value}, from {call_line(fact['read'])}{turn}"
    if len(evidence) > _MOST_FACTS:
        yield f"{len(evidence) - _MOST_FACTS} more, all with --format json"


def listed(title: str, lines: Iterable[str]) -> list[str]:
    """A heading with the number of lines under it; nothing where there are none."""
    body = list(lines)
    return [f"{title} ({len(body)})", *body] if body else []


def place_of(row: Mapping[str, Any]) -> str:
    """The run of a row, and after the colon the number of the judged call: what `explain` takes."""
    number = f":{row['judged']}" if row["judged"] is not None else ""
    parts = [f"run {shorten(row['run'], SENTENCE)}{number}"]
    if row["task_id"] is not None:
        parts.append(f"task {shorten(str(row['task_id']))}")
    if row["reward"] is not None:
        parts.append(f"reward {row['reward']:g}")
    return ", ".join(parts)


def joined(parts: Iterable[Sequence[str]]) -> str:
    """Text of these sections, a blank line between them, the empty ones left out."""
    return "\n\n".join("\n".join(part) for part in parts if part) + "\n"


def table(headings: Sequence[str], rows: Sequence[Sequence[object]], texts: int = 1) -> list[str]:
    """Columns as wide as their widest cell: the first `texts` to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < texts else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]
