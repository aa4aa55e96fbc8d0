"""Rules that decide nothing: never or always broken, and how much work it is to see it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.check import findings_of
from ledgeragent.check.worlds import Worlds
from ledgeragent.compiler.cel.rule import CelCheck
from ledgeragent.compiler.problems import Place, Problems
from tests.compiler.yaml_pack import HEAD, text_of
from tests.compiler.yaml_pack import outline_of as yaml_outline

pytest.importorskip("cel_expr_python")
from tests.check.reading import NUMBER, codes, tool


def liveness(
    tmp_path: Path, check: str, samples: str = "", requires: str | None = None
) -> list[str]:
    """The codes of a rule with this check, besides the samples it lacks."""
    given = {} if requires is None else {"requires": requires}
    outline = yaml_outline(tmp_path, text_of(check, more=samples, **given))
    assert not outline.findings, outline.findings
    return [
        c for c in codes(findings_of(outline)) if c not in ("missing-samples", "write-without-rule")
    ]


def test_a_read_that_is_merged_need_not_supply_every_field(tmp_path: Path) -> None:
    read = '  list_loans: {to: "loans.{loan_id}", record: Loan, each: loans, merge: true, parameters: []}\n'
    text = text_of("loan.fee > 1.0").replace("reads:\n", f"reads:\n{read}")
    loans = {"type": "array", "items": {"type": "object", "properties": {"loan_id": NUMBER}}}
    tools = tmp_path / "tools.json"
    returned = {"type": "object", "properties": {"loans": loans}}
    tools.write_text(json.dumps([tool("list_loans", {}, returned)]))
    found = [str(f) for f in findings_of(yaml_outline(tmp_path, text), tools)]
    assert not [text for text in found if "has no such field" in text]
    assert [
        text for text in found if "loan_id of Loan: list_loans says float, the pack str" in text
    ]


def test_two_records_do_not_share_their_paths(tmp_path: Path) -> None:
    read = '  search: {to: "loans.{status}", record: "list[Loan]", parameters: [status]}\n'
    text = text_of("loan.fee > 1.0").replace("reads:\n", f"reads:\n{read}")
    found = [f.message for f in findings_of(yaml_outline(tmp_path, text)) if f.code == "type-error"]
    assert "loans.{loan_id} holds list[Loan] by line 19, and Loan here" in found


@pytest.mark.parametrize(
    ("check", "found"),
    [
        ("loan.status == 'out'", []),
        ("true", []),
        ("loan.status == 'out' || loan.status != 'out'", ["never-fires"]),
        ("loan.status == 'out' && loan.status == 'lost'", ["never-satisfied"]),
        ("loan.status in ['out', 'returned', 'lost']", ["never-fires"]),
        ("params.most > 50.0 || loan.status == 'out'", ["never-fires"]),
        ("args.amount > 1.0 || args.amount < 2.0", ["unproven"]),
        ("args.amount > params.most && args.amount < 99.0", ["unproven"]),
        ("args.amount > 1234.5", []),
        ("loan.loan_id == args.loan_id", []),
        ("loan.loan_id.startsWith('zz')", []),
        ("days(params.today, loan.due_on) < 300", []),
        ("loan.copies.exists(c, c.price > 77.0)", []),
        ("has(loan.note) || has(args.card)", []),
    ],
)
def test_constant_rules(tmp_path: Path, check: str, found: list[str]) -> None:
    requires = "{}" if "loan" not in check and check != "true" else "{loan: 'loans.{loan_id}'}"
    assert liveness(tmp_path, check, requires=requires) == found


def test_samples_that_contradict_make_it_an_error(tmp_path: Path) -> None:
    sample = "[{call: {name: pay, arguments: {loan_id: L1, amount: 1.5}}}]"
    samples = f"    samples: {{allowed: {sample}, rejected: {sample}}}\n"
    check = "args.amount > 1.0 || args.amount < 2.0"
    assert liveness(tmp_path, check, samples, "{}") == ["never-fires"]


def test_a_sample_is_a_witness(tmp_path: Path) -> None:
    call = "[{call: {name: pay, arguments: {loan_id: L1, amount: AMOUNT}}}]"
    samples = (
        f"    samples:\n      allowed: {call.replace('AMOUNT', '1')}\n"
        f"      rejected: {call.replace('AMOUNT', '31415.926')}\n"
    )
    assert liveness(tmp_path, "string(args.amount) != '31415.926'", samples, "{}") == []


def evaluations(tmp_path: Path, rules: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How often a check is evaluated to check a pack with so many rules on one tool."""
    call = "call: {name: pay, arguments: {loan_id: L1, amount: AMOUNT}}"
    allowed, rejected = (f"[{{{call.replace('AMOUNT', amount)}}}]" for amount in ("99", "0"))
    text = HEAD + "rules:\n"
    for i in range(rules):
        text += (
            f"  - {{id: lending/rule-{i}, guards: pay, check: args.amount > {i}.5, message: no,\n"
        )
        text += f"     samples: {{allowed: {allowed}, rejected: {rejected}}}}}\n"
    outline = yaml_outline(tmp_path, text)
    asked: list[object] = []
    judge = CelCheck.__call__

    def counted(self: CelCheck, arguments: Any, view: Any) -> Any:
        asked.append(arguments)
        return judge(self, arguments, view)

    with monkeypatch.context() as patch:
        patch.setattr(CelCheck, "__call__", counted)
        assert codes(findings_of(outline)) == ["write-without-rule"]
    return len(asked)


def test_twice_the_rules_are_twice_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert evaluations(tmp_path, 5, monkeypatch) == 15
    assert evaluations(tmp_path, 10, monkeypatch) == 30


def test_trials_end_where_they_have_shown_both(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[object] = []
    some = Worlds.some

    def counted(self: Worlds, count: int) -> Iterator[dict[str, Any]]:
        for world in some(self, count):
            tried.append(world)
            yield world

    monkeypatch.setattr(Worlds, "some", counted)
    assert liveness(tmp_path, "args.amount > 7.5", requires="{}") == []
    assert 2 <= len(tried) < 100
    tried.clear()
    assert liveness(tmp_path, "args.amount > 1.0 || args.amount < 2.0", requires="{}")
    assert len(tried) == 600


def test_noting_a_finding_compares_it_with_no_other() -> None:
    compared: list[object] = []

    class Message(str):
        __hash__ = str.__hash__

        def __eq__(self, other: object) -> bool:
            compared.append(other)
            return str.__eq__(self, other)

    findings = Problems()
    for i in range(500):
        findings.add("syntax", Place("pack.yaml", i), Message(f"mistake {i}"))
    assert len(findings) == 500 and len(compared) < 50
    findings.add("syntax", Place("pack.yaml", 7), Message("mistake 7"), "of/another-rule")
    assert len(findings) == 500
