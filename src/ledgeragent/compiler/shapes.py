"""Shapes: what a record's fields or a tool's arguments may hold, wherever that was written down.

A shape comes from a YAML pack, from a TypedDict of a Python pack, or from a tool's JSON schema, so
rules can be checked against any of them. `annotation` turns it back into what the core reads.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
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

from ledgeragent.types import Json


@dataclass(frozen=True, slots=True)
class Scalar:
    """`str`, `int`, `float`, `bool`, `date` (text such as 2025-03-01T10:00:00Z) or `any`."""

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
SCALARS = {kind: Scalar(kind) for kind in ("str", "int", "float", "bool", "date", "any")}
_PYTHON_TYPES: dict[str, Any] = {
    "str": str,
    "int": int,
    "float": float,
    "bool": bool,
    "date": str,
    "any": Any,
}
_HELD_BY: dict[str, Any] = {"int": int, "float": (int, float)}


def is_open(shape: Shape) -> bool:
    """True where nothing is known of the value, so any field and any operation may fit."""
    return shape == ANY or (isinstance(shape, Object) and not shape.fields)


# ── Python types ────────────────────────────────────────────────────────────────────────────────


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
    return TypedDict(name, hints)  # type: ignore[operator]


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


# ── JSON Schema ─────────────────────────────────────────────────────────────────────────────────

_JSON_KINDS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_DEEPEST = 12


def shape_of_schema(
    schema: Json,
    name: str = "object",
    root: Json = None,
    depth: int = _DEEPEST,
    within: frozenset[str] = frozenset(),
) -> Shape:
    """The shape of a JSON Schema; what it does not tell, or tells too deep, is `any`.

    So is a schema inside itself: `within` are the references that led here.
    """
    root = schema if root is None else root
    reference = str(schema["$ref"]) if isinstance(schema, dict) and "$ref" in schema else None
    if reference in within:
        return ANY
    within = within if reference is None else within | {reference}
    schema = resolved(schema, root)
    if not isinstance(schema, dict) or depth == 0:
        return ANY
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    if isinstance(values, list) and all(isinstance(v, str | int | None) for v in values):
        choices = tuple(value for value in values if value is not None)
        return Choice(choices) if choices else ANY
    alternatives = _alternatives(schema, root)
    if alternatives:
        return (
            shape_of_schema(alternatives[0], name, root, depth - 1, within)
            if alternatives[1:] == []
            else ANY
        )
    return _shape_of_kind(schema, name, root, depth - 1, within)


def _shape_of_kind(
    schema: dict[str, Json], name: str, root: Json, depth: int, within: frozenset[str]
) -> Shape:
    kinds = _kinds(schema)
    if kinds == ["array"]:
        return ListOf(shape_of_schema(schema.get("items"), _singular(name), root, depth, within))
    if kinds == ["object"] or (not kinds and "properties" in schema):
        return _shape_of_object(schema, name, root, depth, within)
    if kinds == ["string"] and schema.get("format") in ("date", "date-time"):
        return SCALARS["date"]
    return SCALARS[_JSON_KINDS[kinds[0]]] if len(kinds) == 1 and kinds[0] in _JSON_KINDS else ANY


def _shape_of_object(
    schema: dict[str, Json], name: str, root: Json, depth: int, within: frozenset[str]
) -> Shape:
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties:
        values = schema.get("additionalProperties")
        return MapOf(
            shape_of_schema(values, name, root, depth, within) if isinstance(values, dict) else ANY
        )
    required = _listed(schema.get("required"))
    fields = {
        key: Field(
            shape_of_schema(child, key, root, depth, within),
            required=key in required,
            nullable=is_nullable(child, root),
        )
        for key, child in properties.items()
    }
    fields |= {key: Field(ANY) for key in required if key not in fields}
    return Object(str(schema.get("title", name)), fields)


def resolved(schema: Json, root: Json) -> Json:
    """The schema that a local `$ref` or an `allOf` leads to; {} for one that leads nowhere."""
    for _ in range(_DEEPEST):
        if isinstance(schema, dict) and isinstance(schema.get("$ref"), str):
            schema = _pointed(root, schema["$ref"])
        elif isinstance(schema, dict) and _listed(schema.get("allOf")):
            schema = _joined(schema, root)
        else:
            return schema
    return {}


def _joined(schema: dict[str, Json], root: Json) -> Json:
    """What an `allOf` says together: the one schema, or the properties of several objects."""
    own = {key: value for key, value in schema.items() if key != "allOf"}
    parts = [schema["allOf"][0]] if len(schema["allOf"]) == 1 else [*schema["allOf"]]
    if len(parts) == 1 and "properties" not in own:
        return parts[0]
    schemas = [part for part in (resolved(p, root) for p in parts) if isinstance(part, dict)]
    joined: dict[str, Json] = {"type": "object", "properties": {}, "required": []}
    for part in (*schemas, own):
        properties = part.get("properties")
        joined["properties"] |= properties if isinstance(properties, dict) else {}
        joined["required"] += _listed(part.get("required"))
    return joined if joined["properties"] else {}


def _listed(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _pointed(root: Json, reference: str) -> Json:
    if not reference.startswith("#/"):
        return {}
    target = root
    for part in reference[2:].split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        target = target.get(key, {}) if isinstance(target, dict) else {}
    return target


def _kinds(schema: dict[str, Json]) -> list[str]:
    kinds = schema.get("type", [])
    names = kinds if isinstance(kinds, list) else [kinds]
    return [kind for kind in names if isinstance(kind, str) and kind != "null"]


def _alternatives(schema: dict[str, Json], root: Json) -> list[Json]:
    """What `anyOf` or `oneOf` allow besides null, each different one once."""
    options = schema.get("anyOf") or schema.get("oneOf") or []
    schemas: list[Json] = []
    for option in options if isinstance(options, list) else []:
        target = resolved(option, root)
        if isinstance(target, dict) and target.get("type") != "null" and target not in schemas:
            schemas.append(target)
    return schemas


def is_nullable(schema: Json, root: Json) -> bool:
    """True if a value of this JSON Schema may be null."""
    schema = resolved(schema, root)
    if not isinstance(schema, dict):
        return False
    kinds = schema.get("type")
    options = [*_listed(schema.get("anyOf")), *_listed(schema.get("oneOf"))]
    null_kind = kinds == "null" or (isinstance(kinds, list) and "null" in kinds)
    nullable = null_kind or schema.get("nullable") is True or None in _listed(schema.get("enum"))
    return nullable or any(is_nullable(option, root) for option in options[:_DEEPEST])


def _singular(name: str) -> str:
    return name[:-1] if name.endswith("s") and len(name) > 1 else f"{name}_item"


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
    return isinstance(value, _HELD_BY.get(kind, str))


def _described(value: Json) -> str:
    return "null" if value is None else f"{type(value).__name__} ({str(value)[:40]})"


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
