"""Coverage: clauses, rules and samples of a pack put side by side, and what is left open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ledgeragent.compiler.problems import Place
from ledgeragent.compiler.samples import Sample, Side
from ledgeragent.domain import Clause
from ledgeragent.offline.binding import samples, versions
from ledgeragent.offline.coverage import Coverage, coverage
from ledgeragent.packs import PACKS
from ledgeragent.report.coverage import coverage_markdown, coverage_text
from ledgeragent.verdict import Enforcement
from tests.lending.domain import LEND, LIBRARY, available, days, fines

CLAUSES = (
    Clause(
        id="lending/days",
        section="loans",
        summary="Four weeks | at most.",
        checkable="state",
        predicates=("lending/days", "lending/gone"),
    ),
    Clause(
        id="lending/debts",
        section="loans",
        summary="Debts first.",
        checkable="mixed",
        predicates=("lending/fines",),
        why="What was promised is said.",
    ),
    Clause(
        id="lending/smile",
        section="manners",
        summary="Be kind.",
        checkable="dialogue",
        why="No record holds a smile.",
    ),
    Clause(id="lending/opening", section="loans", summary="By day only.", checkable="state"),
)
OLD = replace(LIBRARY, version="0", predicates=(days, available), clauses=CLAUSES[:1])
NEW = replace(
    LIBRARY,
    clauses=CLAUSES,
    predicates=(days, available, replace(fines, enforcement=Enforcement.AUDIT)),
)


def sample(rule: str, side: Side) -> Sample:
    return Sample(rule=rule, side=side, ledger={}, call=LEND, place=Place("x", 1))


@pytest.fixture
def found() -> Coverage:
    taken = [sample("lending/days", "allowed"), *[sample("lending/days", "rejected")] * 2]
    return coverage((NEW, OLD), taken)


def test_a_clause_has_the_rules_it_names_and_those_that_name_it(found: Coverage) -> None:
    by_clause = {c.clause.id: [rule.rule for rule in c.rules] for c in found.clauses}
    assert by_clause == {
        "lending/days": ["lending/days"],
        "lending/debts": ["lending/fines"],
        "lending/smile": [],
        "lending/opening": [],
    }


def test_what_no_record_decides_is_told_from_what_nobody_wrote(found: Coverage) -> None:
    assert [c.clause.id for c in found.unchecked] == ["lending/smile"]
    assert [c.clause.id for c in found.open] == ["lending/opening"]


def test_a_rule_of_a_clause_that_is_not_listed_is_shown_apart(found: Coverage) -> None:
    assert [rule.rule for rule in found.unlisted] == ["lending/available"]


def test_a_rule_tells_its_samples_its_level_and_the_versions_that_have_it(found: Coverage) -> None:
    first, debts = found.enforced[0].rules[0], found.enforced[1].rules[0]
    assert (first.allowed, first.rejected, first.versions) == (1, 2, ())
    assert (debts.enforcement, debts.versions, debts.decision) == ("audit", ("1",), "block")


def test_writes_without_a_rule_are_listed(found: Coverage) -> None:
    assert found.unguarded == ("move_member", "shelve_book")


def test_the_text_marks_shadow_rules_and_gives_every_reason(found: Coverage) -> None:
    text = coverage_text(found)
    assert "block (audit)" in text
    assert "lending/smile (dialogue): No record holds a smile." in text
    assert "lending/opening (state): no reason is given" in text


def test_a_bar_in_a_summary_does_not_break_the_markdown_table(found: Coverage) -> None:
    page = coverage_markdown(found)
    assert r"Four weeks \| at most." in page
    assert "`lending/fines` (only 1)" in page


@pytest.mark.parametrize("name", PACKS)
def test_every_clause_of_a_shipped_pack_has_a_rule_or_a_reason(name: str) -> None:
    shipped = coverage(tuple(versions(name).values()), samples(name))
    assert all(cover.clause.why for cover in (*shipped.unchecked, *shipped.open))
    assert shipped.unlisted == () and shipped.unguarded == ()
    rules = [rule for cover in shipped.enforced for rule in cover.rules]
    assert all(rule.allowed and rule.rejected for rule in rules)
