"""`date`, `days`, `sum`, `sorted`: rewritten, so that no evaluation calls back into Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgeragent.compiler.cel.engine import library
from ledgeragent.compiler.cel.functions import calls, rewritten
from ledgeragent.compiler.cel.rule import CelCheck
from tests.compiler.yaml_pack import LOAN, domain_of, pay, problem_of, text_of

pytest.importorskip("cel_expr_python")

WORLD = {"loans.L1": LOAN}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("sum(a.map(i, i.b)) > 3.0", [("sum", ("a.map(i, i.b)",))]),
        ("days(a,\n b)", [("days", ("a", "\n b"))]),
        ("sum (x)", [("sum", ("x",))]),
        ("x.sum(1) + sums(2) + 'sum(3)' + r\"sum(4)\"", []),
        ("'''it's sum(1)''' == sum([1, (2), f(3, 4)])", [("sum", ("[1, (2), f(3, 4)]",))]),
        ("a // sum(1)\n + sum(b)", [("sum", ("b",))]),
        ("sum(", []),
        ("sum() + sum(1, 2) + date(1, 2) + days(1)", []),
        ("date(date(x))", [("date", ("date(x)",))]),
        ("sum", []),
    ],
)
def test_calls_are_found_in_the_text(text: str, found: list[Any]) -> None:
    assert [(call.function, call.arguments) for call in calls(text)] == found


def test_the_rewritten_text_has_none_of_them() -> None:
    done = rewritten("sum(xs) > 1.0 && days(a, date(b)) < 3", lambda function, argument: "v")
    assert done.computed == (("v", "sum", "xs", 0),)
    assert done.text.startswith("v > 1.0 && ((timestamp(")
    assert not list(calls(done.text))


@pytest.mark.parametrize(
    ("check", "allowed"),
    [
        ("sum(loan.copies.map(c, c.price)) == 7.5", True),
        ("sum([]) == 0.0 && sum([1, 2]) == 3.0", True),
        ("sorted(['b', 'a']) == ['a', 'b']", True),
        ("size(sorted(loan.copies.map(c, c.shelf))) == 2", True),
        ("loan.copies.all(c, c.price < sum(loan.copies.map(d, d.price)))", True),
        ("loan.copies.exists(c, date('2025-03-01') < date(loan.due_on) && c.price > 4.0)", True),
        ("args.amount > 1.0 || sum(loan.copies.map(c, 1 / 0)) > 1.0", True),
        ("args.amount > 9.0 && sum(loan.copies.map(c, 1 / 0)) > 1.0", False),
        ("days('2025-03-01', '2025-03-01T23:00:00') == 0", True),
        ("days('2025-03-02', '2025-02-28') == -2", True),
        ("date('2025-03-01T10:00:00.5Z') > date('2025-03-01T10:00:00')", True),
        ("date('2025-03-01T10:00:00+02:00') == date('2025-03-01T08:00:00Z')", True),
    ],
)
def test_what_they_give(tmp_path: Path, check: str, allowed: bool) -> None:
    verdict = pay(domain_of(tmp_path, text_of(check)), WORLD)
    assert not verdict.errors, verdict.errors
    assert verdict.allowed is allowed


@pytest.mark.parametrize(
    "check",
    [
        "sum(loan.copies.map(c, c.shelf)) > 1.0",
        "sum(loan.copies.map(c, 1 / 0)) > 1.0",
        "sum([loan.copies[7].price]) > 1.0",
        "date('2025-02-30') < date(params.today)",
        "date('yesterday') < date(params.today)",
    ],
)
def test_what_they_cannot_do_fails_closed(tmp_path: Path, check: str) -> None:
    verdict = pay(domain_of(tmp_path, text_of(check)), WORLD)
    (error,) = verdict.errors
    assert error.error is not None and error.error.startswith("CelError: ")


def test_missing_evidence_inside_them_is_asked_for(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, text_of("sum(loan.copies.map(c, c.price)) > 1.0"))
    assert [str(read) for read in pay(domain, {}).missing[0].reads] == ['get_loan(loan_id="L1")']


def test_lets_before_them_are_known_inside(tmp_path: Path) -> None:
    let = (
        "    let:\n      prices: loan.copies.map(c, c.price)\n      total: sum(prices)\n"
        "      twice: sum([total, total])\n    message: '{twice:.1f} {sorted([loan.status])}'\n"
    )
    domain = domain_of(tmp_path, text_of("twice > 20.0", more=let))
    assert pay(domain, WORLD).objection == "15.0 out"


@pytest.mark.parametrize(
    ("check", "allowed"),
    [
        ("loan.copies.all(c, sum([c.price, 1.0]) > 3.9)", True),
        ("loan.copies.all(c, sum([c.price, 1.0]) > 4.1)", False),
        ("loan.copies.exists(c, sum(loan.copies.map(d, d.price + c.price)) == 16.5)", True),
        ("loan.copies.map(c, sum(c.tags.map(t, 1))) == [1.0, 0.0]", True),
        ("sum(loan.copies.map(c, sum([c.price, c.price]))) == 15.0", True),
        ("cel.bind(p, loan.copies.map(c, c.price), sum(p) == 7.5)", True),
    ],
)
def test_a_sum_can_look_at_what_a_macro_binds(tmp_path: Path, check: str, allowed: bool) -> None:
    verdict = pay(domain_of(tmp_path, text_of(check)), WORLD)
    assert not verdict.errors, verdict.errors
    assert verdict.allowed is allowed


@pytest.mark.parametrize(
    ("check", "allowed"),
    [
        ("max(loan.copies.map(c, c.price)) == 4.5 && min([3, 2]) == 2", True),
        ("loan.copies.all(c, max([c.price, 3.0]) >= c.price)", True),
        ("size(distinct(loan.copies.map(c, c.shelf) + ['A'])) == 2", True),
        ("distinct([2, 1, 2]) == [2, 1]", True),
        ("loan.?note.orValue('none') == 'none'", True),
        ("{'a': 1}[?'b'].orValue(2) == 2", True),
        ("min(loan.copies.filter(c, c.price > 99.0).map(c, c.price)) == 1.0", False),
    ],
)
def test_further_ones(tmp_path: Path, check: str, allowed: bool) -> None:
    verdict = pay(domain_of(tmp_path, text_of(check)), WORLD)
    assert verdict.allowed is allowed, verdict


def test_others_cannot_look_at_what_a_macro_binds(tmp_path: Path) -> None:
    problem = problem_of(tmp_path, text_of("loan.copies.all(c, sorted([c.shelf]) == ['A'])"))
    assert "sorted(...) cannot look at c, which a macro binds" in problem.problem
    assert problem.line == 31


@pytest.mark.parametrize(
    ("check", "message"),
    [
        ("sum(loan.fee) > 1.0", "'sum' does not apply to double"),
        ("date(loan.fee) > date('2025-01-01')", "'date' does not apply to double"),
        ("days(loan.due_on) > 1", "'days' takes another number of arguments"),
        ("sorted([1]) == []", "'sorted' does not apply to list(int)"),
    ],
)
def test_their_types_are_checked(tmp_path: Path, check: str, message: str) -> None:
    assert message in problem_of(tmp_path, text_of(check)).problem


def test_the_library_is_given_no_python_to_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each call back into Python would lose some memory."""
    from ledgeragent.compiler.cel import engine as cel

    given: list[Any] = []
    overload = library().Overload

    def noted(*arguments: Any, **options: Any) -> Any:
        given.append(options)
        return overload(*arguments, **options)

    cel._extensions.cache_clear()
    monkeypatch.setattr(library(), "Overload", noted)
    domain = domain_of(tmp_path, text_of("sum(loan.copies.map(c, c.price)) > 1.0"))
    cel._extensions.cache_clear()
    assert len(given) == 7
    assert not any("impl" in options for options in given)
    check = domain.predicates[0].check
    assert isinstance(check, CelCheck)
    assert check.test is not None
    assert [found.function for found in check.test.computed] == ["sum"]
