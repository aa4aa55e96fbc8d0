"""The sections `reads`, `writes`, `neutrals` and `shared` of a YAML pack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ledgeragent.compiler.cel.library import CelError, Source, environment, parse
from ledgeragent.compiler.cel.programs import Program, compile_expression
from ledgeragent.compiler.cel.scope import Scope
from ledgeragent.compiler.cel.variables import uses
from ledgeragent.compiler.outline import Outline, ReadPart, ToolPart
from ledgeragent.compiler.problems import Place, Problems, suggestion
from ledgeragent.compiler.recordtypes import RecordTypes
from ledgeragent.compiler.shapes import ANY, TEXT, Object, Shape, annotation, typed_dict
from ledgeragent.compiler.source.keys import Key, Segment, keys_of, near, parse_path, serving
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.toolfile import ToolSpec
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.effects import Neutral, Read, Tool, Touches, Write, text
from ledgeragent.errors import PathError
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.types import Arguments, Json, parse_json

READ_KEYS = (
    "to",
    "record",
    "parameters",
    "rename",
    "parse",
    "inside",
    "each",
    "merge",
    "when",
    "failed",
    "unavailable",
)
WRITE_KEYS = ("arguments", "open", "touches", "failed", "unguarded")


@dataclass(slots=True)
class Routes:
    """Builds the tools of a pack; what they are goes to `outline`, the core's form is returned."""

    outline: Outline
    sections: Sections
    types: RecordTypes
    specs: Mapping[str, ToolSpec]

    # ── Reads ───────────────────────────────────────────────────────────────────────────────────

    def reads(self, node: Node | None) -> Iterator[Tool]:
        """One read, or several for a tool with a list of routes."""
        if node is not None and not isinstance(node.value, dict | None):
            self.outline.broken_reads = True
        for tool, entry in self.sections.entries(node, "reads").items():
            for route in entry.value if isinstance(entry.value, list) else [entry]:
                made = self._read(tool, route)
                if made is not None:
                    yield made
                else:
                    self.outline.broken_reads = True

    def _read(self, tool: str, node: Node) -> Read[Any] | None:
        given = self.sections.mapping(node, f"the read {tool}", READ_KEYS, ("to",))
        to = self.sections.text(given.get("to"), "to")
        if not to:
            return None
        inside = _dotted(self.sections.text(given.get("inside"), "inside"))
        each = _dotted(self.sections.text(given.get("each"), "each"))
        place = (*inside, *each)
        shape = self._record(tool, given, place, "each" in given)
        template = self._template(to, shape, given["to"])
        if template is None:
            return None
        parameters = self._parameters(tool, given, template, node)
        merge = self.sections.flag(given.get("merge"), "merge")
        self.outline.reads.append(
            ReadPart(
                tool=tool,
                to=template,
                shape=shape,
                place=place_of(node),
                parameters=parameters,
                inside=place,
                each="each" in given,
                merge=merge,
            )
        )
        return Read(
            tool=tool,
            to=template,
            parameters=parameters,
            parse=self._parser(given.get("parse"), shape),
            rename=self._renames(given.get("rename")),
            records=_Records(place, "each" in given),
            when=self._when(given.get("when")),
            merge=merge,
            failed=self._begins(given, "failed"),
            unavailable=self._begins(given, "unavailable"),
        )

    def _record(
        self, tool: str, given: Mapping[str, Node], inside: tuple[str, ...], each: bool
    ) -> Shape:
        if "record" in given:
            return self.types.shape(given["record"], f"the record of {tool}")
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
        self, tool: str, given: Mapping[str, Node], template: PathTemplate[Any], node: Node
    ) -> tuple[str, ...]:
        """The required arguments: as written, else of the tools file, else what the path's keys tell."""
        if "parameters" in given:
            return self.sections.texts(given["parameters"], "parameters")
        if tool in self.specs:
            return self.specs[tool].required
        if "each" in given:
            text = (
                f"the read {tool} needs `parameters`: the arguments it is called with ([] for none)"
            )
            self.sections.find("syntax", node, text)
        renames = self._renames(given.get("rename"))
        return tuple(renames.get(key, key) for key in template.keys)

    def _renames(self, node: Node | None) -> dict[str, str]:
        entries = self.sections.entries(node, "rename")
        return {key: self.sections.text(child, "rename") for key, child in entries.items()}

    def _parser(self, node: Node | None, shape: Shape) -> Callable[[str], Json]:
        if node is None:
            return text if shape == TEXT else parse_json
        return (
            text if self.sections.choice(node, "parse", ("json", "text")) == "text" else parse_json
        )

    def _when(self, node: Node | None) -> Callable[[Arguments], bool]:
        if node is None:
            return _always
        program = compile_condition(node, {"args": ANY}, self.outline.findings)
        return _When(program) if program is not None else _always

    def _begins(self, given: Mapping[str, Node], key: str) -> Callable[[str], bool]:
        """True for an answer that begins with one of the texts under this key."""
        node = given.get(key)
        items = node.value if node is not None and isinstance(node.value, list) else [node]
        for item in items:
            if item is not None and item.value in ("", None):
                text = f'{key} is the text that an answer begins with, and every one begins with ""'
                self.sections.find("syntax", item, text)
        prefixes = self.sections.texts(node, key)
        return lambda answer: answer.startswith(prefixes)

    # ── Writes ──────────────────────────────────────────────────────────────────────────────────

    def writes(self, node: Node | None) -> Iterator[Tool]:
        """The write tools."""
        for tool, entry in self.sections.entries(node, "writes").items():
            given = self.sections.mapping(entry, f"the write {tool}", WRITE_KEYS)
            shape = self._arguments(tool, given.get("arguments"))
            reason = self.sections.text(given.get("unguarded"), "unguarded")
            part = ToolPart(tool=tool, arguments=shape, place=place_of(entry), unguarded=reason)
            self.outline.writes.append(part)
            touches = given.get("touches")
            yield Write(
                tool=tool,
                arguments=typed_dict(tool, shape.fields),
                touches=tuple(self._touches(touches, shape)),
                failed=self._begins(given, "failed"),
                open=self._open(tool, given, shape),
            )

    def neutrals(self, node: Node | None) -> Iterator[Tool]:
        """The tools that neither read nor write: a list of names, or names with their arguments."""
        if node is not None and isinstance(node.value, list):
            entries = [(self.sections.text(item, "neutrals"), item) for item in node.value]
        else:
            entries = [*self.sections.entries(node, "neutrals").items()]
        for tool, entry in entries:
            if not tool:
                self.sections.find("syntax", entry, "neutrals holds an item without a name")
                continue
            given = (
                self.sections.mapping(entry, f"the neutral {tool}", ("arguments", "open"))
                if isinstance(entry.value, dict)
                else {}
            )
            told = "arguments" in given or tool in self.specs
            shape = self._arguments(tool, given.get("arguments")) if told else None
            part = ToolPart(tool=tool, arguments=shape, place=place_of(entry))
            self.outline.neutrals.append(part)
            if shape is None:
                yield Neutral(tool=tool)
                continue
            named = typed_dict(tool, shape.fields)
            yield Neutral(tool=tool, arguments=named, open=self._open(tool, given, shape))

    def _open(self, tool: str, given: Mapping[str, Node], shape: Object) -> bool:
        """True where calls may carry arguments that are named nowhere, or none are named at all."""
        spec = self.specs.get(tool)
        told = self.sections.flag(given.get("open"), "open")
        by_file = "arguments" not in given and spec is not None and spec.open
        return told or by_file or not shape.fields

    def _arguments(self, tool: str, node: Node | None) -> Object:
        if node is None:
            spec = self.specs.get(tool)
            shape = spec.arguments if spec is not None else Object(tool)
        else:
            shape = self.types.shape(node, f"the arguments of {tool}")
        if isinstance(shape, Object):
            return Object(f"the call of {tool}", shape.fields)
        assert node is not None
        self.sections.find(
            "syntax", node, f"the arguments of {tool} should be a mapping name: type"
        )
        return Object(tool)

    # ── What changes ────────────────────────────────────────────────────────────────────────────

    def _touches(self, node: Node | None, arguments: Object) -> Iterator[Touches]:
        for item in self.sections.items(node, "touches"):
            if isinstance(item.value, dict) and set(item.value) == {"python"}:
                found = self.sections.python(item.value["python"])
                if found is not None:
                    yield found
                continue
            for path, fields in self._touched(item):
                made = self._touch(path, fields, arguments, item)
                if made is not None:
                    yield made

    def _touched(self, item: Node) -> Iterator[tuple[str, Node | None]]:
        if isinstance(item.value, dict):
            yield from item.value.items()
        else:
            yield self.sections.text(item, "touches"), None

    def _touch(
        self, path: str, fields: Node | None, arguments: Object, item: Node
    ) -> Touches | None:
        family = self._family(path, item)
        if family is None:
            return None
        template, segments = family
        for segment in segments:
            if not isinstance(segment, Key):
                continue
            if segment.root != "args":
                text = (
                    f"touches can name arguments only, not {segment}; use python: module:function"
                )
                self.sections.find("unknown-path", item, text)
                return None
            if arguments.fields and segment.fields[0] not in arguments.fields:
                hint = suggestion(segment.fields[0], arguments.fields)
                text = f"{arguments} has no argument {segment.fields[0]!r}{hint}"
                self.sections.find("unknown-field", item, text)
        return _Touch(template, segments, self._prefixes(template, fields))

    def _prefixes(
        self, template: PathTemplate[Any], node: Node | None
    ) -> tuple[tuple[str, ...], ...]:
        prefixes = tuple(map(_dotted, self.sections.texts(node, "the touched fields")))
        shape = next(part.shape for part in self.outline.reads if part.to is template)
        for prefix in prefixes:
            self._check_field(shape, prefix, node)
        return prefixes or ((),)

    def _check_field(self, shape: Shape, prefix: tuple[str, ...], node: Node | None) -> None:
        for name in prefix:
            if not isinstance(shape, Object) or not shape.fields:
                return
            if name not in shape.fields:
                assert node is not None
                text = f"{shape} has no field {name!r}{suggestion(name, shape.fields)}"
                self.sections.find("unknown-field", node, text)
                return
            shape = shape.fields[name].shape

    def _family(
        self, path: str, node: Node
    ) -> tuple[PathTemplate[Any], tuple[Segment, ...]] | None:
        templates = {part.to.text: part.to for part in self.outline.reads}
        segments = parse_path(path, ())
        found = next(serving(segments, templates.values()), None) if segments else None
        if (found is None or segments is None) and self.outline.broken_reads:
            return None
        if found is None or segments is None:
            hint = near(path, templates)
            self.sections.find("unknown-path", node, f"no read stores {path!r}{hint}")
            return None
        return found, keys_of(segments, found)

    def shared(self, node: Node | None) -> Callable[[Ledger], Iterable[Touch]] | None:
        """What the user may change on a turn: fields of every observed record of these families."""
        found: list[tuple[PathTemplate[Any], tuple[tuple[str, ...], ...]]] = []
        for path, fields in self.sections.entries(node, "shared").items():
            family = self._family(path, fields)
            if family is not None:
                found.append((family[0], self._prefixes(family[0], fields)))
        return _Shared(tuple(found)) if found else None


