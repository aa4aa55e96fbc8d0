"""The source as the contracts read it: modules, their rooms, and who imports whom."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "ledgeragent"
PACKAGE = SOURCE.name


def place(file: Path) -> str:
    """The file as seen from the package's folder."""
    return file.relative_to(SOURCE).as_posix()


@cache
def modules() -> dict[str, Path]:
    """Every module by its dotted name; a package is its `__init__.py`."""
    return {name_of(file): file for file in sorted(SOURCE.rglob("*.py"))}


def name_of(file: Path) -> str:
    """The dotted name of a module."""
    parts = file.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree_of(file: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def imports() -> dict[str, frozenset[str]]:
    """The package's own modules that each module imports, at any depth of nesting."""
    return {name: frozenset(_imported(file) - {name}) for name, file in modules().items()}


def _imported(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            whole = {f"{node.module}.{alias.name}" for alias in node.names}
            submodules = whole & modules().keys()
            names |= submodules if submodules == whole else submodules | {node.module or ""}
    return names & modules().keys()
