"""Paths as a YAML pack writes them: `orders.{order_id}`, `users.{order.user_id}`, `settings.main`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from ledgeragent.compiler.problems import nearest, suggestion
from ledgeragent.compiler.shapes import ANY, Choice, ListOf, MapOf, Object, Scalar, Shape
from ledgeragent.paths import PathTemplate

_SEGMENT = re.compile(r"\{\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*\}|([^.{}]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A segment that is filled in: the value at `fields` of `root` (args, params, or a record).

    Without a value for an `optional` one the record is not asked for.
    """

    root: str
    fields: tuple[str, ...]
    optional: bool = False

    def __str__(self) -> str:
        return ".".join((self.root, *self.fields))


Segment = str | Key


def parse_path(text: str, roots: Collection[str]) -> tuple[Segment, ...] | None:
    """The segments of a written path, or None if it is none. A bare `{name}` is an argument.

    `roots` are the names that a dotted key can begin with.
    """
    segments: list[Segment] = []
    position = 0
    while True:
        match = _SEGMENT.match(text, position)
        if match is None:
            return None
        segments.append(_key(match[1], roots) if match[1] else match[2])
        position = match.end()
        if position == len(text):
            return tuple(segments) if isinstance(segments[0], str) else None
        if text[position] != ".":
            return None
        position += 1


def _key(text: str, roots: Collection[str]) -> Key:
    root, *fields = text.split(".")
    if not fields and root not in roots:
        return Key(root="args", fields=(root,))
    return Key(root=root, fields=tuple(fields))


def serving(
    segments: tuple[Segment, ...], templates: Collection[PathTemplate[Any]]
) -> Iterator[PathTemplate[Any]]:
    """The templates whose family a written path belongs to."""
    for template in templates:
        if len(template.segments) == len(segments) and all(
            s.startswith("{") or s == written
            for s, written in zip(template.segments, segments, strict=True)
        ):
            yield template


def keys_of(segments: tuple[Segment, ...], template: PathTemplate[Any]) -> tuple[Segment, ...]:
    """The keys that fill the placeholders of `template`, in their order."""
    pairs = zip(template.segments, segments, strict=True)
    return tuple(written for s, written in pairs if s.startswith("{"))


def near(written: str, templates: Collection[str]) -> str:
    """ " did you mean ...?" for a path that no read stores: first by how it begins."""
    roots = {text.partition(".")[0]: text for text in sorted(templates, reverse=True)}
    root = written.partition(".")[0]
    if root not in roots:
        close = nearest(root, roots, cutoff=0.75)
        if close is not None:
            return f"; did you mean {roots[close]}?"
        return f"; there is {', '.join(sorted(templates))}" if templates else ""
    return suggestion(written, templates)


def literal_problem(
    segments: tuple[Segment, ...], template: PathTemplate[Any], arguments: Collection[str]
) -> str:
    """Why a literal in the place of a key names no record, "" if it may name one."""
    for segment, written in zip(template.segments, segments, strict=True):
        if not segment.startswith("{") or not isinstance(written, str):
            continue
        if "*" in written or "[" in written:
            return (
                f"{written!r} names no record: a path has no wildcards, only keys such as {segment}"
            )
        if written in (segment[1:-1], *arguments):
            return f"{written!r} is no key without braces; write {{{written}}}"
    return ""


def key_problem(key: Key, shape: Shape, *, lists: bool) -> tuple[str, str] | None:
    """(code, why) the value at a key's fields of this shape can name no record, None if it may.

    With `lists`, items of lists count each as a key of their own.
    """
    at = key.root
    for name in key.fields:
        if isinstance(shape, ListOf) and not lists:
            return "type-error", f"{at} is {shape}, of which no one item is meant"
        problem = field_problem(name, shape)
        if problem:
            return "unknown-field", problem
        at, shape = f"{at}.{name}", field_of(shape, name)
    shape = _item_of(shape) if lists else shape
    return None if can_be_key(shape) else ("type-error", f"{at} is {shape}, which names no record")


def field_problem(name: str, shape: Shape) -> str:
    """Why values of a shape, or the items of a list, lack a field; "" if they may have it."""
    shape = _item_of(shape)
    if "*" in name or "[" in name:
        return f"{name!r} is no field: a field stands for all that is in it, without * or []"
    if isinstance(shape, Choice) or (isinstance(shape, Scalar) and shape.kind != "any"):
        return f"{shape} has no fields, so no {name!r}"
    if isinstance(shape, Object) and shape.fields and name not in shape.fields:
        return f"{shape} has no field {name!r}{suggestion(name, shape.fields)}"
    return ""


def field_of(shape: Shape, name: str) -> Shape:
    """The shape of a field, in every item of a list; `any` where nothing is known of it."""
    shape = _item_of(shape)
    if isinstance(shape, MapOf):
        return shape.item
    member = shape.fields.get(name) if isinstance(shape, Object) else None
    return member.shape if member is not None else ANY


def can_be_key(shape: Shape) -> bool:
    """True if a value of this shape can name a record: text or a whole number."""
    match shape:
        case Scalar(kind):
            return kind not in ("float", "bool")
        case Choice(values):
            return not any(isinstance(value, bool) for value in values)
        case _:
            return False


def _item_of(shape: Shape) -> Shape:
    while isinstance(shape, ListOf):
        shape = shape.item
    return shape


def dotted(text: str) -> tuple[str, ...]:
    """The names in `a.b.c`, none for an empty text."""
    return tuple(part for part in text.split(".") if part)
