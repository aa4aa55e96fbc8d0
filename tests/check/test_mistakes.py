"""Expressions: what CEL itself does not see, and several mistakes in one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.check import findings_of
from tests.compiler.yaml_pack import outline_of as yaml_outline
from tests.compiler.yaml_pack import text_of

pytest.importorskip("cel_expr_python")
from tests.check.reading import told


@pytest.mark.parametrize(
    ("expression", "code", "message"),
    [
        ("loan.copies.all(c, c.prize > 1.0)", "unknown-field", "Copy has no field 'prize'"),
        ("loan.copies[0].tag == 'x'", "unknown-field", "did you mean tags?"),
        ("member.cards['c'].pints > 1", "unknown-field", "Card has no field 'pints'"),
        ("member.cards.all(k, member.cards[k].kin == '')", "unknown-field", "did you mean kind?"),
        ("loan.copies.map(c, c.shelf)[0] == 3", "type-error", "text is never equal to int"),
        ("loan.copies.filter(c, c.price > 'x') == []", "type-error", "'>' does not apply to"),
        ("loan.copies.all(c, c.price * 2 > 1)", "type-error", "does not mix int and float"),
        (
            "loan.copies.all(c, c.mark == null)",
            "type-error",
            "a field that is null counts as absent",
        ),
        (
            "loan.copies.exists(c, c.price in ['a'])",
            "type-error",
            "float is never in a list of text",
        ),
        ("member.level == 'silver'", "impossible-value", "member.level is one of gold, basic"),
        ("'silver' in [member.level]", "impossible-value", "never 'silver'"),
        ("member.level in ['gold', 'silver']", "impossible-value", "never 'silver'"),
        ("loan.desk['flor'] == 1", "unknown-field", "did you mean floor?"),
    ],
)
def test_what_cel_does_not_see(tmp_path: Path, expression: str, code: str, message: str) -> None:
    requires = "{loan: 'loans.{loan_id}', member: 'members.{loan.member_id}'}"
    outline = yaml_outline(tmp_path, text_of(expression, requires=requires))
    assert not outline.findings, outline.findings
    (finding,) = [f for f in findings_of(outline) if f.rule and f.code != "missing-samples"]
    assert (finding.code, finding.place.line) == (code, 31)
    assert message in finding.message


MISTAKES = {
    "nobody == 1": "unknown-path",
    "somebody.name.first == 'x'": "unknown-path",
    "has(anybody.name)": "unknown-path",
    "loan.feee > 1.0": "unknown-field",
    "has(loan.noet) && loan.noet == 'x'": "unknown-field",
    "loan.desk.flor == 1": "unknown-field",
    "loan.copies.all(c, c.prize > 1.0)": "unknown-field",
    "member.cards['c'].pints > 1": "unknown-field",
    "loan.note == 'x'": "type-error",
    "has(loan.status)": "type-error",
    "overdue(loan.due_on)": "type-error",
    "loan.status.shout() == 'OUT'": "type-error",
    "overdrawn(1).by.much > 2": "type-error",
    "loan.fee > 'x'": "type-error",
    "loan.fee + 1 == 2.0": "type-error",
    "loan.copies.exists(c, c.price > 'x')": "type-error",
    "loan.copies.all(c, sorted(c.tags) == [])": "type-error",
    "sum(loan.copies) > loan.status": "type-error",
    "member.level == 'silver'": "impossible-value",
}
"""Expressions with exactly one mistake each, and its code."""


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_hides_no_other_in_its_expression_and_invents_none(
    tmp_path: Path, mistake: str
) -> None:
    (alone,) = told(tmp_path, [mistake])
    assert alone[:2] == (MISTAKES[mistake], 0)
    for other in MISTAKES:
        if other != mistake:
            both = told(tmp_path, [mistake, other])
            assert [f[:2] for f in both] == [(MISTAKES[mistake], 0), (MISTAKES[other], 1)]


def test_all_mistakes_of_an_expression_are_told_at_their_lines(tmp_path: Path) -> None:
    found = told(tmp_path, [*MISTAKES])
    assert [(line, code) for code, line, _ in found] == [*enumerate(MISTAKES.values())]


def test_a_mistake_inside_another_is_told_too(tmp_path: Path) -> None:
    (found,) = {f[2] for f in told(tmp_path, ["overdue(nobody) > loan.feee"])} - {
        "undeclared reference to 'overdue'",
        "Loan has no field 'feee'; did you mean fee?",
    }
    assert found.startswith("'nobody' is not defined here")


def test_a_broken_let_hides_nothing_in_what_uses_it_and_is_found_once(tmp_path: Path) -> None:
    lets = """\
    let:
      unreadable: 1 +
      wrong: overdue(loan.due_on)
      after: wrong && nobody
"""
    found = told(tmp_path, ["unreadable > 1", "after && wrong", "loan.fee > 'x'"], lets)
    assert [(line, code) for code, line, _ in found] == [
        (2, "type-error"),
        (5, "type-error"),
        (6, "type-error"),
        (7, "unknown-path"),
    ]


def test_a_test_that_cannot_be_read_may_have_been_one_for_a_value(tmp_path: Path) -> None:
    let = "    let: {noted: loan.note == 'x'}\n"
    (found,) = told(tmp_path, ["has(loan.note) and noted"], let)
    assert found[2] == "not a CEL expression: write && instead of and"


def test_more_errors_than_the_library_tells_are_not_passed_over(tmp_path: Path) -> None:
    (last,) = [f for f in told(tmp_path, [f"f{i}(1)" for i in range(30)]) if "'f" not in f[2]]
    assert last[2] == "one expression with over 20 errors: only the first are told"


@pytest.mark.parametrize(
    "name",
    ["dyn", "google", "has", "optional_type", "timestamp", "__result__", "iso__", "sum__0"],
)
def test_any_name_can_be_an_unknown_one(tmp_path: Path, name: str) -> None:
    found = told(tmp_path, [f"{name} == 1", "overdue(1)"])
    assert len(found) == 2 and found[1][2] == "undeclared reference to 'overdue'"
