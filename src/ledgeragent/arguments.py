"""Argument shapes: a TypedDict turned into a checker that reads arguments leniently.

The gate judges what a call *says*, so a number that arrives as a string is read as the number, and
JSON text as the list it holds. What would change the meaning (text for a truth value, a number for
text, a word that is not in the list) is an objection, each with the place where it stands.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from ledgeragent.shape import Objection, has_control, required_keys
from ledgeragent.types import Json, parse_distinct

Reader = Callable[[Json, str, list[str]], Json]
"""`(value, place, objections) -> value as its declared type`; adds what stands against it."""

_LONGEST_SHOWN = 80
_DEEPEST = 60
_NUMBER = re.compile(r"\s*[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?\s*", re.ASCII)
_WHOLE = re.compile(r"\s*[+-]?\d{1,400}\s*", re.ASCII)


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
    if annotation not in _SCALARS and hasattr(annotation, "objection"):
        return _form_reader(annotation.objection)
    return _SCALARS.get(annotation, _read_anything)


def names(annotation: Any) -> frozenset[str] | None:
    """The fields that a TypedDict declares, None for another type, which says nothing of them."""
    return frozenset(get_type_hints(annotation)) if is_typeddict(annotation) else None


def _object_reader(annotation: Any) -> Reader:
    hints = get_type_hints(annotation)
    fields = tuple((name, _exact(hint), reader(hint)) for name, hint in hints.items())
    required = required_keys(annotation)

    def read(value: Json, place: str, objections: list[str]) -> Json:
        if type(value) is not dict and not isinstance(value, Mapping):
            return _object_to(value, place or "arguments", "an object", objections)
        out: Json = value
        for name, exact, read_field in fields:
            field: Json = value.get(name)
            if type(field) is exact and (exact is not str or field.isprintable()):
                continue
            if name in value:
                read_value = read_field(field, f"{place}.{name}" if place else name, objections)
                if read_value is not field:
                    out = {**out, name: read_value}
            elif name in required:
                objections.append(_missing(name, value, place))
        return out

    return read


def _missing(name: str, value: Mapping[str, Json], place: str) -> str:
    if not place:
        return f"{name} is missing"
    return f"{place}.{name} is missing (got {', '.join(map(str, value)) or 'nothing'})"


def _exact(annotation: Any) -> Any:
    """The type whose values need no reading: they are what the annotation says already."""
    return annotation if annotation in (str, int, bool) else None


def _list_reader(annotation: Any) -> Reader:
    exact, read_item = _exact(annotation), reader(annotation)

    def read(value: Json, place: str, objections: list[str]) -> Json:
        items = value if type(value) is list else _list_in(value)
        if items is None:
            return _object_to(value, place, "a list", objections)
        for item in items:
            if type(item) is not exact or (exact is str and not item.isprintable()):
                return _read_items(items, read_item, place, objections)
        return items

    return read


def _read_items(items: Json, read_item: Reader, place: str, objections: list[str]) -> Json:
    values = [read_item(item, f"{place}[{n}]", objections) for n, item in enumerate(items)]
    return items if all(map(operator.is_, values, items)) else values


def _list_in(value: Json) -> Json:
    """The list, also where it arrived as JSON text; None where there is none."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            value = parse_distinct(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, list | tuple) else None


def _word_reader(words: tuple[Any, ...]) -> Reader:
    expected = f"one of {', '.join(map(str, words))}"

    def read(value: Json, place: str, objections: list[str]) -> Json:
        if any(type(value) is type(word) and value == word for word in words):
            return value
        return _object_to(value, place, expected, objections)

    return read


def _optional_reader(parts: tuple[Any, ...]) -> Reader:
    """The reader for `T | None`; a union of several types says too little to be read as one."""
    present = [part for part in parts if part is not NoneType]
    if len(present) != 1 or NoneType not in parts:
        return _read_anything
    read_present = reader(present[0])

    def read(value: Json, place: str, objections: list[str]) -> Json:
        return None if value is None else read_present(value, place, objections)

    return read


def _form_reader(objection: Objection) -> Reader:
    """The reader for a type of text that says itself what is none."""

    def read(value: Json, place: str, objections: list[str]) -> Json:
        objections.extend(filter(None, [objection(value, place)]))
        return value

    return read


def _read_text(value: Json, place: str, objections: list[str]) -> Json:
    if type(value) is not str:
        return _object_to(value, place, "text", objections)
    return _readable(value, place, objections)


def _readable(value: str, place: str, objections: list[str]) -> str:
    if has_control(value):
        objections.append(f"{place} holds a control character, which no argument may")
    return value


def _number_in(value: Json) -> float:
    """The finite number that a value says, NaN where it says none.

    Python takes `1_0` and digits of every script for numbers; tools in other languages do not.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return math.nan
    if isinstance(value, str) and _NUMBER.fullmatch(value) is None:
        return math.nan
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def _read_number(value: Json, place: str, objections: list[str]) -> Json:
    number = _number_in(value)
    return _object_to(value, place, "a number", objections) if math.isnan(number) else number


def _read_integer(value: Json, place: str, objections: list[str]) -> Json:
    if type(value) is int:
        return value
    if isinstance(value, str) and _WHOLE.fullmatch(value) is not None:
        return int(value)  # past a float, a long id would become another one
    number = _number_in(value)
    if math.isnan(number) or not number.is_integer():
        return _object_to(value, place, "a whole number", objections)
    return int(number)


def _read_truth(value: Json, place: str, objections: list[str]) -> Json:
    return value if type(value) is bool else _object_to(value, place, "true or false", objections)


def _read_anything(value: Json, place: str, objections: list[str], depth: int = 0) -> Json:
    if type(value) is str:
        return _readable(value, place, objections)
    if depth > _DEEPEST:
        objections.append(f"{place} is nested too deep")
    elif isinstance(value, Mapping):
        for name, item in value.items():
            _readable(str(name), place, objections)
            _read_anything(item, f"{place}.{name}" if place else str(name), objections, depth + 1)
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            _read_anything(item, f"{place}[{number}]", objections, depth + 1)
    return value


def _object_to(value: Json, place: str, expected: str, objections: list[str]) -> Json:
    """The value as it is, with an objection noted."""
    text = repr(value)
    if len(text) > _LONGEST_SHOWN:
        text = f"{text[: _LONGEST_SHOWN - 3]}..."
    objections.append(f"{place} should be {expected}, got {text}")
    return value


_SCALARS: Mapping[Any, Reader] = {
    str: _read_text,
    int: _read_integer,
    float: _read_number,
    bool: _read_truth,
}
