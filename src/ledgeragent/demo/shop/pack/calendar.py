"""Dates as the shop writes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_DAY = timedelta(days=1)


def days_between(first: str, second: str) -> int:
    """The whole days from one date to another, both as `2025-03-01`, perhaps with a time behind it.

    It is negative where it goes back. A time without a zone is one of UTC.
    """
    return int((_moment(second) - _moment(first)) / _DAY)


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
