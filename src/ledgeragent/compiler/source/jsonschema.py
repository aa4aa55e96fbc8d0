"""The shape that a JSON Schema describes, as the tools of MCP, OpenAPI and function calling give one."""

from __future__ import annotations

from ledgeragent.compiler.shapes import (
    ANY,
    SCALARS,
    Choice,
    Field,
    ListOf,
    MapOf,
    Object,
    Shape,
)
from ledgeragent.types import Json

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
    if reference is not None:  # what several tools refer to is one type, by its own name
        within, name = within | {reference}, reference.rpartition("/")[2] or name
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
    required = [name for name in _listed(schema.get("required")) if isinstance(name, str)]
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
    """The parts of an `allOf` together: the one schema, or the properties of several objects."""
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
    """The schemas that `anyOf` or `oneOf` allow besides null, each different one once."""
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
