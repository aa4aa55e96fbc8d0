"""The source of a function: where it stands, its syntax tree, and the names that it binds."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from types import FunctionType

from ledgeragent.compiler.problems import Place
from ledgeragent.errors import DataError
from ledgeragent.files.reading import read_text

Function = ast.FunctionDef | ast.Lambda


@lru_cache(maxsize=256)
def _parsed(file: str) -> ast.Module | None:
    try:
        return ast.parse(read_text(file))
    except (OSError, DataError, SyntaxError, ValueError):
        return None


def place_of(function: FunctionType) -> Place:
    """Where a function begins (with its first decorator)."""
    return Place(function.__code__.co_filename, function.__code__.co_firstlineno)


def tree_of(function: FunctionType) -> Function | None:
    """The syntax tree of a function, None where its source is not at hand."""
    module = _parsed(function.__code__.co_filename)
    first = function.__code__.co_firstlineno
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            if min([node.lineno, *(d.lineno for d in node.decorator_list)]) == first:
                return node
        elif (
            isinstance(node, ast.Lambda)
            and node.lineno == first
            and function.__name__ == "<lambda>"
        ):
            return node
    return None


def assigned_often(tree: Function) -> Iterator[str]:
    """Names that are bound more than once, so that no one shape is theirs."""
    own = {
        id(name)
        for node in ast.walk(tree)
        if isinstance(node, ast.comprehension)
        for name in ast.walk(node.target)
    }
    seen: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in own:
            if node.id in seen:
                yield node.id
            seen.add(node.id)


def alternatives(pattern: ast.pattern) -> list[ast.pattern]:
    """The patterns that `|` joins, the one alone where nothing does."""
    return pattern.patterns if isinstance(pattern, ast.MatchOr) else [pattern]
