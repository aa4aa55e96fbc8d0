"""Loads a pack written as data: one YAML file, or a folder with `pack.yaml` and its other sections.

`load_pack` gives a `Domain` as Python packs have one; `read_outline` keeps the place of every part and
collects everything that is wrong, for `check`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from pathlib import Path as FilePath

from ledgeragent.compiler.cel.characters import first_refused
from ledgeragent.compiler.cel.engine import library
from ledgeragent.compiler.digest import digest_of
from ledgeragent.compiler.outline import ClausePart, Outline
from ledgeragent.compiler.packfiles import PIECES, pack_files, unread_files
from ledgeragent.compiler.problems import Place, Problems, Severity, suggestion
from ledgeragent.compiler.recordtypes import RecordTypes
from ledgeragent.compiler.routes import Routes
from ledgeragent.compiler.rules import Rules, read_samples
from ledgeragent.compiler.samples import SIDES, samples_from_json
from ledgeragent.compiler.shapes import Object, shape_of_value
from ledgeragent.compiler.source.sections import Sections, place_of
from ledgeragent.compiler.source.toolfile import ToolSpec, read_tools
from ledgeragent.compiler.source.yamlfile import Node, read_yaml
from ledgeragent.compiler.tools import ToolReader
from ledgeragent.compiler.touched import Touched
from ledgeragent.domain import Clause, Domain
from ledgeragent.effects import Read, Tool
from ledgeragent.errors import DataError, DomainError
from ledgeragent.predicates import Predicate
from ledgeragent.types import Json

SCHEMA = "ledgeragent/v1"
LISTS = ("clauses", "rules")
MAPPINGS = ("parameters", "records", "reads", "writes", "shared", "samples")
KEYS = ("schema", "domain", "version", "tools", *MAPPINGS, "neutrals", *LISTS)

_NAME = re.compile(r"[\w-]+")
_LARGEST = 2**63 - 1

CLAUSE_KEYS = ("id", "section", "summary", "checkable", "rules", "why")


def load_pack(path: FilePath | str) -> Domain:
    """The domain of a YAML pack; raises DataError for the first thing that is wrong with it."""
    outline = read_outline(path)
    errors = [f for f in outline.findings if f.severity is Severity.ERROR]
    if errors:
        more = f" (and {len(errors) - 1} more: run ledgeragent check)" if errors[1:] else ""
        first = errors[0]
        raise DataError(f"{first.message}{more}", file=first.place.file, line=first.place.line)
    assert outline.domain is not None
    return outline.domain


def read_outline(path: FilePath | str) -> Outline:
    """Everything that a YAML pack says and what is wrong with it, without raising for the latter.

    Raises DataError where the file is missing, too large or no text.
    """
    outline = Outline(place=Place(str(path), 1))
    files = pack_files(FilePath(path))
    try:
        pieces = [read_yaml(file) for file in files]
    except DataError as problem:
        if problem.line is None:  # no YAML file at all: there is nothing to look at
            raise
        outline.findings.add("syntax", Place(problem.file, problem.line), problem.problem)
        return outline
    library()  # only now: a wrong file name is told before what is not installed
    outline.place = Place(str(files[0]), 1)
    loader = _Loader(outline, pieces)
    loader.load(digest_of(FilePath(path)))
    for file in unread_files(FilePath(path), {*files, loader.tools_file}):
        text = f"this file is no part of the pack, which is pack.yaml, {', '.join(PIECES)}"
        outline.findings.add("unread-file", Place(str(file), 1), text)
    return outline


class _Loader:
    """Reads the sections in the order in which they build on one another."""

    def __init__(self, outline: Outline, pieces: list[Node]) -> None:
        self.outline = outline
        self.sections = Sections(outline.findings)
        self.tools_file: FilePath | None = None
        self.nodes = self._merged(pieces)

    @property
    def findings(self) -> Problems:
        return self.outline.findings

    def load(self, identity: str) -> None:
        """Fills the outline, with a domain if nothing is wrong."""
        self.outline.name = self.sections.text(self.nodes.get("domain"), "domain")
        if self.outline.name and not _NAME.fullmatch(self.outline.name):
            text = f"the domain {self.outline.name!r} should be letters, digits, - and _"
            self.sections.find("syntax", self.nodes["domain"], text)
        version = self.sections.text(self.nodes.get("version"), "version") or "1"
        parameters = self._parameters()
        types = RecordTypes(
            self.sections.entries(self.nodes.get("records"), "records"), self.sections
        )
        types.all()
        routes = Routes(self.outline, self.sections, types, self._specs(), parameters)
        touched = Touched(self.outline, self.sections)
        others = ToolReader(routes, touched)
        tools = [
            *routes.reads(self.nodes.get("reads")),
            *others.writes(self.nodes.get("writes")),
            *others.neutrals(self.nodes.get("neutrals")),
        ]
        shared = touched.shared(self.nodes.get("shared"))
        self._clauses()
        shape = shape_of_value(parameters, "params")
        assert isinstance(shape, Object)
        rules = self.sections.items(self.nodes.get("rules"), "rules")
        self.outline.broken_rules = any(not isinstance(rule.value, dict) for rule in rules) or (
            not rules and any(f.code == "syntax" for f in self.findings)
        )
        predicates = tuple(Rules(self.outline, shape).predicates(rules))
        self._link()
        self._samples()
        self._duplicates()
        domain = self._domain(version, tools, predicates, parameters)
        if domain is not None:
            domain = replace(domain, shared=shared, digest=identity)
        if any(f.severity is Severity.ERROR for f in self.findings):
            self.outline.trial = domain
        else:
            self.outline.domain = domain

    def _domain(
        self,
        version: str,
        tools: Iterable[Tool],
        predicates: Iterable[Predicate],
        parameters: Mapping[str, Json],
    ) -> Domain | None:
        """The domain of everything that is sound."""
        reads = [tool for tool in tools if isinstance(tool, Read)]
        names = {tool.tool for tool in reads}
        others = {tool.tool: tool for tool in tools if tool.tool not in names}
        rules = {rule.id: rule for rule in predicates if others.keys() >= set(rule.guards)}
        try:
            return Domain(
                name=self.outline.name,
                version=version,
                tools=(*reads, *others.values()),
                predicates=tuple(rules.values()),
                clauses=tuple(part.clause for part in self.outline.clauses),
                parameters=parameters,
            )
        except DomainError as problem:
            self.findings.add("syntax", self.outline.place, str(problem))
            return None

    def _merged(self, pieces: list[Node]) -> dict[str, Node]:
        """One mapping of sections out of several files."""
        main, *others = pieces
        if main.value is None:
            text = "the file is empty; a pack begins with schema and domain"
            self.sections.find("syntax", main, text)
            return {}
        nodes = self.sections.mapping(main, "a pack", KEYS, ("schema", "domain"))
        schema = self.sections.text(nodes.get("schema"), "schema")
        if schema and schema != SCHEMA:
            self.sections.find(
                "syntax", nodes["schema"], f"schema should be {SCHEMA}, not {schema}"
            )
        for piece in others:
            sections = self.sections.mapping(piece, "a file of a pack", (*MAPPINGS, *LISTS))
            for name, node in sections.items():
                nodes[name] = self._joined(nodes[name], node, name) if name in nodes else node
        return nodes

    def _joined(self, first: Node, second: Node, name: str) -> Node:
        if name in LISTS:
            items = [*self.sections.items(first, name), *self.sections.items(second, name)]
            return replace(first, value=items)
        entries, more = self.sections.entries(first, name), self.sections.entries(second, name)
        for key in entries.keys() & more.keys():
            text = f"{key} is given in {place_of(entries[key])} too"
            self.sections.find("duplicate-id", more[key], text)
        return replace(first, value={**entries, **more})

    def _parameters(self) -> dict[str, Json]:
        entries = self.sections.entries(self.nodes.get("parameters"), "parameters")
        for name, node in entries.items():
            if isinstance(node.value, int) and abs(node.value) > _LARGEST:
                self.sections.find("syntax", node, f"{name} is too large; write it as a float")
            character = first_refused(node.plain)
            if character:
                text = f"{name} holds the character {character}, which no value may hold"
                self.sections.find("syntax", node, text)
        return {name: node.plain for name, node in entries.items()}

    def _specs(self) -> Mapping[str, ToolSpec]:
        node = self.nodes.get("tools")
        name = self.sections.text(node, "tools")
        if node is None or not name:
            return {}
        file = self.tools_file = FilePath(node.file).parent / name
        try:
            return {spec.name: spec for spec in read_tools(file)}
        except DataError as problem:
            self.sections.find("syntax", node, f"{name}: {problem.problem}")
            return {}

    def _clauses(self) -> None:
        for node in self.sections.items(self.nodes.get("clauses"), "clauses"):
            if not isinstance(node.value, dict):
                self.sections.find("syntax", node, "a clause should be a mapping (key: value)")
                continue
            entries = self.sections.mapping(node, "a clause", CLAUSE_KEYS, ("id", "summary"))
            clause = Clause(
                id=self.sections.text(entries.get("id"), "id"),
                section=self.sections.text(entries.get("section"), "section"),
                summary=self.sections.text(entries.get("summary"), "summary"),
                checkable=self.sections.choice(
                    entries.get("checkable"), "checkable", Clause.CHECKABLE
                ),
                predicates=self.sections.texts(entries.get("rules"), "rules"),
                why=self.sections.text(entries.get("why"), "why"),
            )
            named = place_of(entries["rules"]) if "rules" in entries else None
            self.outline.clauses.append(
                ClausePart(clause=clause, place=place_of(node), rules_at=named)
            )

    def _link(self) -> None:
        """Adds to each clause the rules that name it; finds those that it names and nobody wrote."""
        rules = {rule.id: rule.clause for rule in self.outline.rules}
        for i, part in enumerate(self.outline.clauses):
            for name in part.clause.predicates:
                if name not in rules:
                    text = f"there is no rule {name}{suggestion(name, rules)}"
                    self.findings.add("syntax", part.rules_at or part.place, text)
            own = (rule for rule, clause in rules.items() if clause == part.clause.id)
            linked = tuple(dict.fromkeys((*part.clause.predicates, *own)))
            self.outline.clauses[i] = replace(part, clause=replace(part.clause, predicates=linked))

    def _samples(self) -> None:
        """The samples that stand in a section, or a JSON file, of their own."""
        node = self.nodes.get("samples")
        rules = {rule.id for rule in self.outline.rules}
        if node is not None and isinstance(node.value, str):
            self._samples_from_file(node, rules)
            return
        for rule, child in self.sections.entries(node, "samples").items():
            if rule not in rules:
                self.sections.find(
                    "syntax", child, f"there is no rule {rule}{suggestion(rule, rules)}"
                )
            read_samples(child, rule, self.outline)

    def _samples_from_file(self, node: Node, rules: Collection[str]) -> None:
        file = FilePath(node.file).parent / node.value
        try:
            samples = samples_from_json(file)
        except DataError as problem:
            place = Place(problem.file, problem.line or 1)
            self.findings.add("syntax", place, problem.problem)
            self.outline.broken_samples |= {(rule, side) for rule in rules for side in SIDES}
            return
        if not samples:
            self.sections.find("syntax", node, f"{file} holds no samples")
        for sample in samples:
            if sample.rule not in rules:
                text = f"there is no rule {sample.rule}{suggestion(sample.rule, rules)}"
                self.findings.add("syntax", sample.place, text)
        self.outline.samples += samples

    def _duplicates(self) -> None:
        """Ids and tools that are given twice; the core would refuse them without a line."""
        self._unique("rule", [(rule.id, rule.place) for rule in self.outline.rules])
        clauses = [(part.clause.id, part.place) for part in self.outline.clauses]
        self._unique("clause", clauses)
        reads = {part.tool: part.place for part in reversed(self.outline.reads)}
        others = [(p.tool, p.place) for p in (*self.outline.writes, *self.outline.neutrals)]
        self._unique("tool", [*reads.items(), *others])

    def _unique(self, what: str, entries: list[tuple[str, Place]]) -> None:
        first: dict[str, Place] = {}
        for name, place in entries:
            if name and name in first:
                text = f"the {what} {name} is given twice; first at {first[name]}"
                self.findings.add("duplicate-id", place, text)
            first.setdefault(name, place)
