"""The package runs where Python does: what only one kind of system has stands in one place."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator

from tests.contracts.imports import SOURCE, modules, place, tree_of

ROOT = SOURCE.parents[1]

ONE_SYSTEM = {"fcntl", "grp", "msvcrt", "posix", "pwd", "resource", "termios", "winreg"}
"""Modules of the standard library that only POSIX systems have, or only Windows."""

ONE_LOOP = {"add_signal_handler", "remove_signal_handler"}
"""What the event loop of Windows does not do."""

PLACES = ("files/allowance.py", "journal/lock.py")
"""The limit of a process's memory, and the lock of a journal."""

PLAIN = {"ledgeragent", "tests", "pytest", "hypothesis", "yaml", *sys.stdlib_module_names}
"""What the tests that run on every system and Python may import before they can be skipped."""

OWN = {"benchmarks.packmutants", "tools.markdown", "tools.survivors"}
"""Modules beside the package that need none but these either."""


def _imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module or ""


def test_only_few_places_ask_for_one_system() -> None:
    users = {place(f) for f in modules().values() if ONE_SYSTEM & {*_imported(tree_of(f))}}
    assert users == {*PLACES}


def test_they_ask_for_it_once_they_know_the_system() -> None:
    files = [f for f in modules().values() if place(f) in PLACES]
    imports = (
        n for f in files for n in tree_of(f).body if isinstance(n, ast.Import | ast.ImportFrom)
    )
    assert not ONE_SYSTEM & {name for node in imports for name in _imported(node)}


def test_nothing_asks_the_loop_for_what_windows_has_not() -> None:
    users = {
        place(file)
        for file in modules().values()
        for node in ast.walk(tree_of(file))
        if isinstance(node, ast.Attribute) and node.attr in ONE_LOOP
    }
    assert users == set()


def test_what_runs_everywhere_imports_what_is_everywhere() -> None:
    """The workflow leaves out the folders whose tests need an extra; the others must not ask for one."""
    workflow = (ROOT / ".github/workflows/ci.yml").read_text()
    left_out = {ROOT / name for name in re.findall(r"--ignore (tests/\S+)", workflow)}
    files = [f for f in ROOT.glob("tests/**/test_*.py") if not left_out & {f, *f.parents}]
    assert files
    needs = {
        f"{file.relative_to(ROOT)}: {name}"
        for file in files
        for node in tree_of(file).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in _imported(ast.Module([node], []))
        if name not in OWN and name.partition(".")[0] not in PLAIN
    }
    assert needs == set()
