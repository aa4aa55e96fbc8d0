"""Paths as a YAML pack writes them: `orders.{order_id}`, `users.{order.user_id}`, `settings.main`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

from ledgeragent.compiler.problems import nearest, suggestion
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
        found = _SEGMENT.match(text, position)
        if found is None:
            return None
        segments.append(_key(found[1], roots) if found[1] else found[2])
        position = found.end()
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
    """What fills the placeholders of `template`, in their order."""
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
