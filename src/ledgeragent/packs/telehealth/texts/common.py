"""Parts that the parsers share: failures that are ordinary text, and the printed forms of values."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from ledgeragent.types import Json

NONE: Json = {"exists": False}
"""The record of what a tool has answered does not exist."""

LINE = r"[^\n]*"
ID = r"[^\n()]+"
DOLLARS = r"\$[0-9.,]+"

_NO_SUCH = re.compile(
    r"(?:Patient|Appointment|Provider|Medical record) with ID .* not found\.", re.DOTALL
)
_NO_KEY = re.compile(r"Error: '\w+'")


def not_found(text: str) -> bool:
    """True for the answer that there is no such patient, appointment, provider or record."""
    return _NO_SUCH.fullmatch(text.strip()) is not None


def incomplete(text: str) -> bool:
    """True for the answer that a record lacks what the tool prints: asking again won't mend it."""
    return _NO_KEY.fullmatch(text.strip()) is not None


def words(label: str) -> str:
    """A printed label as the tools' arguments write it: "Pending Approval" is pending_approval.

    One that is not printed as labels are (each word with a capital) stays as it is.
    """
    return "_".join(label.lower().split()) if label == label.title() else label


def items(printed: str) -> list[str]:
    """A printed list; the word None stands for an empty one."""
    printed = printed.strip()
    return [] if printed in ("", "None", "None recorded") else printed.split(", ")


def amount(printed: str) -> float:
    """A printed sum of money; ValueError where it is none."""
    return float(printed.replace("$", "").replace(",", ""))


def rows(lines: Iterable[str], pattern: re.Pattern[str]) -> list[dict[str, Any]] | None:
    """The named values of each line, or None where one doesn't match."""
    table = []
    for line in lines:
        match = pattern.fullmatch(line)
        if match is None:
            return None
        table.append(match.groupdict())
    return table