def compile_condition(node: Node, roots: Mapping[str, Shape], findings: Problems) -> Program | None:
    """A CEL condition over these names, or None and findings."""
    source = Source.of(node)
    tree = parse(source, findings)
    scope = Scope(roots, findings)
    if tree is None:
        return None
    sound = scope.declare([(use, source.place(use.at)) for use in uses(tree)], frozenset())
    program = compile_expression(source, scope, environment(scope.variables.values()))
    if program is not None and program.type not in ("BOOL", "DYN"):
        text = f"when gives {program.type.lower()}, it should give true or false"
        findings.add("type-error", Place(node.file, node.begins), text)
    return program if sound else None


def _family(segments: Iterable[str]) -> tuple[str, ...]:
    """The segments of a path whatever its keys are called: two with the same hold the same records."""
    return tuple("{}" if segment.startswith("{") else segment for segment in segments)


def _dotted(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(".") if part)


def _always(arguments: Arguments) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class _Records:
    """Finds the record (with `each`: the records) inside a return."""

    inside: tuple[str, ...]
    each: bool

    def __call__(self, value: Json, arguments: Arguments) -> Iterable[Json]:
        for name in self.inside:
            if not isinstance(value, Mapping) or name not in value:
                raise ValueError(f"the return has no field {'.'.join(self.inside)!r}")
            value = value[name]
        if not self.each:
            return (value,)
        if isinstance(value, Mapping):
            return value.values()
        if isinstance(value, list):
            return value
        raise ValueError("the return holds no list of records")


