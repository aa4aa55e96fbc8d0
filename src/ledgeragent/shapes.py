"""Argument shapes: a TypedDict turned into a checker that reads arguments leniently.

The gate judges what a call *says*, so a number that arrives as a string is read as the number, and
JSON text as the list it holds. What would change the meaning (text for a truth value, a number for
text, a word that is not in the list) is an objection, each with the place where it stands.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from types import NoneType, UnionType
from typing import (
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ledgeragent.shape import has_control, required_keys
from ledgeragent.types import Json, parse_json

_LONGEST_SHOWN = 80
_DEEPEST = 60


class ShapeError(ValueError):
    """Values that cannot be read as their declared types; says where and what was expected."""

    def __init__(self, objections: Iterable[str]) -> None:
        super().__init__("; ".join(objections))


class ArgumentReading(NamedTuple):
    """A value as its declared type, and what stands against it, each with its place."""

    value: Json
    objections: tuple[str, ...] = ()


Reader = Callable[[Json, str], ArgumentReading]
"""Reads a value that stands at a named place."""


def read_as(reader: Reader, value: Json, place: str = "") -> Json:
    """The value as its declared type; raises ShapeError with all that stands against it."""
    reading = reader(value, place)
    if reading.objections:
        raise ShapeError(reading.objections)
    return reading.value


def reader(annotation: Any) -> Reader:
    """The reader for a type: str, int, float, bool, Literal, list[T], TypedDict, T | None or Any."""
    if is_typeddict(annotation):
        return _object_reader(annotation)
    origin = get_origin(annotation)
    if origin is list:
        return _list_reader(*get_args(annotation))
    if origin is Literal:
        return _word_reader(get_args(annotation))
    if origin in (Union, UnionType):
        return _optional_reader(get_args(annotation))
    return _SCALARS.get(annotation, _read_anything)


def names(annotation: Any) -> frozenset[str] | None:
    """The fields that a TypedDict declares, None for another type, which says nothing of them."""
    return frozenset(get_type_hints(annotation)) if is_typeddict(annotation) else None


def _object_reader(annotation: Any) -> Reader:
    hints = get_type_hints(annotation)
    fields = tuple((name, _exact(hint), reader(hint)) for name, hint in hints.items())
    required = required_keys(annotation)

    def read(value: Json, place: str) -> ArgumentReading:
        if type(value) is not dict and not isinstance(value, Mapping):
            return _objection(place or "arguments", "an object", value)
        out: Json = value
        objections: tuple[str, ...] = ()
        for name, exact, read_field in fields:
            field: Json = value.get(name)
            if type(field) is exact and (exact is not str or field.isprintable()):
                continue
            if name in value:
                reading = read_field(field, _inside(place, name))
                objections += reading.objections
                if reading.value is not field:
                    out = {**out, name: reading.value}
            elif name in required:
                objections = (*objections, _missing(_inside(place, name), value, place))
        return ArgumentReading(out, objections)

    return read


def _inside(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name


def _missing(field: str, value: Mapping[str, Json], place: str) -> str:
    if not place:
        return f"{field} is missing"
    return f"{field} is missing (got {', '.join(map(str, value)) or 'nothing'})"


def _exact(annotation: Any) -> Any:
    """The type whose values need no reading: they are what the annotation says already."""
    return annotation if annotation in (str, int, bool) else None


def _list_reader(annotation: Any) -> Reader:
    exact, read_item = _exact(annotation), reader(annotation)

    def read(value: Json, place: str) -> ArgumentReading:
        items = _list_in(value)
        if items is None:
            return _objection(place, "a list", value)
        for item in items:
            if type(item) is not exact or (exact is str and not item.isprintable()):
                return _read_items(items, read_item, place)
        return ArgumentReading(items)

    return read


def _list_in(value: Json) -> Json:
    """The list, also where it arrived as JSON text; None where there is none."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = parse_json(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, list | tuple) else None


def _read_items(items: Json, read_item: Reader, place: str) -> ArgumentReading:
    readings = [read_item(item, f"{place}[{number}]") for number, item in enumerate(items)]
    objections = tuple(text for reading in readings for text in reading.objections)
    return ArgumentReading([reading.value for reading in readings], objections)


def _word_reader(words: tuple[Any, ...]) -> Reader:
    expected = f"one of {', '.join(map(str, words))}"

    def read(value: Json, place: str) -> ArgumentReading:
        allowed = any(type(value) is type(word) and value == word for word in words)
        return ArgumentReading(value) if allowed else _objection(place, expected, value)

    return read


def _optional_reader(parts: tuple[Any, ...]) -> Reader:
    """The reader for `T | None`; a union of several types says too little to be read as one."""
    present = [part for part in parts if part is not NoneType]
    if len(present) != 1 or NoneType not in parts:
        return _read_anything
    read_present = reader(present[0])
    return lambda value, place: (
        ArgumentReading(None) if value is None else read_present(value, place)
    )


def _read_text(value: Json, place: str) -> ArgumentReading:
    if type(value) is not str:
        return _objection(place, "text", value)
    return _controlled(place, value) if has_control(value) else ArgumentReading(value)


def _number_in(value: Json) -> float:
    """The finite number that a value says, NaN where it says none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def _read_number(value: Json, place: str) -> ArgumentReading:
    number = _number_in(value)
    return _objection(place, "a number", value) if math.isnan(number) else ArgumentReading(number)


def _read_integer(value: Json, place: str) -> ArgumentReading:
    if type(value) is int:
        return ArgumentReading(value)
    number = _number_in(value)
    if math.isnan(number) or not number.is_integer():
        return _objection(place, "a whole number", value)
    return ArgumentReading(int(number))


def _read_truth(value: Json, place: str) -> ArgumentReading:
    return (
        ArgumentReading(value) if type(value) is bool else _objection(place, "true or false", value)
    )


def _read_anything(value: Json, place: str, depth: int = 0) -> ArgumentReading:
    if type(value) is str:
        return _controlled(place, value) if has_control(value) else ArgumentReading(value)
    if depth > _DEEPEST:
        return ArgumentReading(value, (f"{place} is nested too deep",))
    if isinstance(value, Mapping):
        inner = [(_inside(place, str(name)), item) for name, item in value.items()]
        inner += [(place, str(name)) for name in value]
    elif isinstance(value, list | tuple):
        inner = [(f"{place}[{number}]", item) for number, item in enumerate(value)]
    else:
        return ArgumentReading(value)
    readings = (_read_anything(item, where, depth + 1) for where, item in inner)
    return ArgumentReading(
        value, tuple(text for reading in readings for text in reading.objections)
    )


def _objection(place: str, expected: str, value: Json) -> ArgumentReading:
    shown = repr(value)
    if len(shown) > _LONGEST_SHOWN:
        shown = f"{shown[: _LONGEST_SHOWN - 3]}..."
    return ArgumentReading(value, (f"{place} should be {expected}, got {shown}",))


def _controlled(place: str, value: str) -> ArgumentReading:
    return ArgumentReading(value, (f"{place} holds a control character, which no argument may",))


_SCALARS: Mapping[Any, Reader] = {
    str: _read_text,
    int: _read_integer,
    float: _read_number,
    bool: _read_truth,
}
