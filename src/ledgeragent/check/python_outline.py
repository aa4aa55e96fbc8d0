"""A Python pack as an outline: its parts from the domain, their places from the source."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path as FilePath
from types import FunctionType, ModuleType
from typing import Any

from ledgeragent.check.functions import place_of
from ledgeragent.check.python_source import read_rule
from ledgeragent.compiler.outline import ClausePart, Need, Outline, ReadPart, RulePart, ToolPart
from ledgeragent.compiler.problems import Place
from ledgeragent.compiler.samples import samples_from_json
from ledgeragent.compiler.shapes import Object, Shape, shape_of
from ledgeragent.domain import Domain
from ledgeragent.effects import Neutral, Read, Write
from ledgeragent.files.reading import read_text
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.predicates import Predicate


def outline_of(module: ModuleType, domain: Domain, all_versions: Iterable[Domain]) -> Outline:
    """The outline of one version of the pack that a module holds."""
    return _Reader(module, domain, all_versions).outline()


class _Reader:
    """Finds the parts of one domain in the modules around it."""

    def __init__(self, module: ModuleType, domain: Domain, all_versions: Iterable[Domain]) -> None:
        self._domain = domain
        self._file = FilePath(str(module.__file__))
        files = _files(module)
        self._strings = {**dict(_strings(files)), **dict(_tools(files))}
        # A rule may serve several versions, so evidence counts as supplied if any of them reads it.
        self._families = [
            tool.to for version in all_versions for tool in version.tools if isinstance(tool, Read)
        ]

    def outline(self) -> Outline:
        """The whole pack."""
        domain, folder = self._domain, self._file.parent
        outline = Outline(place=Place(str(self._file), 1), name=domain.name, domain=domain)
        for tool in domain.tools:
            place = self._place(tool.tool)
            match tool:
                case Read():
                    outline.reads.append(_read(tool, place))
                case Write(arguments=arguments):
                    shape = _arguments(tool.tool, arguments)
                    outline.writes.append(ToolPart(tool=tool.tool, arguments=shape, place=place))
                case Neutral(arguments=arguments):
                    signature = _arguments(tool.tool, arguments) if arguments is not None else None
                    outline.neutrals.append(
                        ToolPart(tool=tool.tool, arguments=signature, place=place)
                    )
        outline.rules += [self._rule(predicate) for predicate in domain.predicates]
        outline.clauses += self._clauses(folder / "clauses.toml")
        ids = {rule.id for rule in outline.rules}
        outline.samples += [
            sample
            for sample in samples_from_json(folder / "samples.json")
            if sample.rule in ids and sample.speaks_of(domain.version)
        ]
        outline.elsewhere += self._families
        return outline

    def _place(self, text: str) -> Place:
        return self._strings.get(text, Place(str(self._file), 1))

    def _rule(self, predicate: Predicate) -> RulePart:
        check = predicate.check
        place = place_of(check) if isinstance(check, FunctionType) else self._place(predicate.id)
        return RulePart(
            id=predicate.id,
            guards=predicate.guards,
            clause=predicate.clause,
            place=place,
            needs=tuple(self._needs(check)) if isinstance(check, FunctionType) else (),
        )

    def _needs(self, check: FunctionType) -> Iterator[Need]:
        """The records that a rule demands, itself or through the helpers it calls."""
        for reading in read_rule(check):
            for family, place in reading.demanded:
                text = family.text if isinstance(family, PathTemplate) else str(family)
                yield Need(path=text, to=self._supplied(family), place=place)

    def _supplied(self, family: PathTemplate[Any] | Path[Any]) -> PathTemplate[Any] | None:
        if isinstance(family, PathTemplate):
            return next(
                (template for template in self._families if template.text == family.text), None
            )
        return next(
            (template for template in self._families if template.match(family) is not None), None
        )

    def _clauses(self, file: FilePath) -> Iterator[ClausePart]:
        text = read_text(file) if file.exists() else ""
        for clause in self._domain.clauses:
            match = re.search(rf'^id\s*=\s*"{re.escape(clause.id)}"', text, re.MULTILINE)
            line = text.count("\n", 0, match.start()) + 1 if match else 1
            place = Place(str(file if text else self._file), line)
            yield ClausePart(clause=clause, place=place)


def _read(tool: Read[Any], place: Place) -> ReadPart:
    plain = Read(tool=tool.tool, to=tool.to)
    whole = tool.records is plain.records and tool.parse is plain.parse
    return ReadPart(
        tool=tool.tool,
        to=tool.to,
        shape=shape_of(tool.to.record),
        place=place,
        parameters=tuple(tool.parameters),
        inside=() if whole else None,
        merge=tool.merge,
        minded=frozenset(tool.rename.get(key, key) for key in tool.to.keys),
    )


def _arguments(tool: str, hint: Any) -> Shape:
    shape = shape_of(hint)
    return Object(f"the call of {tool}", shape.fields) if isinstance(shape, Object) else shape


def _files(module: ModuleType) -> list[str]:
    """The source files of the pack: those of its package, where it is one, `paths` first."""
    prefix = module.__name__ if hasattr(module, "__path__") else module.__name__.rpartition(".")[0]
    names = [name for name in sys.modules if prefix and name.startswith(prefix)] or [
        module.__name__
    ]
    files = {str(sys.modules[name].__file__) for name in names if sys.modules[name].__file__}
    return sorted(files, key=lambda file: (FilePath(file).stem != "paths", file))


def _tools(files: Iterable[str]) -> Iterator[tuple[str, Place]]:
    """Every name that is given as `tool=`, with its place: where a tool is made, not only named."""
    for file in files:
        for node in ast.walk(ast.parse(read_text(file))):
            if isinstance(node, ast.keyword) and node.arg == "tool":
                value = node.value
                if isinstance(value, ast.Constant) and isinstance(value.value, str):
                    yield value.value, Place(file, value.lineno)


def _strings(files: Iterable[str]) -> Iterator[tuple[str, Place]]:
    """Every string constant with its place; the first place of the first file is yielded last."""
    constants = [
        (node.value, Place(file, node.lineno))
        for file in files
        for node in ast.walk(ast.parse(read_text(file)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return reversed(constants)
