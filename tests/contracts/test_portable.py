"""The package runs where Python does: what only one kind of system has stands in one place."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.contracts.imports import modules, place, tree_of

ONE_SYSTEM = {"fcntl", "grp", "msvcrt", "posix", "pwd", "resource", "termios", "winreg"}
"""Modules of the standard library that only POSIX systems have, or only Windows."""

ONE_LOOP = {"add_signal_handler", "remove_signal_handler"}
"""What the event loop of Windows does not do."""

LOCK = "journal/lock.py"


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_only_the_lock_asks_for_one_system() -> None:
    users = {place(f) for f in modules().values() if ONE_SYSTEM & {*_imported(tree_of(f))}}
    assert users == {LOCK}


def test_the_lock_asks_for_it_once_it_knows_the_system() -> None:
    (file,) = (f for f in modules().values() if place(f) == LOCK)
    imports = (n for n in tree_of(file).body if isinstance(n, ast.Import | ast.ImportFrom))
    assert not ONE_SYSTEM & {name for node in imports for name in _imported(node)}


def test_nothing_asks_the_loop_for_what_windows_has_not() -> None:
    users = {
        place(file)
        for file in modules().values()
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Attribute) and node.attr in ONE_LOOP
    }
    assert users == set()
