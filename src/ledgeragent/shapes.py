"""Argument shapes: a TypedDict turned into a checker that reads arguments leniently.

The gate judges what a call *says*, so a number that arrives as a string is read as the number; what
cannot be read as the declared type is a `ShapeError`, never an exception inside a predicate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import (
    Any,
    Literal,
    NotRequired,
    Required,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ledgeragent.types import Json

Reader = Callable[[Json, str], Json]
"""Reads a value found at a named place: returns it as the declared type or raises ShapeError."""


class ShapeError(ValueError):
    """A value that cannot be read as its declared type; says where and what was expected."""

    def __init__(self, where: str, expected: str, got: Json) -> None:
        shown = repr(got)
        super().__init__(
            f"{where or 'arguments'} should be {expected}, "
            f"got {shown if len(shown) <= 80 else shown[:77] + '...'}"
        )


def reader(annotation: Any) -> Reader:
    """The reader for a type: str, int, float, bool, Literal, list[T], TypedDict or Any."""
    if is_typeddict(annotation):
        return _object_reader(annotation)
    origin = get_origin(annotation)
    if origin is list:
        return _list_reader(*get_args(annotation))
    if origin is Literal:
        return _read_text
    return _SCALARS.get(annotation, _read_anything)


def names(annotation: Any) -> frozenset[str] | None:
    """The fields that a TypedDict declares, None for another type, which says nothing of them."""
    return frozenset(get_type_hints(annotation)) if is_typeddict(annotation) else None


def _object_reader(annotation: Any) -> Reader:
    hints = get_type_hints(annotation)
    fields = tuple((name, _exact(hint), reader(hint)) for name, hint in hints.items())
    required = _required(annotation)

    def read(value: Json, where: str) -> Json:
        if type(value) is not dict and not isinstance(value, Mapping):
            raise ShapeError(where, "an object", value)
        out: Json = value
        for name, exact, read_field in fields:
            given = value.get(name)
            if type(given) is exact:
                continue
            if name in value:
                field = read_field(given, name)
                if field is not given:
                    out = {**out, name: field}
            elif name in required:
                raise ShapeError(name, "given", None)
        return out

    return read


def _required(annotation: Any) -> frozenset[str]:
    """The keys that must be given, also where the annotations were postponed to strings.

    `__required_keys__` alone doesn't see `NotRequired` inside a string.
    """
    hints = get_type_hints(annotation, include_extras=True)
    marked = {name: get_origin(hint) for name, hint in hints.items()}
    known: frozenset[str] = annotation.__required_keys__
    return frozenset(
        n for n, m in marked.items() if m is Required or (n in known and m is not NotRequired)
    )


def _exact(annotation: Any) -> Any:
    """The type whose values need no reading: they are what the annotation says already."""
    return annotation if annotation in (str, int, bool) else None


def _list_reader(annotation: Any) -> Reader:
    exact, read_item = _exact(annotation), reader(annotation)

    def read(value: Json, where: str) -> Json:
        if type(value) is not list and not isinstance(value, list | tuple):
            raise ShapeError(where, "a list", value)
        for item in value:
            if type(item) is not exact:
                return [read_item(item, where) for item in value]
        return value

    return read


def _read_text(value: Json, where: str) -> str:
    if type(value) is str:
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    raise ShapeError(where, "text", value)


def _read_number(value: Json, where: str, expected: str = "a number") -> float:
    if not isinstance(value, bool) and isinstance(value, int | float | str):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            number = math.nan
        if math.isfinite(number):
            return number
    raise ShapeError(where, expected, value)


def _read_integer(value: Json, where: str) -> int:
    if type(value) is int:
        return value
    number = _read_number(value, where, "a whole number")
    if not number.is_integer():
        raise ShapeError(where, "a whole number", value)
    return int(number)


def _read_truth(value: Json, where: str) -> bool:
    if isinstance(value, bool):
        return value
    if value in ("true", "True", "false", "False"):
        return value in ("true", "True")
    raise ShapeError(where, "true or false", value)


def _read_anything(value: Json, where: str) -> Json:
    return value


_SCALARS: Mapping[Any, Reader] = {
    str: _read_text,
    int: _read_integer,
    float: _read_number,
    bool: _read_truth,
}
