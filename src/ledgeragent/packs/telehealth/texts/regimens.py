"""Regimens: what get_regimen_options answers."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ledgeragent.effects import Untyped
from ledgeragent.types import Json

_NONE = re.compile(r"No regimen optimization data available for patient \S+\.")
_OPTION = re.compile(r"\n(?=Option [0-9]+: )")
_CURRENT = re.compile(
    r"Current regimen components:\n(?P<components>(?:- .*\n)*)"
    r"Current pill burden: (?P<pill_burden>.*)\n"
    r"Current regimen notes:(?P<notes>(?:\n  \* .*)*)"
)
_ALTERNATIVE = re.compile(
    r"Option [0-9]+: (?P<title>.*)\n  Focus: (?P<focus>.*)\n(?P<components>(?:  - .*\n)*)"
    r"  Pill burden: (?P<pill_burden>.*)\n  Synergy notes:(?P<notes>(?:\n    - .*)*)"
)


def regimen_options(text: str) -> Json:
    """The list that get_regimen_options prints, as `regimens`: the current one first, or none at all."""
    if _NONE.fullmatch(text.strip()):
        return {"regimens": []}
    now, _, later = text.strip().partition("\nOptimized regimen options:")
    current = _CURRENT.fullmatch(now)
    options = [_ALTERNATIVE.fullmatch(part) for part in _OPTION.split(later) if part.strip()]
    if current is None or None in options:
        return Untyped(text)
    unnamed = {"title": "Current regimen", "focus": ""}
    sections = [unnamed | current.groupdict(), *(o.groupdict() for o in options if o is not None)]
    return {"regimens": [_regimen(section) for section in sections]}


def _regimen(section: dict[str, str]) -> dict[str, Json]:
    return {
        **section,
        "components": list(map(_component, _bullets(section["components"]))),
        "notes": list(_bullets(section["notes"])),
    }


def _bullets(block: str) -> Iterable[str]:
    return (line.lstrip(" *-") for line in block.split("\n") if line.strip())


def _component(line: str) -> dict[str, str]:
    medication, *details = line.split(" | ")
    return {"medication": medication, **dict(part.partition("=")[::2] for part in details)}
