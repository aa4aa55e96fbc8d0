"""Shapes: what a record's fields or a tool's arguments may hold, wherever that was written down.

A shape comes from a YAML pack, from a TypedDict of a Python pack, or from a tool's JSON schema, so
rules can be checked against any of them. `annotation` turns it back into what the core reads.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import (
    Any,
    Literal,
    NotRequired,
    Required,
    TypedDict,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ledgeragent.compiler.day import Day, is_day
from ledgeragent.text import printable
from ledgeragent.types import Json


@dataclass(frozen=True, slots=True)
class Scalar:
    """`str`, `int`, `float`, `bool`, `date` (text such as 2025-03-01T10:00:00Z) or `any`.

    Of the time of a decision it is `timestamp`, which no record holds.
    """

    kind: str

    def __str__(self) -> str:
        return self.kind


@dataclass(frozen=True, slots=True)
class Choice:
    """One of these values."""

    values: tuple[Json, ...]

    def __str__(self) -> str:
        return f"one of {', '.join(map(str, self.values))}"


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of one kind of item."""

    item: Shape

    def __str__(self) -> str:
        return f"list[{self.item}]"


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object whose keys are data (ids, names) and whose values are of one kind."""

    item: Shape

    def __str__(self) -> str:
        return f"dict[{self.item}]"


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an object: `required` fields are always there, `nullable` ones may be null.

    An expression tests the others with `has(...)`, which is false for an absent field and for null.
    """

    shape: Shape
    required: bool = True
    nullable: bool = False
    line: int = 0

    @property
    def certain(self) -> bool:
        """True if the field always has a value."""
        return self.required and not self.nullable


@dataclass(frozen=True, slots=True)
class Object:
    """An object with these fields. `name` is what messages call it."""

    name: str
    fields: Mapping[str, Field] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name


Shape = Scalar | Choice | ListOf | MapOf | Object

TEXT = Scalar("str")
ANY = Scalar("any")
TIMESTAMP = Scalar("timestamp")
SCALARS = {kind: Scalar(kind) for kind in ("str", "int", "float", "bool", "date", "any")}
_PYTHON_TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "date": Day,
    "any": Any,
}
_HELD_BY: dict[str, Any] = {"int": int, "float": (int, float)}


def is_open(shape: Shape) -> bool:
    """True where nothing is known of the value, so any field and any operation may fit."""
    return shape == ANY or (isinstance(shape, Object) and not shape.fields)


# ── Python types ────────────────────────────────────────────────────────────────────────────────


def is_text(shape: Shape) -> bool:
    """True if every value of this shape is text."""
    match shape:
        case Scalar(kind):
            return kind in ("str", "date")
        case Choice(values):
            return all(isinstance(value, str) for value in values)
        case _:
            return False


def annotation(shape: Shape) -> Any:
    """The Python type for a shape: a TypedDict for an object with fields."""
    match shape:
        case Scalar(kind):
            return _PYTHON_TYPES[kind]
        case Choice(values):
            return Literal[values]
        case ListOf(item):
            return list[annotation(item)]  # type: ignore[misc]
        case MapOf(item):
            return dict[str, annotation(item)]  # type: ignore[misc]
        case Object(name, fields):
            return typed_dict(name, fields) if fields else dict[str, Any]


def typed_dict(name: str, fields: Mapping[str, Field]) -> Any:
    """The TypedDict with these fields."""
    hints = {key: _field_annotation(member) for key, member in fields.items()}
    return TypedDict(printable(name), hints)  # type: ignore[operator]


def _field_annotation(member: Field) -> Any:
    hint = annotation(member.shape)
    if member.nullable:
        hint = hint | None if hint is not Any else Any
    return hint if member.required else NotRequired[hint]


def shape_of(hint: Any) -> Shape:
    """The shape of a Python type: a TypedDict, a Literal, list[...], dict[...], a scalar, or `any`."""
    if is_typeddict(hint):
        return _object_of(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Required, NotRequired):
        return shape_of(arguments[0])
    if origin in (Union, types.UnionType):
        options = [argument for argument in arguments if argument is not type(None)]
        return shape_of(options[0]) if len(options) == 1 else ANY
    if origin is Literal:
        return Choice(arguments)
    if hint is list or origin is list:
        return ListOf(shape_of(arguments[0]) if arguments else ANY)
    if hint is dict or origin is dict:
        return MapOf(shape_of(arguments[1]) if arguments else ANY)
    if hint is Day:
        return SCALARS["date"]
    return SCALARS[hint.__name__] if hint in (str, int, float, bool) else ANY


def _object_of(hint: Any) -> Object:
    hints = get_type_hints(hint, include_extras=True)
    return Object(hint.__name__, {name: _field_of(name, h, hint) for name, h in hints.items()})


def _field_of(name: str, hint: Any, owner: Any) -> Field:
    """A field of a TypedDict; what its hint says of presence counts before what its class says."""
    origin = get_origin(hint)
    required = origin is Required or (name in owner.__required_keys__ and origin is not NotRequired)
    inner = get_args(hint)[0] if origin in (Required, NotRequired) else hint
    return Field(shape_of(inner), required, nullable=type(None) in get_args(inner))


# ── Values ──────────────────────────────────────────────────────────────────────────────────────


def shape_of_value(value: Json, name: str = "value") -> Shape:
    """The shape of a constant: a pack's parameters are typed by what they hold."""
    match value:
        case bool():
            return SCALARS["bool"]
        case int():
            return SCALARS["int"]
        case float():
            return SCALARS["float"]
        case str():
            return TEXT
        case list():
            items = {str(shape): shape for shape in (shape_of_value(item, name) for item in value)}
            return ListOf(next(iter(items.values())) if len(items) == 1 else ANY)
        case dict():
            return Object(name, {key: Field(shape_of_value(v, key)) for key, v in value.items()})
        case _:
            return ANY


def mismatches(value: Json, shape: Shape, where: str = "") -> Iterator[tuple[str, str]]:
    """Where a value does not have its shape: (the place inside it, what is wrong there)."""
    match shape:
        case Scalar("any"):
            return
        case Scalar(kind):
            if not _fits(value, kind):
                yield where, f"should be {kind}, is {_described(value)}"
        case Choice(values):
            if value not in values:
                yield where, f"should be {shape}, is {_described(value)}"
        case ListOf(item):
            if not isinstance(value, list):
                yield where, f"should be a list, is {_described(value)}"
                return
            for child in value:
                yield from mismatches(child, item, f"{where}[]")
        case MapOf(item):
            if not isinstance(value, dict):
                yield where, f"should be an object, is {_described(value)}"
                return
            for child in value.values():
                yield from mismatches(child, item, f"{where}{{}}")
        case Object():
            yield from _object_mismatches(value, shape, where)


def _object_mismatches(value: Json, shape: Object, where: str) -> Iterator[tuple[str, str]]:
    if not isinstance(value, dict):
        yield where, f"should be an object, is {_described(value)}"
        return
    for name, child in value.items():
        place = f"{where}.{name}" if where else name
        member = shape.fields.get(name)
        if member is None:
            if shape.fields:
                yield place, f"is no field of {shape.name}"
        elif child is not None or not member.nullable:
            yield from mismatches(child, member.shape, place)


def _fits(value: Json, kind: str) -> bool:
    if isinstance(value, bool) or kind == "bool":
        return isinstance(value, bool) and kind == "bool"
    if kind == "date":
        return isinstance(value, str) and is_day(value)
    return isinstance(value, _HELD_BY.get(kind, str))


def _described(value: Json) -> str:
    return "null" if value is None else f"{type(value).__name__} ({str(value)[:40]})"
