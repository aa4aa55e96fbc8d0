"""Characters that no value may hold on its way into an expression.

CEL's library ends a text at its first NUL, so that "maya" equals "maya\\u0000,eve", and fails on half a
surrogate pair. Neither, nor any other control character except tab and line breaks, has business in a
value that a rule compares, so all are treated alike.
"""

from __future__ import annotations

from collections.abc import Iterable

from ledgeragent.errors import LedgerAgentError
from ledgeragent.shape import CONTROL, has_control
from ledgeragent.types import Json


def is_readable(value: Json) -> bool:
    """True if no text inside a JSON value, keys included, holds a refused character."""
    if type(value) is str:
        return not has_control(value)
    if type(value) is dict:
        return _are_readable(value) and _are_readable(value.values())
    return _are_readable(value) if isinstance(value, list | tuple) else True


def _are_readable(values: Iterable[Json]) -> bool:
    for value in values:
        if type(value) is str:
            if has_control(value):
                return False
        elif (type(value) is dict or type(value) is list) and not is_readable(value):
            return False
    return True


def first_refused(value: Json) -> str:
    """The first refused character inside a JSON value, written as `U+0000`; "" if there is none."""
    match value:
        case str():
            character = CONTROL.search(value)
            return f"U+{ord(character[0]):04X}" if character is not None else ""
        case dict():
            parts = [part for pair in value.items() for part in pair]
        case list() | tuple():
            parts = [*value]
        case _:
            return ""
    return next(filter(None, map(first_refused, parts)), "")


class Unreadable(LedgerAgentError):
    """A value at `where` (`args.note`) holds a refused `character` (`U+0000`)."""

    def __init__(self, where: str, value: Json) -> None:
        members = value.items() if isinstance(value, dict) else ()
        names = (name for name, member in members if is_readable(name) and not is_readable(member))
        name = next(names, "")
        self.where = f"{where}.{name}" if name else where
        self.character = first_refused(value)
        super().__init__(
            f"{self.where} holds the character {self.character}, which no value may hold"
        )
