"""Lists that may be a part of what they stand for: a filtered or paged read is not the whole list."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ledgeragent.compiler.filters import filters
from ledgeragent.compiler.outline import Outline, ReadPart
from ledgeragent.compiler.shapes import ListOf, Object
from ledgeragent.compiler.source.toolfile import ToolSpec


def check_lists(outline: Outline, specs: Sequence[ToolSpec] = ()) -> None:
    """Adds routes that store a list at a path which does not tell how the read was narrowed."""
    arguments = {spec.name: tuple(spec.argument_names) for spec in specs}
    for part in outline.reads:
        _apart(part, outline)
        left = _unsaid(part, arguments)
        if left:
            names = " and ".join(left)
            text = (
                f"{part.tool} may answer a part of the list, by {names}, which {part.to.text} does"
            )
            without = " && ".join(f"!has(args.{name})" for name in left)
            text += (
                f' not tell; put that into the path, or keep whole lists only: when: "{without}"'
            )
            outline.findings.add("partial-list", part.place, text)


def _apart(part: ReadPart, outline: Outline) -> None:
    """Adds a route that keeps all elements of a list at one path, the last over the others."""
    fields = part.shape.fields if isinstance(part.shape, Object) else {}
    if part.each and fields and not fields.keys() & {*part.to.keys}:
        keys = ", ".join(part.to.keys) or "none"
        text = f"all records that {part.tool} lists land on one path, and the last one stays: no key of"
        text += f" {part.to.text} ({keys}) is a field of {part.shape}"
        outline.findings.add("one-path", part.place, text)


def _unsaid(part: ReadPart, arguments: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The arguments that narrow the read and stand neither in its path nor in its condition."""
    holds_list = isinstance(part.shape, ListOf)
    if part.each or part.inside is None or not (holds_list or _has_list(part)):
        return ()
    names = dict.fromkeys((*part.parameters, *part.accepts, *arguments.get(part.tool, ())))
    narrowing = filters(names, paging_only=not holds_list)
    return tuple(name for name in narrowing if name not in part.minded)


def _has_list(part: ReadPart) -> bool:
    fields = part.shape.fields.values() if isinstance(part.shape, Object) else ()
    return any(isinstance(field.shape, ListOf) for field in fields)
