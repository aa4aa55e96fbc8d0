"""Limits of what is read from a file. Each has a name; a variable of that name raises it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from ledgeragent.errors import DataError, UsageError

_WIDEST = re.compile(rb"[\xf0-\xff]")
_RAISES = " raises that"
_PER_VALUE = 120
"""Bytes. What a member of an object takes, with its key; an element of a list takes less."""

_MOST_PER_BYTE = 9 + _PER_VALUE
"""What `memory_of` says of the worst text."""


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit of so many `unit` for a `noun`; `name` is the variable that says otherwise."""

    name: str
    most: int
    unit: str
    noun: str = ""

    @property
    def value(self) -> int:
        """The limit that holds here; UsageError where the variable holds no number."""
        text = os.environ.get(self.name, "").strip()
        if not text:
            return self.most
        if not text.isascii() or not text.isdigit() or not 0 < len(text) < 16 or int(text) < 1:
            raise UsageError(f"{self.name}: give a number of {self.unit}, 1 or more")
        return int(text)

    def refusal(self, problem: str, file: str, line: int | None = None) -> DataError:
        """The error that tells the limit, its name, and how it is raised."""
        text = f"{problem} ({self.value:,} {self.unit}); {self.name}{_RAISES}"
        return DataError(text, file=file, line=line)


MEMORY = Limit(
    "LEDGERAGENT_MAX_MEMORY_MB",
    192,
    "MB",
    "what one JSON document, one line, or one unpacked file may take in memory, reckoned before it is read",
)
TEXT = Limit("LEDGERAGENT_MAX_TEXT_MB", 16, "MB", "one file of settings, code, keys or heads")
PACK = Limit("LEDGERAGENT_MAX_PACK_MB", 1, "MB", "one file of a pack")
TABLE = Limit("LEDGERAGENT_MAX_TABLE_MB", 20, "MB", "one file of tools or of samples")
IDLE_LINES = Limit(
    "LEDGERAGENT_MAX_EMPTY_LINES",
    100_000,
    "lines",
    "lines of one file that are empty, or too short to hold a record",
)
BROKEN_RECORDS = Limit(
    "LEDGERAGENT_MAX_BROKEN_RECORDS",
    10_000,
    "records",
    "broken records of one journal, behind which it is not read on",
)
FIELDS = Limit(
    "LEDGERAGENT_MAX_FIELDS",
    2_000,
    "fields",
    "fields of one record of a pack, with those of the records in it",
)
LIMITS = (MEMORY, TEXT, PACK, TABLE, IDLE_LINES, BROKEN_RECORDS, FIELDS)
"""All of them, as the docs list them."""


def is_refusal(problem: str) -> bool:
    """True for what a limit's refusal says: more stands in the file than was read."""
    return problem.endswith(_RAISES)


def surely_fits(size: int) -> bool:
    """True for JSON texts of so many bytes that are within the limit, whatever they say."""
    return size * _MOST_PER_BYTE <= MEMORY.value << 20


def memory_of(text: bytes) -> int:
    """About how many bytes a JSON text takes while it is parsed, at most, with its values.

    Python stores a text by its widest character, and an escape may stand for any.
    """
    ascii_only = text.isascii()
    width = 1 if ascii_only else (4 if _WIDEST.search(text) else 2)
    inner = max(width, 2) if b"\\u" in text else width
    if b"\\ud8" in text or b"\\uD8" in text:
        inner = 4
    values = text.count(b",") + text.count(b"[") + text.count(b"{")
    return len(text) * (1 + width + inner) + values * _PER_VALUE


def most_bytes() -> int:
    """How many bytes of a document are read at all: it takes three times as many, whatever it says."""
    return (MEMORY.value << 20) // 3


def refuse_large(text: bytes, file: str, line: int | None = None) -> None:
    """DataError for a JSON text that would take more memory than is allowed."""
    if not surely_fits(len(text)) and memory_of(text) > MEMORY.value << 20:
        raise MEMORY.refusal("it would take more memory than one document may", file, line)
