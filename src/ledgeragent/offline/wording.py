"""Where a rule is written, and in which words."""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType
from typing import NamedTuple

from ledgeragent.compiler.cel.rule import CelCheck
from ledgeragent.compiler.source.yamlfile import Node
from ledgeragent.predicates import Predicate


class WrittenPart(NamedTuple):
    """A part of a rule (`check`, `let NAME`, `requires NAME`) as its author wrote it; code has no text."""

    part: str
    text: str
    file: str
    line: int


def written_parts(rule: Predicate) -> Iterator[WrittenPart]:
    """The parts of a rule in the order in which they build on one another, () where its file is unknown."""
    check = rule.check
    if isinstance(check, CelCheck):
        yield from _of_cel(check)
    elif isinstance(check, FunctionType):
        code = check.__code__
        names = check.__module__.split(".")
        name = [] if code.co_filename.endswith("__init__.py") else [f"{names.pop()}.py"]
        file = "/".join([*names, *(name or ["__init__.py"])])  # the same wherever it is installed
        yield WrittenPart("check", "", file, code.co_firstlineno)


def _of_cel(check: CelCheck) -> Iterator[WrittenPart]:
    lets: dict[str, Node] = {}
    for requirement in check.requires:
        for part, program in (("when", requirement.when), ("each", requirement.each)):
            if program is not None:
                lets.update(program.source.lets)
                yield _part(f"{part} {requirement.name}", program.source.body)
    if check.test is not None:
        lets.update(check.test.source.lets)
        yield from (_part(f"let {name}", node) for name, node in lets.items())
        yield _part("check", check.test.source.body)


def _part(name: str, node: Node) -> WrittenPart:
    return WrittenPart(name, str(node.value).strip(), node.file, node.begins)
