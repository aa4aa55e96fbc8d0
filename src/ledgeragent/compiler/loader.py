"""Loads a pack written as data: one YAML file, or a folder with `pack.yaml` and its other sections.

`load_pack` gives a `Domain` as Python packs have one; `read_outline` keeps the place of every part and
collects everything that is wrong, for `check`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path as FilePath

from ledgeragent.compiler.cel.engine import library
from ledgeragent.compiler.cel.rule import CelCheck
from ledgeragent.compiler.cel.surroundings import Surroundings
from ledgeragent.compiler.clauses import link_clauses, read_clauses
from ledgeragent.compiler.constants import (
    find_unused,
    read_definitions,
    read_parameters,
    read_timezone,
    readers_of,
)
from ledgeragent.compiler.definitions import Definitions
from ledgeragent.compiler.digest import digest_of
from ledgeragent.compiler.dispatches import read_dispatches
from ledgeragent.compiler.merging import merged
from ledgeragent.compiler.outline import Outline
from ledgeragent.compiler.packfiles import PIECES, included_files, pack_files, unread_files
from ledgeragent.compiler.problems import Place, Problems, Severity
from ledgeragent.compiler.recordtypes import RecordTypes
from ledgeragent.compiler.routes import Routes
from ledgeragent.compiler.rules import Rules
from ledgeragent.compiler.rulesamples import samples_of_pack
from ledgeragent.compiler.shapes import Object, shape_of_value
from ledgeragent.compiler.source.sections import Sections
from ledgeragent.compiler.source.toolfile import ToolSpec, read_tools
from ledgeragent.compiler.source.yamlfile import Node, read_yaml
from ledgeragent.compiler.tools import ToolReader
from ledgeragent.compiler.touched import Touched
from ledgeragent.dispatching import dispatching
from ledgeragent.domain import Domain
from ledgeragent.effects import Read, Tool
from ledgeragent.errors import DataError, DomainError
from ledgeragent.predicates import Predicate
from ledgeragent.types import Json

_NAME = re.compile(r"[\w-]+")


def load_pack(path: FilePath | str) -> Domain:
    """The domain of a YAML pack; raises DataError for the first thing that is wrong with it."""
    return domain_of(read_outline(path))


def domain_of(outline: Outline) -> Domain:
    """The domain of an outline that was read; raises DataError for the first thing that is wrong."""
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
        shared = included_files(pieces[0])
        pieces += [read_yaml(file) for file in shared]
    except DataError as problem:
        if problem.line is None:  # no YAML file at all: there is nothing to look at
            raise
        outline.findings.add("syntax", Place(problem.file, problem.line), problem.problem)
        return outline
    library()  # only now: a wrong file name is told before what is not installed
    outline.place = Place(str(files[0]), 1)
    loader = _Loader(outline, pieces)
    loader.load(digest_of(FilePath(path), shared))
    for file in unread_files(FilePath(path), {*files, *shared, loader.tools_file}):
        text = f"this file is no part of the pack, which is pack.yaml, {', '.join(PIECES)}"
        outline.findings.add("unread-file", Place(str(file), 1), text)
    return outline


class _Loader:
    """Reads the sections in the order in which they build on one another."""

    def __init__(self, outline: Outline, pieces: list[Node]) -> None:
        self.outline = outline
        self.sections = Sections(outline.findings)
        self.tools_file: FilePath | None = None
        self.nodes = merged(pieces, self.sections)

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
        parameters = read_parameters(self.nodes.get("parameters"), self.sections)
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
        dispatches = tuple(read_dispatches(self.nodes.get("dispatch"), self.sections, self.outline))
        shared = touched.shared(self.nodes.get("shared"))
        read_clauses(self.nodes.get("clauses"), self.sections, self.outline)
        shape = shape_of_value(parameters, "params")
        assert isinstance(shape, Object)
        rules = self.sections.items(self.nodes.get("rules"), "rules")
        self.outline.broken_rules = any(not isinstance(rule.value, dict) for rule in rules) or (
            not rules and any(f.code == "syntax" for f in self.findings)
        )
        surroundings = Surroundings(
            zone=read_timezone(self.nodes.get("timezone"), self.sections),
            writes=readers_of(tools, self.outline),
        )
        definitions = Definitions(read_definitions(self.nodes.get("define"), self.sections))
        reader = Rules(self.outline, shape, surroundings, definitions)
        predicates = tuple(reader.predicates(rules))
        self.outline.has_code |= self.sections.has_code
        find_unused(self.nodes, definitions, self.outline)
        link_clauses(self.outline)
        samples_of_pack(self.nodes.get("samples"), self.sections, self.outline)
        self._duplicates()
        domain = self._domain(version, tools, predicates, parameters)
        if domain is not None:
            checks = [rule.check for rule in predicates if isinstance(rule.check, CelCheck)]
            timed = any(check.surroundings.timed for check in checks)
            domain = replace(
                domain,
                shared=shared,
                digest=identity,
                timed=timed,
                timezone=surroundings.zone.key,
            )
            sound = [one for one in dispatches if domain.tool(one.tool) is None]
            domain = dispatching(domain, *sound) if sound else domain
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
