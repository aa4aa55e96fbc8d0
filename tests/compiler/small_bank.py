"""A pack whose rules ask for the time and for what was written, and ways to vary it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ledgeragent.compiler.loader import load_pack
from ledgeragent.domain import Domain
from ledgeragent.gate import Gate
from ledgeragent.session import Session
from ledgeragent.types import Reply, ToolCall, ToolReturn

HEAD = """\
schema: ledgeragent/v1
domain: bank
timezone: Europe/Berlin
parameters: {days: 14, limit: 100.0}
records:
  Account: {account_id: str, opened_on: date, open: bool, limit: any}
reads:
  get_account: {to: "accounts.{account_id}", record: Account}
writes:
  transfer:
    arguments: {account_id: str, amount: float, account_ids: "list[str]?"}
    touches: ["accounts.{account_id}": limit]
  close: {arguments: {account_id: str}, touches: ["accounts.{account_id}": open]}
"""

ACCOUNT: dict[str, Any] = {
    "account_id": "A",
    "opened_on": "2025-03-01",
    "open": True,
    "limit": None,
}


def rule(check: str, **more: str) -> str:
    """One rule on transfers; what is `more` are its other keys."""
    keys = {"guards": "transfer", "check": repr(check), "message": "no", **more}
    lines = "".join(f"    {key}: {value}\n" for key, value in keys.items())
    return f"  - id: bank/rule\n{lines}"


def bank(tmp_path: Path, rules: str, head: str = HEAD) -> Domain:
    """The pack with these rules."""
    file = tmp_path / "bank.yaml"
    file.write_text(f"{head}rules:\n{rules}", encoding="utf-8")
    return load_pack(file)


def transfer(number: int = 1, **arguments: Any) -> ToolCall:
    """A transfer of 60 from account A."""
    given_arguments = {"account_id": "A", "amount": 60.0, **arguments}
    return ToolCall(name="transfer", arguments=given_arguments, id=f"t{number}")


def session_at(domain: Domain, *times: str) -> Session:
    """A session whose clock tells these times in turn."""
    moments = iter(times)
    return Session(Gate(domain=domain, clock=lambda: next(moments)))


def read(session: Session, **fields: Any) -> None:
    """Lets the session read account A."""
    call = ToolCall(name="get_account", arguments={"account_id": "A"}, id="r")
    session.filter(Reply(calls=(call,)))
    session.observe(ToolReturn(call_id="r", content={**ACCOUNT, **fields}))


def done(session: Session, call: ToolCall) -> None:
    """Lets the session do a call that it allows."""
    assert session.filter(Reply(calls=(call,))).execute == (call,)
    session.observe(ToolReturn(call_id=call.id, content="done"))
