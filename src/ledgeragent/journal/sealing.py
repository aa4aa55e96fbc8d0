"""The seal of a record: its line, with the hash of the one before it and its own.

A record's hash is that of its bytes as they stand in the file, up to where the hash itself stands.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from typing import TypeAlias

from ledgeragent.types import Json, canonical, parse_distinct

JOURNAL_VERSION = 2
FIRST_VERSION = 1
"""The format of 0.1.0, whose hash is that of the record written anew."""

GENESIS = "0" * 64
_DEEPEST = 100
_HASH_AT_THE_END = re.compile(r',"hash":"([0-9a-f]{64})"\}')
_HASH_LENGTH = len(',"hash":""}') + 64

Event: TypeAlias = dict[str, Json]


def sealed(record: Mapping[str, Json], previous: str) -> tuple[str, str]:
    """The line of a record behind the one whose hash is `previous`, and the record's own hash.

    What JSON cannot hold (Infinity, a key twice, what is nested too deep) stands in it as text.
    """
    linked = {**record, "prev": previous}
    try:
        body = line_of(linked)
        parsed(body)
    except (ValueError, TypeError):
        body = line_of({key: _plain(value, _DEEPEST) for key, value in linked.items()})
    body = body[:-1]
    digest = _digest(body)
    return f'{body},"hash":"{digest}"}}', digest


def tombstone(seq: int, previous: str, digest: str) -> str:
    """The line that stands for a record that was erased: its number and its hash, and nothing else."""
    stone = {"journal": JOURNAL_VERSION, "prev": previous, "seq": seq, "tombstone": True}
    return f'{line_of(stone)[:-1]},"hash":"{digest}"}}'


def line_of(record: Mapping[str, Json]) -> str:
    """The record on one line; half a character is written as its JSON escape."""
    return canonical(record).encode("utf-8", "backslashreplace").decode()


def parsed(line: str) -> Event:
    """The record of a line; ValueError where it is none."""
    try:
        record = parse_distinct(line)
    except RecursionError:
        raise ValueError("it is nested too deep") from None
    if not isinstance(record, dict):
        raise ValueError("it is no JSON object")
    return record


def _plain(value: Json, depth: int) -> Json:
    """The value as strict JSON can hold it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth == 0:
        return "(nested too deep to be shown)"
    if isinstance(value, Mapping):
        return {str(key): _plain(part, depth - 1) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part, depth - 1) for part in value]
    return str(value)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def is_genuine(line: str) -> bool:
    """True if the hash in a line is that of the bytes before it."""
    end = _HASH_AT_THE_END.fullmatch(line, max(len(line) - _HASH_LENGTH, 0))
    return end is not None and _digest(line[: end.start()]) == end[1]


def is_genuine_old(line: str, record: Event) -> bool:
    """The same for a record in the format of 0.1.0, which `record` is."""
    body = {key: value for key, value in record.items() if key != "hash"}
    try:
        return line == line_of(record) and _digest(line_of(body)) == record.get("hash")
    except UnicodeError:
        return False
