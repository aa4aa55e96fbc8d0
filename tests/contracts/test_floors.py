"""The house: a file at the root is core, folders stand on floors, imports go down, none in a circle."""

from __future__ import annotations

import pytest

from tests.contracts.imports import PACKAGE, SOURCE, imports, modules
from tests.contracts.test_core import CORE

FLOORS: tuple[frozenset[str], ...] = (
    frozenset(CORE),
    frozenset({"files", "dispatching"}),
    frozenset({"journal", "engines"}),
    frozenset({"session", "stores"}),
    frozenset({"compiler"}),
    frozenset({"check"}),
    frozenset({"packs"}),
    frozenset({"offline"}),
    frozenset({"mining"}),
    frozenset({"adapters", "gateway", "mcp"}),
    frozenset({"report", "demo"}),
    frozenset({"bench"}),
    frozenset({"cli"}),
)
"""Lowest first: a room imports itself, and what stands on the floors below."""

PUBLIC = {"__init__", "__main__", "testing"}
"""Files at the root that are no core: what users import, and how they start it."""

APART = {"compiler": {"journal", "session"}}
"""Rooms that do not see a room below them."""


def room(module: str) -> str:
    """The folder a module stands in, or its own name at the root."""
    return module.split(".")[1] if "." in module else "__init__"


def floor(name: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if name in rooms)


def test_a_file_at_the_root_is_core() -> None:
    assert {file.stem for file in SOURCE.glob("*.py")} - PUBLIC == set(CORE)


def test_every_folder_stands_on_a_floor() -> None:
    folders = {file.parent.name for file in SOURCE.glob("*/__init__.py")}
    assert folders == set().union(*FLOORS[1:])


@pytest.mark.parametrize("module", [name for name in modules() if room(name) not in PUBLIC])
def test_no_arrow_goes_up(module: str) -> None:
    own = room(module)
    others = {room(name) for name in imports()[module]} - {own}
    up = {name for name in others - {"__init__"} if name in PUBLIC or floor(name) >= floor(own)}
    if own in CORE:
        up = {name for name in others if name not in CORE[: CORE.index(own)]}
    # The protocol's proxy shares with the adapters what is common to all of them.
    shared = {"ledgeragent.adapters.common"}
    if own == "mcp" and {n for n in imports()[module] if room(n) == "adapters"} <= shared:
        up -= {"adapters"}
    assert not up
    assert not others & APART.get(own, set())


def test_the_package_itself_is_asked_only_for_its_version() -> None:
    askers = {name for name, seen in imports().items() if PACKAGE in seen}
    assert {room(name) for name in askers} <= {"gateway", "report", "cli"}


def test_no_imports_in_a_circle() -> None:
    left = dict(imports())
    while free := {name for name, seen in left.items() if not seen & left.keys()}:
        left = {name: seen for name, seen in left.items() if name not in free}
    assert not left, f"these import one another: {sorted(left)}"
