"""Whose records are told to whom: nothing of a stranger's records gets out in a refusal."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgeragent.gate import Gate
from ledgeragent.types import Reply, ToolCall
from tests.packs.telecom.talk import TELECOM, TelecomTalk, bill, customer, line

SECRET = "zebra"
WRITES = {
    "send_payment_request": ("customer_id", "bill_id"),
    "resume_line": ("customer_id", "line_id"),
    "suspend_line": ("customer_id", "line_id", "reason"),
    "enable_roaming": ("customer_id", "line_id"),
    "disable_roaming": ("customer_id", "line_id"),
    "refuel_data": ("customer_id", "line_id", "gb_amount"),
}
STATUSES = ("Overdue", "Awaiting Payment", "Paid", f"{SECRET} status")
CUSTOMER = {
    "customer_id": "C8",
    "full_name": f"Ida {SECRET}",
    "date_of_birth": f"{SECRET} 1980",
    "email": f"{SECRET}@example.com",
    "phone_number": f"555 {SECRET}",
    "address": {"street": f"{SECRET} road", "city": SECRET, "state": SECRET, "zip_code": SECRET},
    "account_status": SECRET,
    "payment_methods": [{"method_type": SECRET, "account_number_last_4": SECRET}],
    "line_ids": ["L81", f"L{SECRET}"],
    "bill_ids": ["B81", f"B{SECRET}"],
    "created_at": SECRET,
    "last_extension_date": SECRET,
    "goodwill_credit_used_this_year": SECRET,
}


def strangers_line(status: str, end: str) -> dict[str, Any]:
    return {
        **line(line_id="L81", status=status, contract_end_date=end),
        "phone_number": f"555 {SECRET}",
        "plan_id": SECRET,
        "device_id": SECRET,
        "data_used_gb": SECRET,
        "last_plan_change_date": SECRET,
    }


def strangers_bill(status: str) -> dict[str, Any]:
    secret = {"total_due": SECRET, "line_items": [{"description": SECRET}], "due_date": SECRET}
    return bill("B81", status, customer_id="C8", **secret)


def scene(line_status: str, end: str, bill_status: str, known: bool) -> TelecomTalk:
    """The customer C7, and all that is secret of C8, were read."""
    talk = TelecomTalk().user("I am C7")
    talk.tool("get_customer_by_id", customer(), customer_id="C7")
    if known:
        talk.tool("get_customer_by_id", CUSTOMER, customer_id="C8")
    talk.details(strangers_line(line_status, end)).details(strangers_bill(bill_status))
    usage = {"line_id": "L81", "data_used_gb": SECRET, "data_limit_gb": SECRET}
    return talk.tool("get_data_usage", usage, customer_id="C8", line_id="L81")


def call_for(tool: str, customer_id: str, line_id: str, bill_id: str, amount: float) -> ToolCall:
    values = {
        "customer_id": customer_id,
        "line_id": line_id,
        "bill_id": bill_id,
        "gb_amount": amount,
        "reason": "travel",
    }
    return ToolCall(name=tool, arguments={name: values[name] for name in WRITES[tool]})


@settings(max_examples=300, deadline=None)
@given(
    tool=st.sampled_from(sorted(WRITES)),
    customer_id=st.sampled_from(["C7", "C8"]),
    statuses=st.tuples(
        st.sampled_from(["Suspended", "Active", "Closed", SECRET]), st.sampled_from(STATUSES)
    ),
    end=st.sampled_from(["2025-01-31", "2026-01-31", f"{SECRET} day"]),
    known=st.booleans(),
    amount=st.sampled_from([1.0, 3.0, -1.0]),
)
def test_nothing_of_a_strangers_records_is_told(
    tool: str,
    customer_id: str,
    statuses: tuple[str, str],
    end: str,
    known: bool,
    amount: float,
) -> None:
    """One of customer and record is the caller's own, the other the stranger's."""
    line_id, bill_id = ("L81", "B81") if customer_id == "C7" else ("L71", "B71")
    talk = scene(statuses[0], end, statuses[1], known)
    call = call_for(tool, customer_id, line_id, bill_id, amount)
    filtered = Gate(domain=TELECOM).filter(Reply(calls=(call,)), talk.ledger)
    (verdict,) = filtered.verdicts
    assert not verdict.allowed
    assert SECRET not in filtered.refusal
    # The model, which has read the customer's record, is told which lines are theirs, no more.
    lines = ", ".join(CUSTOMER["line_ids"][:-1]) + f" or {CUSTOMER['line_ids'][-1]}"
    assert SECRET not in verdict.feedback.replace(lines, "")


def test_only_the_rules_of_identity_speak_of_a_strangers_record() -> None:
    talk = scene("Active", "2025-01-31", "Overdue", known=True)
    for tool, own in (("resume_line", "L81"), ("refuel_data", "L81"), ("enable_roaming", "L81")):
        verdict = Gate(domain=TELECOM).judge(call_for(tool, "C7", own, "B81", 9.0), talk.ledger)
        assert [f.predicate for f in verdict.findings] == ["telecom/line-belongs"]
    verdict = Gate(domain=TELECOM).judge(
        call_for("send_payment_request", "C7", "", "B81", 0), talk.ledger
    )
    assert [f.predicate for f in verdict.findings] == ["telecom/bill-belongs"]


def test_until_the_customer_is_known_nothing_else_is_told() -> None:
    talk = TelecomTalk().user().details(line(status="Active")).details(bill("B71", "Paid"))
    verdict = Gate(domain=TELECOM).judge(call_for("resume_line", "C7", "L71", "", 0), talk.ledger)
    assert {f.predicate for f in verdict.findings} <= {
        "telecom/customer-identified",
        "telecom/line-belongs",
    }
    assert "Active" not in verdict.feedback


@pytest.mark.parametrize("said", ["I need help.", "My internet is slow."])
def test_a_hand_over_tells_nothing_of_a_strangers_line(said: str) -> None:
    talk = scene("Active", "2026-01-31", "Overdue", known=True).user(said)
    call = ToolCall(name="transfer_to_human_agents", arguments={"summary": "x"})
    filtered = Gate(domain=TELECOM).filter(Reply(calls=(call,)), talk.ledger)
    assert SECRET not in filtered.feedback + filtered.refusal
    assert json.dumps("L81") not in filtered.feedback
