"""Rules beside one another: said twice, contradicting; samples that never reach their violation."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.check import findings_of
from tests.compiler.yaml_pack import HEAD, outline_of

pytest.importorskip("cel_expr_python")


def rule(name: str, check: str, **keys: str) -> str:
    given_keys = {"guards": "pay", "requires": "{loan: 'loans.{loan_id}'}", "message": "no", **keys}
    lines = "".join(f"    {key}: {value}\n" for key, value in given_keys.items())
    return f"  - id: lending/{name}\n    check: {check}\n{lines}"


def codes(tmp_path: Path, *rules: str) -> list[tuple[str, str]]:
    findings = findings_of(outline_of(tmp_path, f"{HEAD}rules:\n{''.join(rules)}"))
    wanted_codes = ("same-rule", "contradiction", "unproven")
    return [(f.code, f.rule) for f in findings if f.code in wanted_codes]


def test_the_same_rule_twice(tmp_path: Path) -> None:
    first, second = rule("a", "loan.fee < 9.0"), rule("b", "'loan.fee  <  9.0'")
    assert codes(tmp_path, first, second) == [("same-rule", "lending/b")]


@pytest.mark.parametrize(
    "second",
    [
        rule("b", "loan.fee < 8.0"),
        rule("b", "loan.fee < 9.0", guards="renew"),
        rule("b", "loan.fee < 9.0", requires="{loan: 'loans.{note}'}", let="{}"),
    ],
)
def test_one_like_it_is_another(tmp_path: Path, second: str) -> None:
    assert ("same-rule", "lending/b") not in codes(tmp_path, rule("a", "loan.fee < 9.0"), second)


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ("loan.status == 'out'", "loan.status != 'out'", True),
        ("loan.fee < 5.0", "loan.fee >= 5.0", True),
        ("loan.fee < 5.0", "loan.fee >= 4.0", False),
        ("loan.status == 'out'", "loan.fee < 5.0", False),
    ],
)
def test_two_that_contradict(tmp_path: Path, first: str, second: str, found: bool) -> None:
    told = codes(tmp_path, rule("a", first), rule("b", second))
    assert (("contradiction", "lending/b") in told) is found


def test_one_that_is_not_enforced_contradicts_nothing(tmp_path: Path) -> None:
    second = rule("b", "loan.fee >= 5.0", enforcement="audit")
    told = codes(tmp_path, rule("a", "loan.fee < 5.0"), second)
    assert ("contradiction", "lending/b") not in told


CALL = "call: {name: pay, arguments: {loan_id: L1, amount: 1.0}}"
LOAN = "{loans.L1: {loan_id: L1, fee: 99.0}}"


@pytest.mark.parametrize(
    ("samples", "found"),
    [
        (f"{{rejected: [{{{CALL}}}]}}", True),
        (f"{{rejected: [{{{CALL}}}, {{ledger: {LOAN}, {CALL}}}]}}", False),
    ],
)
def test_a_rejected_sample_that_never_reaches_its_violation(
    tmp_path: Path, samples: str, found: bool
) -> None:
    told = codes(tmp_path, rule("a", "loan.fee < 5.0", samples=samples))
    assert (("unproven", "lending/a") in told) is found
