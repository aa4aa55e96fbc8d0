"""The telecom clauses, over the whole database. The day is 2025-02-25."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..judgement import Db, Judgement, Talk, successes

TODAY = "2025-02-25"
SAME = ()
_LOOKUPS = ("get_customer_by_phone", "get_customer_by_id", "get_customer_by_name")


def judge(db: Db, talk: Talk, tool: str, arguments: Mapping[str, Any]) -> Judgement:
    """What is wrong with a proposed write."""
    found = Judgement()
    looked_up = [e for e in successes(talk, *_LOOKUPS) if e.answer != "[]"]
    looked_up += [e for e in successes(talk, "get_details_by_id") if e.arguments["id"][0] == "C"]
    if not looked_up:
        found.ungrounded.add("telecom/customer-identified")
    customer = db["customers"].get(arguments["customer_id"])
    if customer is None:
        found.ghost = True
        return found
    bills = [db["bills"][key] for key in customer["bill_ids"]]
    if tool == "send_payment_request":
        _requesting(db, customer, bills, arguments["bill_id"], found)
        return found
    if arguments["line_id"] not in customer["line_ids"]:
        found.broken.add("telecom/line-belongs")
    line = db["lines"].get(arguments["line_id"])
    if tool == "resume_line":
        _resuming(line, bills, found)
    if tool == "refuel_data":
        earlier = [
            float(e.arguments["gb_amount"])
            for e in successes(talk, "refuel_data")
            if e.arguments["line_id"] == arguments["line_id"]
        ]
        if arguments["gb_amount"] > 0 and sum(earlier) + arguments["gb_amount"] > 2:
            found.broken.add("telecom/refuel-max")
        if arguments["gb_amount"] <= 0:
            found.broken.add("telecom/refuel-positive")
    if tool == "suspend_line":
        found.may.add("telecom/suspend-basis")
    return found


def _requesting(
    db: Db,
    customer: Mapping[str, Any],
    bills: list[Mapping[str, Any]],
    bill_id: str,
    found: Judgement,
) -> None:
    if bill_id not in customer["bill_ids"]:
        found.broken.add("telecom/bill-belongs")
    bill = db["bills"].get(bill_id)
    if bill is None:
        found.may.add("telecom/bill-overdue")
    elif bill["status"] != "Overdue":
        found.broken.add("telecom/bill-overdue")
    waiting = [b["bill_id"] for b in bills if b["status"] == "Awaiting Payment"]
    if any(other != bill_id for other in waiting):
        found.broken.add("telecom/single-awaiting")
    elif waiting:
        found.may.add("telecom/single-awaiting")


def _resuming(
    line: Mapping[str, Any] | None, bills: list[Mapping[str, Any]], found: Judgement
) -> None:
    statuses = {bill["status"] for bill in bills}
    # Where the line can't be resumed for another reason, no payment would help, and none is spoken of.
    helps = line is None or (line["status"] == "Suspended" and line["contract_end_date"] >= TODAY)
    if statuses & {"Overdue", "Awaiting Payment"}:
        (found.broken if helps else found.may).add("telecom/resume-bills-paid")
    elif "Disputed" in statuses:
        found.may.add("telecom/resume-bills-paid")
    if line is None:
        found.may |= {"telecom/resume-contract-ended", "telecom/resume-suspended-only"}
        return
    if line["contract_end_date"] < TODAY:
        found.broken.add("telecom/resume-contract-ended")
    if line["status"] == "Pending Activation":
        found.may.add("telecom/resume-suspended-only")
    elif line["status"] != "Suspended":
        found.broken.add("telecom/resume-suspended-only")
