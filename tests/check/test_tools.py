"""A pack against the tools file: what is missing, what differs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgeragent.check import findings_of
from tests.compiler.yaml_pack import outline_of as yaml_outline
from tests.compiler.yaml_pack import text_of

pytest.importorskip("cel_expr_python")
from tests.check.reading import NUMBER, tool

TEXT = {"type": "string"}
LOAN = {
    "type": "object",
    "properties": {
        "loan_id": TEXT,
        "member_id": TEXT,
        "status": {"enum": ["out", "returned"]},
        "due_on": NUMBER,
        "fee": NUMBER,
        "copies": {"type": "array", "items": {"type": "object", "properties": {"shelf": TEXT}}},
        "desk": {"type": "object"},
    },
}


def test_the_tools_file_is_compared(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    tools = [
        tool("get_loan", {"loan_id": TEXT}, LOAN),
        tool("get_member", {"member": TEXT}, TEXT),
        tool("who", {"email": TEXT}),
        tool("renew", {"loan_id": TEXT, "days": TEXT}),
        tool("pay", {"loan_id": TEXT, "amount": NUMBER, "card": TEXT}),
        tool("delete_loan", {}),
    ]
    file.write_text(json.dumps(tools))
    outline = yaml_outline(tmp_path, text_of("loan.fee > 1.0"))
    findings = findings_of(outline, file)
    told = [f.message for f in findings if f.code not in ("missing-samples", "write-without-rule")]
    assert sorted(told) == [
        "argument days: renew says str, the pack int",
        "argument note: renew has no such field; there is days, loan_id",
        "copies[].mark of Loan: get_loan has no such field; there is shelf",
        "copies[].price of Loan: get_loan has no such field; there is shelf",
        "copies[].tags of Loan: get_loan has no such field; there is shelf",
        "due_on of Loan: get_loan says float, the pack date",
        "get_member has no argument 'member_id'; did you mean member?",
        "note of Loan: get_loan has no such field; there is copies, desk, due_on, fee, loan_id, "
        "member_id, status",
        "status of Loan: get_loan says one of out, returned, never 'lost'",
        "the tool delete_loan is neither read, write nor neutral here, so it would be refused",
        "the tools file has no tool transfer; there is delete_loan, get_loan, get_member, pay, renew, who",
    ]


def test_an_argument_that_a_tool_has_gained_is_told(tmp_path: Path) -> None:
    file = tmp_path / "tools.json"
    arguments = {"loan_id": TEXT, "amount": NUMBER, "card": TEXT, "currency": TEXT}
    file.write_text(json.dumps([tool("pay", arguments)]))
    findings = findings_of(yaml_outline(tmp_path, text_of("loan.fee > 1.0")), file)
    (gained,) = [f for f in findings if f.code == "new-argument"]
    assert gained.place.line == 24
    assert "an argument 'currency', with which the gate refuses the call" in gained.message
    opened = text_of("loan.fee > 1.0").replace(
        "card: str?}, touches", "card: str?}, open: true, touches"
    )
    findings = findings_of(yaml_outline(tmp_path, opened), file)
    assert [f.message for f in findings if f.code == "new-argument"] == []
