"""The arguments of the calls that a rule judges."""

from __future__ import annotations

from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.shapes import ANY, Field, Object, Shape


def arguments_of(guards: tuple[str, ...], outline: Outline) -> Shape:
    """The arguments that are certain in calls of all guarded tools: the rest is optional."""
    parts = {part.tool: part for part in (*outline.writes, *outline.neutrals)}
    shapes = [parts[tool].arguments for tool in guards if tool in parts]
    objects = [shape for shape in shapes if isinstance(shape, Object) and shape.fields]
    if not shapes or len(objects) < len(shapes):
        return ANY
    if len(objects) == 1:
        return objects[0]
    names = dict.fromkeys(name for shape in objects for name in shape.fields)
    merged = {name: _merged([s.fields.get(name) for s in objects]) for name in names}
    return Object(f"the call of {' or '.join(guards)}", merged)


def _merged(fields: list[Field | None]) -> Field:
    present = [field for field in fields if field is not None]
    shape = present[0].shape if all(field.shape == present[0].shape for field in present) else ANY
    required = len(present) == len(fields) and all(field.required for field in present)
    return Field(shape, required, any(field.nullable for field in present))
