"""What a write touches: a list names one record per item, and what can name none is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgeragent.check import findings_of
from ledgeragent.compiler.problems import Severity
from ledgeragent.effects import Write
from ledgeragent.ledger import Ledger
from ledgeragent.state import ledger_of
from tests.compiler.yaml_pack import HEAD, domain_of, outline_of, problem_of, text_of

pytest.importorskip("cel_expr_python")

PAY = "pay: {arguments: {loan_id: str, amount: float, card: str?}, touches: [{'loans.{loan_id}': fee}]}"
HELD = (
    "{arguments: {loan_id: str, ids: 'list[str]', lines: 'list[Line]', to: Line?, paid: bool,"
    " amount: float, open: list, what: any, args: dict?}, touches: [TOUCHES]}"
)
LINE = "  Line: {loan_id: str, number: int, share: float, inner: 'list[Line2]'}\n  Line2: {loan_id: str}\n"
WRITE = HEAD.replace("reads:\n", f"{LINE}reads:\n").replace(
    "neutrals:", f"  many: {HELD}\nneutrals:"
)


def marked(tmp_path: Path, touches: str, **arguments: Any) -> list[str]:
    """The paths and fields that a call marks."""
    tool = domain_of(tmp_path, WRITE.replace("TOUCHES", touches)).tool("many")
    assert isinstance(tool, Write)
    marks = [mark for touch in tool.touches for mark in touch(arguments, Ledger())]
    return [".".join((str(mark.path), *mark.fields)) for mark in marks]


@pytest.mark.parametrize(
    ("touches", "arguments", "paths"),
    [
        ("'loans.{loan_id}'", {"loan_id": "L1"}, ["loans.L1"]),
        ("'loans.{ids}'", {"ids": ["L1", "L2", "L1"]}, ["loans.L1", "loans.L2"]),
        ("'loans.{ids}'", {"ids": '["L1", "L2"]'}, ["loans.L1", "loans.L2"]),
        ("'loans.{ids}'", {"ids": "L1"}, ["loans.L1"]),
        ("'loans.{ids}'", {"ids": []}, []),
        ("'loans.{ids}'", {}, []),
        ("'loans.{open}'", {"open": ["L1", 7, 8.0]}, ["loans.L1", "loans.7", "loans.8"]),
        ("{'loans.{to.loan_id}': fee}", {"to": {"loan_id": "L1"}}, ["loans.L1.fee"]),
        ("'loans.{args.lines.number}'", {"lines": [{"number": 1}, {}]}, ["loans.1"]),
        (
            "'loans.{lines.inner.loan_id}'",
            {"lines": [{"inner": [{"loan_id": "L1"}]}, {"inner": [{"loan_id": "L2"}]}]},
            ["loans.L1", "loans.L2"],
        ),
        ("'loans.{to.loan_id}'", {"to": {"loan_id": "L1"}}, ["loans.L1"]),
        ("'loans.{to.loan_id}'", {"to": None}, []),
        ("'loans.{what}'", {"what": ["L1"]}, ["loans.L1"]),
        ("'loans.{loan_id}'", {"loan_id": "L1", "args": {"loan_id": "L2"}}, ["loans.L1"]),
        ("'loans.{args.loan_id}'", {"loan_id": "L1", "args": {"loan_id": "L2"}}, ["loans.L1"]),
        ("'loans.{args.args.loan_id}'", {"loan_id": "L1", "args": {"loan_id": "L2"}}, ["loans.L2"]),
    ],
)  # fmt: skip
def test_marks(tmp_path: Path, touches: str, arguments: dict[str, Any], paths: list[str]) -> None:
    assert marked(tmp_path, touches, **arguments) == paths


@pytest.mark.parametrize("value", [{"a": 1}, True, 1.5, [["L1", {}]]])
def test_a_value_that_names_no_record_is_no_account_of_what_changed(
    tmp_path: Path, value: Any
) -> None:
    with pytest.raises(ValueError, match="names no record"):
        marked(tmp_path, "'loans.{what}'", what=value)


@pytest.mark.parametrize(
    ("touches", "message"),
    [
        ("'loans.L[]'", "a path has no wildcards"),
        ("'loans.loan_id'", "write {loan_id}"),
        ("'loans.ids'", "write {ids}"),
        ("'loans.{paid}'", "args.paid is bool, which names no record"),
        ("'loans.{amount}'", "args.amount is float, which names no record"),
        ("'loans.{to}'", "args.to is Line, which names no record"),
        ("'loans.{lines}'", "args.lines is Line, which names no record"),
        ("'loans.{lines.share}'", "names no record"),
        ("'loans.{lines.loan}'", "Line has no field 'loan'; did you mean loan_id?"),
        ("'loans.{ids.loan_id}'", "str has no fields, so no 'loan_id'"),
        ("'loans.{nobody}'", "no argument 'nobody'"),
        ("'loans.{loan.member_id}'", "touches can name arguments only"),
        ("{'loans.{loan_id}': 'copies[].price'}", "without * or []"),
        ("{'loans.{loan_id}': '*'}", "without * or []"),
        ("{'loans.{loan_id}': copies.prise}", "Copy has no field 'prise'; did you mean price?"),
        ("{'loans.{loan_id}': status.code}", "has no fields, so no 'code'"),
    ],
)
def test_what_can_touch_nothing_is_found(tmp_path: Path, touches: str, message: str) -> None:
    assert message in problem_of(tmp_path, WRITE.replace("TOUCHES", touches)).problem


@pytest.mark.parametrize(
    ("requires", "message"),
    [
        ("{loan: 'loans.*'}", "a path has no wildcards"),
        ("{loan: 'loans.loan_id'}", "write {loan_id}"),
        ("{loan: 'loans.{amount}'}", "args.amount is float, which names no record"),
        ("{loan: 'loans.{loan_id}', member: 'members.{loan.desk}'}", "loan.desk is desk, which"),
        ("{loan: 'loans.{loan_id}', member: 'members.{loan.copies}'}", "list[Copy], which names"),
        (
            "{loan: 'loans.{loan_id}', member: 'members.{loan.copies.shelf}'}",
            "of which no one item",
        ),
    ],
)
def test_so_is_a_required_record_that_nothing_names(
    tmp_path: Path, requires: str, message: str
) -> None:
    assert message in problem_of(tmp_path, text_of("true", requires=requires)).problem


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('"loans.{loan_id}", record', '"loans.{fee}", record', "fee of Loan is float, which"),
        ('"loans.{loan_id}", record', '"loans.{desk}", record', "desk of Loan is desk, which"),
        ("record: Loan}", "record: Loan, rename: {loan: id}}", "has no key 'loan'; did you mean"),
    ],
)
def test_so_is_a_read_that_would_store_nothing(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    assert message in problem_of(tmp_path, HEAD.replace(before, after)).problem


@pytest.mark.parametrize(
    ("touches", "wrong"),
    [
        ("touches: []", True),
        ("touches: null", True),
        ("open: false", True),
        ("touches: [{'loans.{loan_id}': fee}]", False),
        ("untouched: the ledger holds no payments", False),
        ("touches: [], untouched: the ledger holds no payments", False),
    ],
)
def test_a_guarded_write_that_touches_nothing_says_why(
    tmp_path: Path, touches: str, wrong: bool
) -> None:
    text = text_of("loan.fee > 1.0").replace('touches: [{"loans.{loan_id}": fee}]', touches)
    found = [f for f in findings_of(outline_of(tmp_path, text)) if f.code == "touches-nothing"]
    assert [f.severity for f in found] == [Severity.ERROR] * wrong
    unguarded = text_of("true", requires="{}").replace("guards: pay", "guards: transfer")
    unguarded = unguarded.replace('touches: [{"loans.{loan_id}": fee}]', touches)
    assert "touches-nothing" not in {f.code for f in findings_of(outline_of(tmp_path, unguarded))}


def test_touching_and_saying_that_nothing_is_touched_do_not_go_together(tmp_path: Path) -> None:
    text = HEAD.replace('"loans.{loan_id}": fee}]', '"loans.{loan_id}": fee}], untouched: no')
    assert "pay touches records" in problem_of(tmp_path, text).problem


def test_a_star_marks_every_observed_record(tmp_path: Path) -> None:
    tool = domain_of(tmp_path, WRITE.replace("TOUCHES", "{'loans.*': fee}")).tool("many")
    assert isinstance(tool, Write)
    domain = domain_of(tmp_path, WRITE.replace("TOUCHES", "'loans.*'"))
    ledger = ledger_of({"loans.L1": {"loan_id": "L1"}, "loans.L2": {"loan_id": "L2"}}, domain)
    marks = [mark for touch in tool.touches for mark in touch({}, ledger)]
    assert [(str(mark.path), mark.fields) for mark in marks] == [
        ("loans.L1", ("fee",)),
        ("loans.L2", ("fee",)),
    ]
