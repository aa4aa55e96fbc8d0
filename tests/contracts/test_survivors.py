"""The last mutation run of the core: its tests tell mutants from the code, and why the others live."""

from __future__ import annotations

from tools.markdown import result
from tools.survivors import is_equivalent, reasons

FLOOR = 0.95
"""The share of the mutants that can be told from the code, which the tests tell from it."""

MODULES = result("mutants.json")["modules"].values()
SURVIVORS = [one for module in MODULES for one in module["survivors"]]


def test_the_core_s_tests_kill_what_can_be_killed() -> None:
    equivalent = sum(map(is_equivalent, SURVIVORS))
    others = sum(module["mutants"] for module in MODULES) - equivalent
    assert others - (len(SURVIVORS) - equivalent) >= FLOOR * others


def test_every_reason_is_that_of_a_survivor() -> None:
    survivors = {(one["function"], one["line"], one["mutant"]) for one in SURVIVORS}
    assert reasons().keys() - survivors == set(), "take it off tests/survivors.toml"
