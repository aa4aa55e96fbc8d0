"""What a write answers with, as a YAML pack says: stored after what it touched is marked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.absorb import absorb
from ledgeragent.check import findings_of
from ledgeragent.compiler.loader import load_pack, read_outline
from ledgeragent.compiler.source.toolfile import ToolSpec
from ledgeragent.compiler.starter import starter
from ledgeragent.paths import Path as LedgerPath
from ledgeragent.testing import ledger_of
from ledgeragent.types import ToolCall, ToolReturn
from tests.compiler.yaml_pack import HEAD, LOAN, domain_of, outline_of, problem_of, text_of

pytest.importorskip("cel_expr_python")

TEXT = {"type": "string"}
PAY = '"loans.{loan_id}": fee}]'


def paid(tmp_path: Path, returns: str, answer: Any, more: str = "") -> Any:
    """The loan in the ledger after paying for it, and whether its fee is known."""
    text = HEAD.replace(PAY, f"{PAY}, returns: {returns}{more}")
    domain = domain_of(tmp_path, text)
    call = ToolCall(name="pay", arguments={"loan_id": "L1", "amount": 5.0}, id="c1")
    content = answer if isinstance(answer, str) else json.dumps(answer)
    after = absorb(
        ledger_of({"loans.L1": LOAN}, domain),
        call,
        ToolReturn(call_id="c1", content=content),
        domain,
    ).ledger
    entry = after.get(LedgerPath.parse("loans.L1"))
    assert entry is not None
    return entry.value["fee"], not any(mark.covers(("fee",)) for mark in entry.stale)


@pytest.mark.parametrize(
    ("returns", "answer", "fee"),
    [
        ('{to: "loans.{loan_id}"}', {**LOAN, "fee": 1.0}, (1.0, True)),
        ('{to: "loans.{loan_id}", record: Loan}', {**LOAN, "fee": 1.0}, (1.0, True)),
        ('{to: "loans.{loan_id}", inside: loan}', {"loan": {**LOAN, "fee": 1.0}}, (1.0, True)),
        ('[{to: "loans.{loan_id}", each: .}]', [{**LOAN, "fee": 1.0}], (1.0, True)),
        ('{to: "loans.{loan_id}", merge: true}', {"loan_id": "L1", "fee": 1.0}, (1.0, True)),
        ('{to: "loans.{loan_id}", when: "args.amount > 9.0"}', {**LOAN, "fee": 1.0}, (10, False)),
        ('{to: "loans.{loan_id}"}', "paid", (10, False)),
    ],
)
def test_an_answer_is_stored(
    tmp_path: Path, returns: str, answer: Any, fee: tuple[float, bool]
) -> None:
    value, known = paid(tmp_path, returns, answer)
    assert (value, known) == fee


def test_a_field_that_the_answer_gets_wrong_stays_unknown(tmp_path: Path) -> None:
    _, known = paid(tmp_path, '{to: "loans.{loan_id}", omit: [fee]}', {**LOAN, "fee": 1.0})
    assert not known


@pytest.mark.parametrize(
    ("returns", "message"),
    [
        ("{record: Loan}", "to"),
        ('{to: "loan.{loan_id}"}', "did you mean loans.{loan_id}?"),
        ('{to: "loans.{loan_id}", record: Member}', "holds Loan"),
        ('{to: "loans.{loan_id}", omit: [fees]}', "Loan has no field 'fees'; did you mean fee?"),
        ('{to: "loans.{loan_id}", failed: no}', "failed"),
        ('{to: "loans.{fee}"}', "fee of Loan is float"),
        ('{to: "loans.{loan_id}", rename: {loan: id}}', "has no key 'loan'"),
    ],
)
def test_what_is_wrong_with_it_is_told(tmp_path: Path, returns: str, message: str) -> None:
    text = HEAD.replace(PAY, f"{PAY}, returns: {returns}")
    assert message in problem_of(tmp_path, text).problem


def test_check_compares_it_with_the_output_schema(tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    arguments = {"type": "object", "properties": {"loan_id": TEXT, "amount": {"type": "number"}}}
    answer = {"type": "object", "properties": {"loan_id": TEXT, "fee": TEXT, "status": TEXT}}
    tools.write_text(
        json.dumps(
            {"tools": [{"name": "pay", "inputSchema": arguments, "outputSchema": answer}]},
        )
    )
    text = text_of("loan.fee > 1.0")
    for omit, found in (("", True), (", omit: [fee]", False)):
        returns = f'{{to: "loans.{{loan_id}}"{omit}}}'
        outline = outline_of(tmp_path, text.replace(PAY, f"{PAY}, returns: {returns}"))
        told = [f.message for f in findings_of(outline, tools)]
        assert ("fee of Loan: pay says str, the pack float" in told) is found


def test_a_starter_guesses_it_where_the_schemas_are_the_same(tmp_path: Path) -> None:
    loan = {"type": "object", "properties": {"loan_id": TEXT, "fee": {"type": "number"}}}
    asked = {"type": "object", "properties": {"loan_id": TEXT}, "required": ["loan_id"]}
    tools = [
        ToolSpec(name="get_loan", parameters=asked, returns=loan),
        ToolSpec(name="renew_loan", parameters=asked, returns=loan),
        ToolSpec(name="close_loan", parameters=asked, returns={"type": "object"}),
        ToolSpec(name="end_loan", parameters=asked, returns=TEXT),
    ]
    file = tmp_path / "desk.yaml"
    file.write_text(starter("desk", tools))
    assert file.read_text().count("    returns:  # review") == 1
    load_pack(file)
    assert [(p.tool, p.to.text) for p in read_outline(file).returns] == [
        ("renew_loan", "loans.{loan_id}")
    ]
