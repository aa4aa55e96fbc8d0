"""The kind of value that a shape holds, and whether two kinds can ever be equal or compared."""

from __future__ import annotations

import re

from ledgeragent.compiler.day import is_day
from ledgeragent.compiler.shapes import Choice, ListOf, MapOf, Object, Scalar, Shape
from ledgeragent.types import Json

_BEGINNING = re.compile(r"[0-9]{4}(-(0[1-9]|1[0-2]))?-?")


def kind(shape: Shape | None) -> str:
    """`text`, `int`, `float`, `bool`, `list`, `object`, or \"\" where nothing is known."""
    match shape:
        case Scalar("str" | "date"):
            return "text"
        case Scalar("any"):
            return ""
        case Scalar(name):
            return name
        case Choice(values):
            kinds = {kind_of(value) for value in values}
            return kinds.pop() if len(kinds) == 1 else ""
        case ListOf():
            return "list"
        case MapOf() | Object():
            return "object"
        case _:
            return ""


def kind_of(value: Json) -> str:
    """The kind of a constant."""
    if isinstance(value, bool):
        return "bool"
    names = {str: "text", int: "int", float: "float", list: "list", tuple: "list", dict: "object"}
    return names.get(type(value), "")


def differ(left: str, right: str) -> bool:
    """True if values of these kinds are never equal."""
    numbers = {"int", "float"}
    return bool(left and right) and left != right and not {left, right} <= numbers


def is_date(text: str) -> bool:
    """True for a date, with or without a time, and for the beginning of one: a year, or a month."""
    return is_day(text) or _BEGINNING.fullmatch(text) is not None


def impossible(value: Json, shape: Shape | None) -> bool:
    """True if a field of this shape never has the value."""
    return isinstance(shape, Choice) and isinstance(value, str | int) and value not in shape.values
