"""Mistakes planted in packs: the last run of all of them, and a few of each pack tried again."""

from __future__ import annotations

import pytest

from tools.markdown import result

pytest.importorskip("cel_expr_python")

from benchmarks.packmutants import KINDS, MOST, PACKS, chosen, mutants_of, report

LEAST = 0.95
"""The share of the planted mistakes that `check` or `test` reports at the right place."""


def test_nearly_all_are_reported_at_the_right_place() -> None:
    kinds = result("packmutants.json")["kinds"]
    assert {kind["kind"] for kind in kinds} == set(KINDS)
    whole = sum(kind["mutants"] for kind in kinds)
    assert whole == MOST == len(chosen())
    assert sum(kind["check"] + kind["test"] for kind in kinds) >= LEAST * whole


@pytest.mark.parametrize("pack", PACKS)
def test_each_changes_one_line(pack: str) -> None:
    for mutant in mutants_of(pack):
        assert mutant.after != mutant.before


@pytest.mark.parametrize(
    ("kind", "by"),
    [("slip in a field", "check"), ("equal for unequal", "test"), ("another type", "check")],
)
def test_a_few_are_tried_again(kind: str, by: str) -> None:
    mutant = next(m for m in mutants_of("examples/parking/pack.yaml") if m.kind == kind)
    told = report(mutant)
    assert (told.by, told.right) == (by, True)
