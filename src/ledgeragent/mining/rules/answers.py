"""Parts of calls and records as questions compare them; None where there is nothing to compare."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeGuard

from ledgeragent.types import Json


def field_of(records: Mapping[str, Json], record: str, field: str) -> Json:
    """A field of the record of this name."""
    value = records.get(record)
    return value.get(field) if isinstance(value, dict) else None


def scalar(value: Json) -> Hashable:
    """A text."""
    return value if isinstance(value, str) else None


def equal(one: Json, other: Json) -> Hashable:
    """True for two equal values."""
    return None if one is None or other is None else one == other


def size(value: Json) -> Json:
    """The length of a list."""
    return len(value) if isinstance(value, list) else None


def is_number(value: Json) -> TypeGuard[int | float]:
    """True for a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