@dataclass(frozen=True, slots=True)
class _When:
    """A route's condition; what it cannot decide is no case for the route."""

    program: Program

    def __call__(self, arguments: Arguments) -> bool:
        values = {}
        for variable in self.program.variables:
            try:
                values[variable.name] = variable.read(arguments)
            except KeyError:
                continue
        try:
            return self.program(values) is True
        except CelError:
            return False


@dataclass(frozen=True, slots=True)
class _Touch:
    """Marks `fields` of the record that the arguments name."""

    template: PathTemplate[Any]
    keys: tuple[Segment, ...]
    fields: tuple[tuple[str, ...], ...]

    def __call__(self, arguments: Arguments, ledger: Ledger) -> Iterator[Touch]:
        keys = []
        for key in self.keys:
            value = key if isinstance(key, str) else arguments.get(key.fields[0])
            if value is None:
                return
            keys.append(str(value))
        path: Path[Any] = self.template(*keys)
        yield from (Touch(path, prefix) for prefix in self.fields)


@dataclass(frozen=True, slots=True)
class _Shared:
    """Marks fields of every observed record of some families."""

    families: tuple[tuple[PathTemplate[Any], tuple[tuple[str, ...], ...]], ...]

    def __call__(self, ledger: Ledger) -> Iterator[Touch]:
        for template, prefixes in self.families:
            for entry in ledger.glob(template):
                yield from (Touch(entry.path, prefix) for prefix in prefixes)
