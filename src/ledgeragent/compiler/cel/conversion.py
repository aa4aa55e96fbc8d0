"""JSON as CEL expects it of a shape: whole numbers where floats are declared, no nulls."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from ledgeragent.compiler.shapes import ListOf, MapOf, Object, Scalar, Shape
from ledgeragent.types import Json

Converter = Callable[[Json], Json]


def converter(shape: Shape) -> Converter | None:
    """Turns JSON into what CEL expects of this shape; None where it is that already.

    Whole numbers become floats where floats are declared, since CEL multiplies no int with a double
    and a price of 10.0 arrives as 10. Fields that may be null are left out where they are.
    """
    match shape:
        case Scalar("float"):
            return _to_float
        case ListOf(item):
            inner = converter(item)
            return partial(_each, inner) if inner else None
        case MapOf(item):
            inner = converter(item)
            return partial(_each_value, inner) if inner else None
        case Object(_, fields):
            converters = tuple((k, c) for k, f in fields.items() if (c := converter(f.shape)))
            nullable = tuple(k for k, f in fields.items() if not f.certain)
            return partial(_fields, converters, nullable) if converters or nullable else None
        case _:
            return None


def _to_float(value: Json) -> Json:
    return float(value) if type(value) is int else value


def _each(convert: Converter, value: Json) -> Json:
    return [convert(item) for item in value] if isinstance(value, list) else value


def _each_value(convert: Converter, value: Json) -> Json:
    return {k: convert(item) for k, item in value.items()} if isinstance(value, dict) else value


def _fields(
    converters: tuple[tuple[str, Converter], ...], nullable: tuple[str, ...], value: Json
) -> Json:
    """The object with its fields converted; itself where that changes nothing, as is common."""
    if not isinstance(value, dict):
        return value
    result = value
    for name, convert in converters:
        member = value.get(name)
        if member is not None and (converted := convert(member)) is not member:
            result = {**result, name: converted}
    if any(value.get(name, name) is None for name in nullable):
        return {k: v for k, v in result.items() if v is not None or k not in nullable}
    return result
