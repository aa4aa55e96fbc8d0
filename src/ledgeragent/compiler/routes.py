"""The sections `reads`, `writes`, `neutrals` and `shared` of a YAML pack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ledgeragent.compiler.cel.characters import Unreadable
from ledgeragent.compiler.cel.library import CelError, Source, environment, parse
from ledgeragent.compiler.cel.programs import Program, compile_expression
from ledgeragent.compiler.cel.scope import Scope
from ledgeragent.compiler.cel.variables import uses
from ledgeragent.compiler.marks import Marks
from ledgeragent.compiler.outline import Outline, ReadPart, ToolPart
from ledgeragent.compiler.problems import Place, Problems, suggestion
from ledgeragent.compiler.recordtypes import RecordTypes
from ledgeragent.compiler.shapes import (
    ANY,
    TEXT,
    Object,
    Shape,
    annotation,
    shape_of_value,
    typed_dict,
)
from ledgeragent.compiler.source.keys import (
    Key,
    Segment,
    can_be_key,
    field_of,
    field_problem,
    key_problem,
    keys_of,
    literal_problem,
    near,
    parse_path,
    serving,
)
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.toolfile import ToolSpec
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.effects import Neutral, Read, ReturnRoute, Tool, Touches, Write, text
from ledgeragent.errors import PathError
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.paths import PathTemplate
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
RETURN_KEYS = ("to", "record", "rename", "parse", "inside", "each", "merge", "when", "omit")
WRITE_KEYS = ("arguments", "open", "touches", "untouched", "returns", "failed", "unguarded")


@dataclass(slots=True)
class Routes:
    """Builds the tools of a pack; what they are goes to `outline`, the core's form is returned."""

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
        inside = _dotted(self.sections.text(entries.get("inside"), "inside"))
        each = _dotted(self.sections.text(entries.get("each"), "each"))
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
                minded=frozenset(minded | (when.arguments if isinstance(when, _When) else set())),
            )
        )
        return Read(
            tool=tool,
            to=template,
            parameters=parameters,
            parse=self._parser(entries.get("parse"), shape),
            rename=renames,
            records=_Records(place, "each" in entries),
            when=when,
            merge=merge,
            failed=self._begins(entries, "failed"),
            unavailable=self._begins(entries, "unavailable"),
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

    def _parser(self, node: Node | None, shape: Shape) -> Callable[[str], Json]:
        if node is None:
            return text if shape == TEXT else parse_json
        return (
            text if self.sections.choice(node, "parse", ("json", "text")) == "text" else parse_json
        )

    def _when(self, node: Node | None) -> Callable[[Arguments], bool]:
        if node is None:
            return _always
        roots = {"args": ANY, "params": shape_of_value(self.parameters, "params")}
        program = compile_condition(node, roots, self.outline.findings)
        return _When(program, self.parameters) if program is not None else _always

    def _begins(self, entries: Mapping[str, Node], key: str) -> Callable[[str], bool]:
        """True for an answer that begins with one of the texts under this key."""
        node = entries.get(key)
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
            keys = self.sections.mapping(entry, f"the write {tool}", WRITE_KEYS)
            shape = self._arguments(tool, keys.get("arguments"))
            reason = self.sections.text(keys.get("unguarded"), "unguarded")
            touches = keys.get("touches")
            why = self.sections.text(keys.get("untouched"), "untouched")
            items = self.sections.items(touches, "touches")
            if items and why:
                self.sections.find("syntax", keys["untouched"], f"{tool} touches records, as said")
            part = ToolPart(
                tool=tool,
                arguments=shape,
                place=place_of(entry),
                unguarded=reason,
                marks=bool(
                    items or why or (touches and not isinstance(touches.value, list | None))
                ),
            )
            self.outline.writes.append(part)
            yield Write(
                tool=tool,
                arguments=typed_dict(tool, shape.fields),
                touches=tuple(self._touches(touches, shape)),
                returns=tuple(self._returns(tool, keys.get("returns"), shape)),
                failed=self._begins(keys, "failed"),
                open=self._open(tool, keys, shape),
            )

    def _returns(
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
        inside = _dotted(self.sections.text(entries.get("inside"), "inside"))
        place = (*inside, *_dotted(self.sections.text(entries.get("each"), "each")))
        shape = part.shape
        if "record" in entries:
            shape = self._record(tool, entries, place, "each" in entries)
        template = self._template(to, shape, entries["to"])
        if template is None:
            return None
        omit = self.sections.texts(entries.get("omit"), "omit")
        for name in omit:
            self._check_field(shape, (name,), entries.get("omit"))
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
            parse=self._parser(entries.get("parse"), shape),
            rename=self._renames(entries.get("rename")),
            records=_Records(place, "each" in entries),
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
            keys = (
                self.sections.mapping(entry, f"the neutral {tool}", ("arguments", "open"))
                if isinstance(entry.value, dict)
                else {}
            )
            has_arguments = "arguments" in keys or tool in self.specs
            shape = self._arguments(tool, keys.get("arguments")) if has_arguments else None
            part = ToolPart(tool=tool, arguments=shape, place=place_of(entry))
            self.outline.neutrals.append(part)
            if shape is None:
                yield Neutral(tool=tool)
                continue
            named = typed_dict(tool, shape.fields)
            yield Neutral(tool=tool, arguments=named, open=self._open(tool, keys, shape))

    def _open(self, tool: str, entries: Mapping[str, Node], shape: Object) -> bool:
        """True where calls may carry arguments that are named nowhere, or none are named at all."""
        spec = self.specs.get(tool)
        flag = self.sections.flag(entries.get("open"), "open")
        by_file = "arguments" not in entries and spec is not None and spec.open
        return flag or by_file or not shape.fields

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
                function = self.sections.python(item.value["python"])
                if function is not None:
                    yield function
                continue
            for path, fields in self._touched(item):
                mark = self._touch(path, fields, arguments, item)
                if mark is not None:
                    yield mark

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
        literal = literal_problem(parse_path(path, ()) or (), template, arguments.fields)
        keys = tuple(_of_arguments(segment, arguments) for segment in segments)
        problems = [self._key_problem(key, arguments) for key in keys if isinstance(key, Key)]
        if literal:
            problems.insert(0, ("unknown-path", literal))
        for code, problem in filter(None, problems):
            self.sections.find(code, item, problem)
            return None
        return Marks(template, keys, self._prefixes(template, fields), arguments)

    def _key_problem(self, key: Key, arguments: Object) -> tuple[str, str] | None:
        if key.root != "args":
            text = f"touches can name arguments only, not {key}; use python: module:function"
            return "unknown-path", text
        if arguments.fields and key.fields[0] not in arguments.fields:
            hint = suggestion(key.fields[0], arguments.fields)
            return "unknown-field", f"{arguments} has no argument {key.fields[0]!r}{hint}"
        return key_problem(key, arguments, lists=True)

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
            text = field_problem(name, shape)
            if text:
                assert node is not None
                self.sections.find("unknown-field", node, text)
                return
            shape = field_of(shape, name)

    def _family(
        self, path: str, node: Node
    ) -> tuple[PathTemplate[Any], tuple[Segment, ...]] | None:
        templates = {part.to.text: part.to for part in self.outline.reads}
        segments = parse_path(path, ())
        template = next(serving(segments, templates.values()), None) if segments else None
        if (template is None or segments is None) and self.outline.broken_reads:
            return None
        if template is None or segments is None:
            hint = near(path, templates)
            self.sections.find("unknown-path", node, f"no read stores {path!r}{hint}")
            return None
        return template, keys_of(segments, template)

    def shared(self, node: Node | None) -> Callable[[Ledger], Iterable[Touch]] | None:
        """What the user may change on a turn: fields of every observed record of these families."""
        families: list[tuple[PathTemplate[Any], tuple[tuple[str, ...], ...]]] = []
        for path, fields in self.sections.entries(node, "shared").items():
            family = self._family(path, fields)
            if family is not None:
                families.append((family[0], self._prefixes(family[0], fields)))
        return _Shared(tuple(families)) if families else None


def compile_condition(node: Node, roots: Mapping[str, Shape], findings: Problems) -> Program | None:
    """A CEL condition over these names, or None and findings."""
    source = Source.of(node)
    tree = parse(source, findings)
    scope = Scope(roots, findings)
    if tree is None:
        return None
    scope.tested |= {(use.root, *use.fields) for use in uses(tree) if use.tested}
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


def _of_arguments(segment: Segment, arguments: Object) -> Segment:
    """The key `{lines.item_id}` as what it is for a write: a field of the argument `lines`."""
    if isinstance(segment, Key) and segment.root in arguments.fields:
        return Key(root="args", fields=(segment.root, *segment.fields))
    return segment


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
    """A route's condition on `args` and the domain's `params`.

    What it cannot decide is no case for the route.
    """

    program: Program
    parameters: Mapping[str, Json] = field(default_factory=dict)

    @property
    def arguments(self) -> set[str]:
        """The arguments that it names."""
        named = {
            use.fields[0] for use in uses(self.program.tree) if use.root == "args" and use.fields
        }
        dotted = (use.root.split(".") for use in uses(self.program.tree))
        return named | {parts[1] for parts in dotted if parts[0] == "args" and parts[1:]}

    def __call__(self, arguments: Arguments) -> bool:
        values = {}
        for variable in self.program.variables:
            try:
                whole = self.parameters if variable.root == "params" else arguments
                values[variable.name] = variable.reader(whole)
            except KeyError:
                continue
            except Unreadable:
                return False
        try:
            return self.program(values) is True
        except CelError:
            return False


@dataclass(frozen=True, slots=True)
class _Shared:
    """Marks fields of every observed record of some families."""

    families: tuple[tuple[PathTemplate[Any], tuple[tuple[str, ...], ...]], ...]

    def __call__(self, ledger: Ledger) -> Iterator[Touch]:
        for template, prefixes in self.families:
            for entry in ledger.glob(template):
                yield from (Touch(entry.path, prefix) for prefix in prefixes)
