"""Rows that are put together without their class's own constructor have every field of it."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator

import pytest

from tests.contracts.imports import SOURCE

ROW = "tuple.__new__"


def names_of(tree: ast.Module) -> set[str]:
    """What a module calls the constructor of all tuples."""
    aliases = (node for node in tree.body if isinstance(node, ast.Assign))
    names = {ast.unparse(node.targets[0]) for node in aliases if ast.unparse(node.value) == ROW}
    return names | {ROW}


def rows() -> Iterator[tuple[str, int, str, list[ast.expr]]]:
    """The module and line of each such row, its class, and what its fields are."""
    for file in sorted(SOURCE.rglob("*.py")):
        if ROW not in file.read_text():
            continue
        tree = ast.parse(file.read_text())
        names = names_of(tree)
        module = ".".join(("ledgeragent", *file.relative_to(SOURCE).with_suffix("").parts))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in names:
                kind, fields = node.args
                assert isinstance(fields, ast.Tuple), (
                    f"{module}:{node.lineno}: spell its fields out"
                )
                yield module, node.lineno, ast.unparse(kind), fields.elts


ROWS = list(rows())


def test_there_are_such_rows() -> None:
    assert len(ROWS) > 10


@pytest.mark.parametrize(
    ("module", "line", "made", "fields"), ROWS, ids=[f"{r[0]}:{r[1]}" for r in ROWS]
)
def test_a_row_has_every_field(module: str, line: int, made: str, fields: list[ast.expr]) -> None:
    kind = getattr(importlib.import_module(module), made)
    spread = any(isinstance(field, ast.Starred) for field in fields)
    fits = len(fields) <= len(kind._fields) if spread else len(fields) == len(kind._fields)
    assert fits, f"{module}:{line}: {made} has {kind._fields}"
