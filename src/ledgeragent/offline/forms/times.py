"""The time that a record tells of itself, in the ways that records tell it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from ledgeragent.types import Json

_KEYS = (
    "timestamp",
    "created_at",
    "createdAt",
    "create_time",
    "createTime",
    "created",
    "start_time",
    "startTime",
    "time",
)
ANY_KEY = frozenset(_KEYS)
"""The names of fields that may tell a time."""
_UNITS = (1, 1e3, 1e6, 1e9)
"""How many of them are a second: seconds, milliseconds, microseconds, nanoseconds since 1970."""
_EARLIEST, _LATEST = 631_152_000, 4_102_444_800  # 1990 and 2100: other numbers are no times


def time_of(fields: Mapping[str, Json]) -> str:
    """The time under the first key that tells one, "" where none does."""
    if ANY_KEY.isdisjoint(fields):  # nearly every message
        return ""
    return next((time for key in _KEYS if (time := moment_in(fields.get(key)))), "")


def moment_in(value: Json) -> str:
    """A time as ISO 8601 with its zone (UTC where it tells none), "" for what is no time."""
    if isinstance(value, str) and not value.isdigit():
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return ""
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).isoformat()
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    if isinstance(value, int) and value.bit_length() > 63:
        return ""
    for unit in _UNITS:
        seconds = float(value) / unit
        if _EARLIEST <= seconds <= _LATEST:
            return datetime.fromtimestamp(seconds, UTC).isoformat()
    return ""
