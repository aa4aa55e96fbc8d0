"""What was written in a conversation: how often, how much, on which record; within a reply too."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgeragent.compiler.loader import read_outline
from ledgeragent.gate import Gate
from ledgeragent.session import Session
from ledgeragent.types import Reply, ToolReturn
from ledgeragent.verdict import Kind
from tests.compiler.small_bank import HEAD, bank, done, rule, transfer

pytest.importorskip("cel_expr_python")

SUM = "sum(writes.transfer.map(w, w.amount)) + args.amount <= params.limit"
ONCE = "size(writes.transfer) == 0"
ONCE_EACH = "!writes.transfer.exists(w, w.account_id == args.account_id)"


@pytest.mark.parametrize("check", [SUM, ONCE, ONCE_EACH])
def test_what_was_done_counts(tmp_path: Path, check: str) -> None:
    session = Session(bank(tmp_path, rule(check)))
    done(session, transfer(1))
    (verdict,) = session.filter(Reply(calls=(transfer(2),))).verdicts
    assert [f.kind for f in verdict.findings] == [Kind.VIOLATION]


def test_another_record_is_another_matter(tmp_path: Path) -> None:
    session = Session(bank(tmp_path, rule(ONCE_EACH)))
    done(session, transfer(1))
    assert session.filter(Reply(calls=(transfer(2, account_id="B"),))).verdicts[0].allowed


def test_a_write_that_failed_does_not_count(tmp_path: Path) -> None:
    session = Session(bank(tmp_path, rule(ONCE)))
    session.filter(Reply(calls=(transfer(1),)))
    session.observe(ToolReturn(call_id="t1", content="Error: no such account"))
    assert session.filter(Reply(calls=(transfer(2),))).verdicts[0].allowed


@pytest.mark.parametrize("check", [SUM, ONCE])
@pytest.mark.parametrize("order", ["any", "listed"])
def test_a_call_of_the_same_reply_counts(tmp_path: Path, check: str, order: str) -> None:
    gate = Gate(domain=bank(tmp_path, rule(check)), order=order)  # type: ignore[arg-type]
    calls = (transfer(1), transfer(2, account_id="B"))
    first, second = Session(gate).filter(Reply(calls=calls)).verdicts
    assert first.allowed
    assert not second.allowed
    assert not second.errors


def test_two_that_stay_within_the_limit_go_together(tmp_path: Path) -> None:
    session = Session(Gate(domain=bank(tmp_path, rule(SUM)), order="listed"))
    calls = (transfer(1, amount=40.0), transfer(2, account_id="B", amount=60.0))
    assert [v.allowed for v in session.filter(Reply(calls=calls)).verdicts] == [True, True]


def test_arguments_are_read_as_rules_read_them(tmp_path: Path) -> None:
    session = Session(bank(tmp_path, rule(SUM)))
    done(session, transfer(1, amount="60"))
    assert not session.filter(Reply(calls=(transfer(2),))).verdicts[0].allowed


@pytest.mark.parametrize(
    ("check", "problem"),
    [
        ("size(writes.tranfser) == 0", "has no field 'tranfser'; did you mean transfer?"),
        ("writes.transfer.all(w, w.amuont < 1.0)", "has no field 'amuont'"),
        ("writes.transfer.all(w, w.amount < 'x')", "does not apply to float and text"),
    ],
)
def test_names_and_types_are_checked(tmp_path: Path, check: str, problem: str) -> None:
    from ledgeragent.check import findings_of

    file = tmp_path / "bank.yaml"
    rules = rule("CHECK").replace("'CHECK'", f'"{check}"')
    file.write_text(f"{HEAD}rules:\n{rules}")
    messages = [f.message for f in findings_of(read_outline(file))]
    assert any(problem in message for message in messages), messages
