"""A character that CEL misreads is refused in an argument and is no evidence in a record."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.compiler.cel.characters import first_refused, is_readable
from ledgeragent.compiler.loader import read_outline
from ledgeragent.compiler.samples import Sample
from ledgeragent.gate import Gate
from ledgeragent.verdict import Kind
from tests.compiler.yaml_pack import HEAD, LOAN, domain_of, pay, problem_of, text_of

pytest.importorskip("cel_expr_python")

ROOT = Path(__file__).parents[3]
REFUSED = [chr(n) for n in range(32) if chr(n) not in "\t\n\r"] + ["\x7f", "\ud800", "\udfff"]
READABLE = ["", "\t\n\r", "é", "e\u0301", "\u202e", "\ufeff", "\uffff", "\U0001f600"]


def filled(value: Any, character: str) -> Any:
    """The value with the character for every {}."""
    if isinstance(value, str):
        return value.replace("{}", character)
    if isinstance(value, dict):
        return {filled(k, character): filled(v, character) for k, v in value.items()}
    return [filled(v, character) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("character", REFUSED)
@pytest.mark.parametrize("within", ["{}", "a{}b", ["{}"], {"k": ["{}"]}, {"{}": 1}, [{"k": "{}"}]])
def test_refused_wherever_it_stands(character: str, within: Any) -> None:
    value = filled(within, character)
    assert not is_readable(value)
    assert first_refused(value) == f"U+{ord(character):04X}"


@pytest.mark.parametrize("text", READABLE)
def test_every_other_text_is_read(text: str) -> None:
    assert is_readable([text, {text: text}, 1, None, True, 2.5])
    assert first_refused({text: [text, None]}) == ""


@pytest.mark.parametrize("character", ["\0", "\x07", "\ud800"])
@pytest.mark.parametrize(
    "check",
    [
        "!has(args.card) || args.card == loan.member_id",
        "!has(args.card) || args.card in [loan.member_id]",
        "!has(args.card) || args.card.size() == 2",
        "!has(args.card) || args.card.matches('^M1$')",
        "!has(args.card) || !args.card.contains('eve')",
    ],
)
def test_an_argument_is_refused_by_name(tmp_path: Path, check: str, character: str) -> None:
    domain = domain_of(tmp_path, text_of(check))
    assert pay(domain, {"loans.L1": LOAN}, card="M1").allowed
    verdict = pay(domain, {"loans.L1": LOAN}, card=f"M1{character},eve")
    assert not verdict.allowed
    assert all(finding.kind is not Kind.ERROR for finding in verdict.findings)
    assert "card" in verdict.feedback


@pytest.mark.parametrize("character", ["\0", "\ud800"])
@pytest.mark.parametrize(
    ("check", "field", "value"),
    [
        ("loan.member_id == 'M1'", "member_id", "M1{}"),
        ("loan.status == 'out'", "status", "out{}"),
        ("'new' in loan.copies[0].tags", "copies", [{"shelf": "A", "price": 1, "tags": ["new{}"]}]),
        ("loan.desk.name == 'north'", "desk", {"name": "north{}", "floor": 1}),
        ("has(loan.note) && loan.note == 'x'", "note", "x{}"),
    ],
)
def test_a_records_field_is_no_evidence(
    tmp_path: Path, check: str, field: str, value: Any, character: str
) -> None:
    domain = domain_of(tmp_path, text_of(check))
    assert pay(domain, {"loans.L1": {**LOAN, field: filled(value, "")}}).allowed
    verdict = pay(domain, {"loans.L1": {**LOAN, field: filled(value, character)}})
    assert not verdict.allowed
    assert {finding.kind for finding in verdict.findings} <= {Kind.EVIDENCE}


def test_a_field_that_does_not_decide_is_not_asked_for(tmp_path: Path) -> None:
    domain = domain_of(tmp_path, text_of("args.amount < 50.0 || loan.member_id == 'M1'"))
    record = {**LOAN, "member_id": "M1\0"}
    assert pay(domain, {"loans.L1": record}, amount=5.0).allowed
    assert not pay(domain, {"loans.L1": record}, amount=60.0).allowed


def test_a_route_whose_condition_cannot_read_its_argument_stores_nothing(tmp_path: Path) -> None:
    text = text_of("true").replace("record: Loan}", "record: Loan, when: args.loan_id == 'L1'}")
    (route,) = domain_of(tmp_path, text).routes("get_loan")
    assert route.when({"loan_id": "L1"})
    assert not route.when({"loan_id": "L1\0"})
    assert not route.when({"loan_id": "L1\ud800"})


PARKING = read_outline(ROOT / "examples" / "parking" / "pack.yaml")
ALLOWED = [sample for sample in PARKING.samples if sample.side == "allowed"]


@pytest.mark.parametrize("sample", ALLOWED, ids=lambda sample: str(sample.place.line))
def test_the_shipped_parking_pack_is_not_bypassed(sample: Sample) -> None:
    assert PARKING.domain is not None
    gate, state = Gate(domain=PARKING.domain), sample.state(PARKING.domain)
    assert gate.judge(sample.call, state).allowed
    for name, value in sample.call.arguments.items():
        if isinstance(value, str):
            changed = {**sample.call.arguments, name: f"{value}\0,eve"}
            assert not gate.judge(replace(sample.call, arguments=changed), state).allowed, name
    for path in ("caller", "permits.P-1"):
        record = sample.ledger.get(path)
        if isinstance(record, dict):
            owner = {**record, "resident_id": f"{record['resident_id']}\0,eve"}
            state = replace(sample, ledger={**sample.ledger, path: owner}).state(PARKING.domain)
            assert not gate.judge(sample.call, state).allowed, path


@pytest.mark.parametrize(
    "text",
    [
        HEAD.replace('today: "2025-03-01"', 'today: "2025\\0"'),
        text_of("true").replace("check: |\n      true", "check: \"true || loan.status == '\\0'\""),
    ],
)
def test_a_pack_cannot_hold_one_in_a_parameter_or_an_expression(tmp_path: Path, text: str) -> None:
    assert "U+0000" in problem_of(tmp_path, text).problem
