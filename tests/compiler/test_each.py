"""A record for every item of a list: required, asked for all at once, and looked up by its key."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.compiler.loader import read_outline
from ledgeragent.domain import Domain
from ledgeragent.testing import judge
from ledgeragent.verdict import Kind
from tests.compiler.small_bank import ACCOUNT, HEAD, bank, rule

pytest.importorskip("cel_expr_python")

EACH = '{accounts: {at: "accounts.{each}", each: args.account_ids}}'
CHECK = "!has(args.account_ids) || args.account_ids.all(i, accounts[i].open)"
A = {"accounts.A": ACCOUNT}
B = {"accounts.B": {**ACCOUNT, "account_id": "B", "open": False}}


@pytest.fixture
def domain(tmp_path: Path) -> Domain:
    rules = rule(CHECK, requires=EACH)
    message = '"{args.account_ids.filter(i, !accounts[i].open)} are closed"'
    return bank(tmp_path, rules.replace("message: no", f"message: {message}"))


def test_each_is_looked_at(domain: Domain) -> None:
    assert judge(domain, A, "transfer", account_id="A", amount=1.0, account_ids=["A"]).allowed
    verdict = judge(domain, A | B, "transfer", account_id="A", amount=1.0, account_ids=["A", "B"])
    assert verdict.objection == "B are closed"


def test_all_that_lack_are_asked_for_at_once(domain: Domain) -> None:
    ids = ["A", "B", "C"]
    verdict = judge(domain, A, "transfer", account_id="A", amount=1.0, account_ids=ids)
    (finding,) = verdict.findings
    assert finding.kind is Kind.EVIDENCE
    assert [call.arguments["account_id"] for call in finding.reads] == ["B", "C"]
    assert 'get_account(account_id="B")' in finding.reason
    assert 'get_account(account_id="C")' in finding.reason


def test_without_a_list_none_is_required(domain: Domain) -> None:
    assert judge(domain, {}, "transfer", account_id="A", amount=1.0).allowed
    assert judge(domain, {}, "transfer", account_id="A", amount=1.0, account_ids=[]).allowed


def test_a_field_that_was_written_since_is_asked_for(domain: Domain, tmp_path: Path) -> None:
    from ledgeragent.gate import Gate
    from ledgeragent.state import ledger_of
    from ledgeragent.types import ToolCall

    close = ToolCall(name="close", arguments={"account_id": "A"})
    (touches,) = domain.tool("close").touches  # type: ignore[union-attr]
    ledger = ledger_of(A, domain)
    ledger = ledger.wrote(close, [*touches(close.arguments, ledger)])
    arguments = {"account_id": "A", "amount": 1.0, "account_ids": ["A"]}
    call = ToolCall(name="transfer", arguments=arguments)
    (finding,) = Gate(domain=domain).judge(call, ledger).findings
    assert finding.kind is Kind.EVIDENCE
    assert "was changed by close" in finding.reason


def test_a_list_can_be_computed_from_other_records(tmp_path: Path) -> None:
    requires = '{a: "accounts.{account_id}", more: {at: "accounts.{each}", each: wanted}}'
    let = '{wanted: "a.open ? [a.account_id, string(params.days)] : []"}'
    domain = bank(tmp_path, rule("wanted.all(w, more[w].open)", requires=requires, let=let))
    (finding,) = judge(domain, A, "transfer", account_id="A", amount=1.0).findings
    assert [call.arguments["account_id"] for call in finding.reads] == ["14"]
    assert judge(
        domain, A | {"accounts.14": {**ACCOUNT, "account_id": "14"}}, "transfer",
        account_id="A", amount=1.0,
    ).allowed  # fmt: skip


@pytest.mark.parametrize(
    ("requires", "problem"),
    [
        ('{x: {at: "accounts.{account_id}", each: args.account_ids}}', "does not name its item"),
        (
            '{x: {at: "accounts.{each}", each: args.amount}}',
            "each gives double, it should give a list",
        ),
        ('{x: {at: "accounts.{each}", each: args.amounts}}', "has no field 'amounts'"),
        ('{x: {at: "accounts.{each}"}}', "each"),
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, requires: str, problem: str) -> None:
    file = tmp_path / "bank.yaml"
    rules = rule("!has(args.account_ids) || size(x) > 0", requires=requires)
    file.write_text(f"{HEAD}rules:\n{rules}")
    messages = [f.message for f in read_outline(file).findings]
    assert any(problem in message for message in messages), messages
