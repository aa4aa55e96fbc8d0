"""A small YAML pack for the tests, and ways to vary it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ledgeragent.compiler.loader import load_pack, read_outline
from ledgeragent.compiler.outline import Outline
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError
from ledgeragent.testing import judge
from ledgeragent.verdict import Verdict

HEAD = """\
schema: ledgeragent/v1
domain: lending
version: "2"
parameters: {today: "2025-03-01", limits: {gold: 9, basic: 3}, most: 100.0}
records:
  Loan:
    loan_id: str
    member_id: str
    status: [out, returned, lost]
    due_on: date
    fee: float
    copies: list[Copy]
    desk: {name: str, floor: int}
    note: str?
  Copy: {shelf: str, price: float, tags: "list[str]", mark: str?}
  Member: {member_id: str, level: [gold, basic], blocked: bool, cards: "dict[Card]"}
  Card: {kind: str, points: int}
reads:
  get_loan: {to: "loans.{loan_id}", record: Loan}
  get_member: {to: "members.{member_id}", record: Member}
  who: {to: caller, record: str, parameters: [email]}
writes:
  renew: {arguments: {loan_id: str, days: int, note: str?}, touches: [{"loans.{loan_id}": [due_on, note]}]}
  pay: {arguments: {loan_id: str, amount: float, card: str?}, touches: [{"loans.{loan_id}": fee}]}
neutrals: {transfer: {arguments: {summary: str}}}
"""

LOAN: dict[str, Any] = {
    "loan_id": "L1",
    "member_id": "M1",
    "status": "out",
    "due_on": "2025-03-05",
    "fee": 10,
    "copies": [
        {"shelf": "A", "price": 3, "tags": ["new"]},
        {"shelf": "B", "price": 4.5, "tags": []},
    ],
    "desk": {"name": "north", "floor": 2},
}
MEMBER: dict[str, Any] = {
    "member_id": "M1",
    "level": "gold",
    "blocked": False,
    "cards": {"c1": {"kind": "gift", "points": 3}},
}


def text_of(check: str, *, requires: str = "{loan: 'loans.{loan_id}'}", more: str = "") -> str:
    """The pack with one rule, whose other keys are `more`."""
    message = "" if "message:" in more else "\n    message: no"
    return (
        f"{HEAD}rules:\n  - id: lending/rule\n    guards: pay\n    requires: {requires}\n"
        f"    check: |\n      {check}{message}\n{more}"
    )


def domain_of(tmp_path: Path, text: str) -> Domain:
    """The domain that the text loads as."""
    file = tmp_path / "pack.yaml"
    file.write_text(text, encoding="utf-8")
    return load_pack(file)


def outline_of(tmp_path: Path, text: str) -> Outline:
    """The outline of the text."""
    file = tmp_path / "pack.yaml"
    file.write_text(text, encoding="utf-8")
    return read_outline(file)


def problem_of(tmp_path: Path, text: str) -> DataError:
    """The first problem with the text."""
    try:
        domain_of(tmp_path, text)
    except DataError as problem:
        return problem
    raise AssertionError("nothing is wrong with it")


def pay(domain: Domain, records: dict[str, Any], **arguments: Any) -> Verdict:
    """The verdict on paying for the loan."""
    return judge(domain, records, "pay", **{"loan_id": "L1", "amount": 5.0, **arguments})
