"""The records that a rule requires: read from `requires`, checked, each with the path it is fetched by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ledgeragent.compiler.cel.activation import EACH, Requirement
from ledgeragent.compiler.cel.surroundings import NAMES
from ledgeragent.compiler.outline import Need, Outline
from ledgeragent.compiler.shapes import ANY, ListOf, MapOf, Object, Shape
from ledgeragent.compiler.source.keys import (
    Key,
    Segment,
    field_of,
    key_problem,
    keys_of,
    literal_problem,
    near,
    parse_path,
    serving,
)
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.paths import PathTemplate

REQUIREMENT_KEYS = ("at", "each", "when", "always")


@dataclass(frozen=True, slots=True)
class WrittenRequirement:
    """A requirement as written, before its condition is compiled."""

    at: Node
    requirement: Requirement
    when: Node | None
    each: Node | None


@dataclass(slots=True)
class Requirements:
    """Reads the required records of one rule, in order; each adds the shape of its name to `shapes`."""

    outline: Outline
    sections: Sections
    shapes: dict[str, Shape]

    def read(self, name: str, node: Node) -> WrittenRequirement | None:
        """The record required by this name, None (and findings) where something is wrong with it."""
        entries = {"at": node}
        if isinstance(node.value, dict):
            entries = self.sections.mapping(node, f"the required {name}", REQUIREMENT_KEYS, ("at",))
        path = self.sections.text(entries.get("at"), name)
        if entries.get("at") is node and node.value in (None, ""):
            self.sections.find("syntax", node, f"the required {name} needs a path")
        if "each" in entries:
            self.shapes[EACH] = self._item(entries["each"])
        segments = parse_path(path, self.shapes.keys() - self._bare_arguments())
        record = self._served(path, segments, entries.get("at", node)) if path else None
        for segment in segments or ():
            if isinstance(segment, Key) and segment.root not in self.shapes:
                text = f"{segment.root!r} is not defined here: a path can use the records above it"
                self.sections.find("unknown-path", entries.get("at", node), text)
                record = None
        fits = record is not None and self._names_a_record(
            segments or (), record[0], entries.get("at", node)
        )
        of_each = self.shapes.pop(EACH, None) is not None
        shape = record[1] if record is not None else ANY
        self.shapes[name] = MapOf(shape) if of_each else shape
        if record is None or segments is None or not fits:
            return None
        if of_each and not any(isinstance(s, Key) and s.root == EACH for s in segments):
            text = f"the path of {name} does not name its item; write {{each}}, or {{each.field}}"
            self.sections.find("unknown-path", entries["each"], text)
            return None
        return WrittenRequirement(
            at=entries["at"],
            requirement=Requirement(
                name=name,
                at=record[0],
                keys=tuple(map(self._marked, keys_of(segments, record[0]))),
                always=self.sections.flag(entries.get("always"), "always"),
            ),
            when=entries.get("when"),
            each=entries.get("each"),
        )

    def _item(self, node: Node) -> Shape:
        """The shape of the items, where the list is a field that is named; else nothing is known of it."""
        root, *fields = str(node.value).strip().split(".")
        shape = self.shapes.get(root, ANY)
        for name in fields:
            shape = field_of(shape, name)
        return shape.item if isinstance(shape, ListOf) else ANY

    def _bare_arguments(self) -> frozenset[str]:
        """Arguments whose names are those of the time or the like: in a path they are meant."""
        arguments = self.shapes["args"]
        return NAMES.intersection(arguments.fields if isinstance(arguments, Object) else ())

    def _names_a_record(
        self, segments: tuple[Segment, ...], template: PathTemplate[Any], node: Node
    ) -> bool:
        """False (and findings) where a key is a wildcard, or has a value that is no key."""
        arguments = self.shapes["args"]
        fields = arguments.fields if isinstance(arguments, Object) else ()
        literal = literal_problem(segments, template, fields)
        problems = [("unknown-path", literal)] if literal else []
        for key in segments:
            if isinstance(key, Key):
                problem = key_problem(key, self.shapes.get(key.root, ANY), lists=False)
                # A field that is not there is found where all that the rule reads is declared.
                problems += [problem] if problem and problem[0] != "unknown-field" else []
        for code, text in problems[:1]:
            self.sections.find(code, node, text)
        return not problems

    def _marked(self, segment: Segment) -> Segment:
        """The key, marked where it may have no value."""
        if isinstance(segment, str):
            return segment
        shape = self.shapes.get(segment.root)
        for name in segment.fields:
            member = shape.fields.get(name) if isinstance(shape, Object) else None
            if member is not None and not member.certain:
                return replace(segment, optional=True)
            shape = member.shape if member is not None else ANY
        return segment

    def _served(
        self, path: str, segments: tuple[Segment, ...] | None, node: Node
    ) -> tuple[Any, Shape] | None:
        templates = {part.to.text: part.to for part in self.outline.reads}
        if segments is None:
            text = f"{path!r} is no path such as orders.{{order_id}} or users.{{order.user_id}}"
            self.sections.find("unknown-path", node, text)
            return None
        template = next(serving(segments, templates.values()), None)
        if template is None:
            self._unserved(path, segments, templates, node)
            return None
        return template, next(part.shape for part in self.outline.reads if part.to is template)

    def _unserved(
        self, path: str, segments: tuple[Segment, ...], templates: Mapping[str, Any], node: Node
    ) -> None:
        """A family that no read fills is missing evidence; a near miss of one is a wrong path."""
        if self.outline.broken_reads:
            return
        roots = {text.partition(".")[0] for text in templates}
        hint = near(path, templates)
        if segments[0] in roots or "did you mean" in hint:
            self.sections.find("unknown-path", node, f"no read stores {path!r}{hint}")
        else:
            text = f"no read tool of this pack supplies {path!r}, so it could never be had"
            self.sections.find("no-evidence", node, text)


def needs(node: Node | None, outline: Outline) -> Iterator[Need]:
    """The records under `requires`, as far as their paths can be read."""
    templates = {part.to.text: part.to for part in outline.reads}
    entries = node.value if node is not None and isinstance(node.value, dict) else {}
    for entry in entries.values():
        at = entry.value.get("at") if isinstance(entry.value, dict) else entry
        if at is not None and isinstance(at.value, str):
            segments = parse_path(at.value, ("args", "params", EACH, *entries))
            template = next(serving(segments, templates.values()), None) if segments else None
            yield Need(path=at.value, to=template, place=place_of(at))
