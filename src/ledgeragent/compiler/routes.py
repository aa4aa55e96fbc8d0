"""The routes of a YAML pack: where the records go that its reads, and its writes, answer with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ledgeragent.compiler.cel.variables import uses
from ledgeragent.compiler.conditions import RouteCondition, always, compile_condition
from ledgeragent.compiler.forms import text_form
from ledgeragent.compiler.inside import Inside, json_or_text
from ledgeragent.compiler.outline import EVERY, Outline, ReadPart
from ledgeragent.compiler.problems import suggestion
from ledgeragent.compiler.recordtypes import RecordTypes
from ledgeragent.compiler.shapes import (
    ANY,
    TEXT,
    Object,
    Shape,
    annotation,
    is_text,
    shape_of_value,
)
from ledgeragent.compiler.source.keys import (
    Key,
    can_be_key,
    dotted,
    field_of,
    key_problem,
    near,
    parse_path,
)
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.toolfile import ToolSpec
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.compiler.touched import check_field
from ledgeragent.effects import Read, ReturnRoute, Tool, structured, text, whole
from ledgeragent.errors import PathError
from ledgeragent.paths import PathTemplate
from ledgeragent.types import Arguments, Json

_KEYS = ("to", "record", "rename", "parse", "form", "inside", "each", "merge", "when")
READ_KEYS = (*_KEYS, "parameters", "failed", "unavailable")
RETURN_KEYS = (*_KEYS, "omit")


@dataclass(slots=True)
class Routes:
    """Builds the routes of a pack; what they are goes to `outline`, the core's form is returned."""

    outline: Outline
    sections: Sections
    types: RecordTypes
    specs: Mapping[str, ToolSpec]
    parameters: Mapping[str, Json] = field(default_factory=dict)

    # ── Reads ───────────────────────────────────────────────────────────────────────────────────

    def reads(self, node: Node | None) -> Iterator[Tool]:
        """One read, or several for a tool with a list of routes."""
        if node is not None and not isinstance(node.value, dict | None):
            self.outline.broken_reads = True
        for tool, entry in self.sections.entries(node, "reads").items():
            for route in entry.value if isinstance(entry.value, list) else [entry]:
                definition = self._read(tool, route)
                if definition is not None:
                    yield definition
                else:
                    self.outline.broken_reads = True

    def _read(self, tool: str, node: Node) -> Read[Any] | None:
        entries = self.sections.mapping(node, f"the read {tool}", READ_KEYS, ("to",))
        to = self.sections.text(entries.get("to"), "to")
        if not to:
            return None
        inside = dotted(self.sections.text(entries.get("inside"), "inside"))
        each = dotted(self.sections.text(entries.get("each"), "each"))
        place = (*inside, *each)
        shape = self._record(tool, entries, place, "each" in entries)
        template = self._template(to, shape, entries["to"])
        if template is None:
            return None
        parameters = self._parameters(tool, entries, template, node)
        spec = self.specs.get(tool)
        accepted = spec.arguments if spec is not None and not spec.open else ANY
        self._check_keys(tool, entries, template, shape, accepted)
        merge = self.sections.flag(entries.get("merge"), "merge")
        when = self._when(entries.get("when"))
        renames = self._renames(entries.get("rename"))
        minded = {renames.get(key, key) for key in template.keys}
        self.outline.reads.append(
            ReadPart(
                tool=tool,
                to=template,
                shape=shape,
                place=place_of(node),
                parameters=parameters,
                inside=place,
                each="each" in entries,
                merge=merge,
                accepts=spec.argument_names if spec is not None else (),
                minded=frozenset(
                    minded | (when.arguments if isinstance(when, RouteCondition) else set())
                ),
            )
        )
        return Read(
            tool=tool,
            to=template,
            parameters=parameters,
            parse=self._parser(entries, shape, "each" in entries or bool(inside)),
            rename=renames,
            records=Inside(place, "each" in entries) if place or "each" in entries else whole,
            envelope=place[:1],
            when=when,
            merge=merge,
            failed=self.begins(entries, "failed"),
            unavailable=self.begins(entries, "unavailable"),
        )

    def _check_keys(
        self,
        tool: str,
        entries: Mapping[str, Node],
        template: PathTemplate[Any],
        shape: Shape,
        arguments: Shape,
    ) -> None:
        """Finds keys that no return and no argument can fill, so that nothing would be stored."""
        renames = self._renames(entries.get("rename"))
        for name in renames.keys() - set(template.keys):
            text = f"{template.text} has no key {name!r}{suggestion(name, template.keys)}"
            self.sections.find("unknown-field", entries["rename"], text)
        for key in template.keys:
            key_shape = field_of(shape, key) if isinstance(shape, Object) else None
            if isinstance(shape, Object) and key in shape.fields:
                usable = key_shape is not None and can_be_key(key_shape)
                text = f"{key} of {shape} is {key_shape}, which names no record"
            elif isinstance(shape, Object) and not shape.fields:
                continue
            else:
                name = renames.get(key, key)
                problem = key_problem(Key(root=tool, fields=(name,)), arguments, lists=False)
                usable, text = problem is None, problem[1] if problem is not None else ""
            if not usable:
                self.sections.find("type-error", entries["to"], text)

    def _record(
        self, tool: str, entries: Mapping[str, Node], inside: tuple[str, ...], each: bool
    ) -> Shape:
        if "record" in entries:
            return self.types.shape(entries["record"], f"the record of {tool}")
        spec = self.specs.get(tool)
        return spec.returned(inside, each) if spec is not None else ANY

    def _template(self, to: str, shape: Shape, node: Node) -> PathTemplate[Any] | None:
        segments = parse_path(to, ())
        for part in self.outline.reads:
            if _family(part.to.segments) == _family(to.split(".")) and part.shape != shape:
                text = f"{to} holds {part.shape} by line {part.place.line}, and {shape} here"
                self.sections.find("type-error", node, text)
                return part.to
            if part.to.text == to:
                return part.to
        if segments is None or any(isinstance(s, Key) and s.root != "args" for s in segments):
            self.sections.find(
                "unknown-path", node, f"{to!r} is no path such as orders.{{order_id}}"
            )
            return None
        try:
            return PathTemplate(to, annotation(shape))
        except PathError as problem:
            self.sections.find("unknown-path", node, str(problem))
            return None

    def _parameters(
        self, tool: str, entries: Mapping[str, Node], template: PathTemplate[Any], node: Node
    ) -> tuple[str, ...]:
        """The required arguments: as written, else of the tools file, else what the path's keys tell."""
        if "parameters" in entries:
            return self.sections.texts(entries["parameters"], "parameters")
        if tool in self.specs:
            return self.specs[tool].required
        if "each" in entries:
            text = (
                f"the read {tool} needs `parameters`: the arguments it is called with ([] for none)"
            )
            self.sections.find("syntax", node, text)
        renames = self._renames(entries.get("rename"))
        return tuple(renames.get(key, key) for key in template.keys)

    def _renames(self, node: Node | None) -> dict[str, str]:
        entries = self.sections.entries(node, "rename")
        return {key: self.sections.text(child, "rename") for key, child in entries.items()}

    def _parser(
        self, entries: Mapping[str, Node], shape: Shape, inside: bool
    ) -> Callable[[str], Json]:
        """How answers are read; `inside` where the record stands somewhere in the return."""
        if "form" in entries:
            return text_form(entries["form"], is_text(shape) and not inside, self.sections)
        node = entries.get("parse")
        parse = self.sections.choice(node, "parse", ("json", "text")) if node is not None else None
        if parse == "text" or (parse is None and shape == TEXT):
            return text
        return json_or_text if is_text(shape) and not inside else structured

    def _when(self, node: Node | None) -> Callable[[Arguments], bool]:
        if node is None:
            return always
        roots = {"args": ANY, "params": shape_of_value(self.parameters, "params")}
        program = compile_condition(node, roots, self.outline.findings)
        if program is not None:
            named = (use for use in uses(program.tree) if use.root.startswith("params"))
            self.outline.parameters_read |= {
                [*use.root.split("."), *use.fields, EVERY][1] for use in named
            }
        return RouteCondition(program, self.parameters) if program is not None else always

    def begins(self, entries: Mapping[str, Node], key: str) -> Callable[[str], bool]:
        """True for an answer that begins with one of the texts under this key."""
        node = entries.get(key)
        items = node.value if node is not None and isinstance(node.value, list) else [node]
        for item in items:
            if item is not None and item.value in ("", None):
                text = f'{key} is the text that an answer begins with, and every one begins with ""'
                self.sections.find("syntax", item, text)
        prefixes = self.sections.texts(node, key)
        return lambda answer: answer.startswith(prefixes)

    # ── What writes return ──────────────────────────────────────────────────────────────────────

    def returns(
        self, tool: str, node: Node | None, arguments: Object
    ) -> Iterator[ReturnRoute[Any]]:
        """The routes of what a write answers with: one mapping, or a list of them."""
        for entry in node.value if node is not None and isinstance(node.value, list) else [node]:
            route = self._return(tool, entry, arguments) if entry is not None else None
            if route is not None:
                yield route

    def _return(self, tool: str, node: Node, arguments: Object) -> ReturnRoute[Any] | None:
        entries = self.sections.mapping(node, f"what {tool} returns", RETURN_KEYS, ("to",))
        to = self.sections.text(entries.get("to"), "to")
        part = self._read_family(to, entries["to"]) if to else None
        if part is None:
            return None
        inside = dotted(self.sections.text(entries.get("inside"), "inside"))
        place = (*inside, *dotted(self.sections.text(entries.get("each"), "each")))
        shape = part.shape
        if "record" in entries:
            shape = self._record(tool, entries, place, "each" in entries)
        template = self._template(to, shape, entries["to"])
        if template is None:
            return None
        omit = self.sections.texts(entries.get("omit"), "omit")
        for name in omit:
            check_field(shape, (name,), entries.get("omit"), self.sections)
        merge = self.sections.flag(entries.get("merge"), "merge")
        returned = replace(
            part,
            tool=tool,
            to=template,
            place=place_of(node),
            parameters=(),
            inside=place,
            each="each" in entries,
            merge=merge,
        )
        self._check_keys(tool, entries, template, shape, arguments if arguments.fields else ANY)
        self.outline.returns.append(replace(returned, omit=frozenset(omit)))
        return ReturnRoute(
            to=template,
            parse=self._parser(entries, shape, bool(place) or "each" in entries),
            rename=self._renames(entries.get("rename")),
            records=Inside(place, "each" in entries) if place or "each" in entries else whole,
            envelope=place[:1],
            when=self._when(entries.get("when")),
            merge=merge,
            omit=frozenset(omit),
        )

    def _read_family(self, to: str, node: Node) -> ReadPart | None:
        """The first read that stores records of this family; None (and a finding) for none."""
        for part in self.outline.reads:
            if _family(part.to.segments) == _family(to.split(".")):
                return part
        if not self.outline.broken_reads:
            hint = near(to, [part.to.text for part in self.outline.reads])
            self.sections.find("unknown-path", node, f"no read stores {to!r}{hint}")
        return None


def _family(segments: Iterable[str]) -> tuple[str, ...]:
    """The segments of a path whatever its keys are called: two with the same hold the same records."""
    return tuple("{}" if segment.startswith("{") else segment for segment in segments)
