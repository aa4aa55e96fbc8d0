"""Dates in records and arguments: text of a declared form, so that two can be compared."""

from __future__ import annotations

import re
from datetime import datetime

from ledgeragent.types import Json

_FORM = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9].*)?")
_LONGEST_SHOWN = 60


def is_day(text: str) -> bool:
    """True for a date of the calendar written 2025-03-01, perhaps with a time behind it."""
    try:
        return _FORM.fullmatch(text) is not None and bool(datetime.fromisoformat(text))
    except ValueError:
        return False


class Day(str):
    """The type of a field that holds a date, as text: what is none is evidence of nothing."""

    __slots__ = ()

    @staticmethod
    def objection(value: Json, place: str) -> str:
        """What is wrong with a value that should be a date, "" where nothing is."""
        if type(value) is str and is_day(value):
            return ""
        text = repr(value)[:_LONGEST_SHOWN]
        return f"{place.lstrip('.') or 'it'} should be a date such as 2025-03-01, not {text}"
