"""Handing over to a person: what could still be done, what was declined, what the policy demands."""

from __future__ import annotations

from typing import Any

from tests.packs.telecom.talk import bill, line

from . import telecom as phone
from .rows import NEVER, Answered, Rows, Step, done, may

ROWS = Rows("telecom", "handover")
add, policy = ROWS.add, ROWS.policy
NUMBER = "555-010-0071"
OVERDUE, PAID = phone.OVERDUE, phone.PAID
START: tuple[Step, ...] = (phone.HELLO, phone.ME)
DUE, SETTLED = phone.bills(OVERDUE, PAID), phone.ALL_PAID
RESUMED = {"message": "Line resumed successfully", "line": line(status="Active")}
LOCKED = "My SIM is locked and asks for the PUK"


def active(used: float = 3.0, **more: Any) -> Answered:
    """The line in service, with what it has used of its plan."""
    record = line(status="Active", plan_id="P71", phone_number=NUMBER, data_used_gb=used, **more)
    return phone.details(record)


def usage(used: str, refuelled: str = "0.0") -> Answered:
    answer = {
        "line_id": "L71",
        "data_used_gb": used,
        "data_limit_gb": "5.0",
        "data_refueling_gb": refuelled,
    }
    return "get_data_usage", {"customer_id": "C7", "line_id": "L71"}, answer


policy("try your best to resolve the issue before transferring")
for note, steps, accept in (
    ("nobody looked up", (), "allow"),
    ("nobody found", (phone.phone("Error: Customer with phone number 555 not found"),), "allow"),
    ("no line read", START, "allow"),
    ("bills unread", (*START, phone.LINE), "ask"),
    ("one bill to pay", (*START, phone.LINE, DUE), "reject"),
    ("nothing to pay", (*START, phone.LINE, SETTLED), "reject"),
    ("nothing to pay, asks for a person", (*START, phone.LINE, SETTLED, "A human, now!"), "reject"),
    (
        "nothing due yet",
        (*START, phone.LINE, phone.bills(PAID, bill("B71", "Issued"))),
        "reject",
    ),
    (
        "a bill in dispute",
        (*START, phone.LINE, phone.bills(PAID, bill("B71", "Disputed"))),
        "allow",
    ),
    (
        "a bill that awaits payment",
        (*START, phone.LINE, phone.bills(PAID, bill("B71", "Awaiting Payment"))),
        "allow or ask",
    ),
    ("a request sent, then declined", (*START, phone.LINE, DUE, done(phone.ask()), "No."), "allow"),
    (
        "a request sent, then paid",
        (*START, phone.LINE, DUE, done(phone.ask()), "Paid.", SETTLED),
        "reject",
    ),
    (
        "paid, resumed, still dead",
        (*START, phone.LINE, SETTLED, done(phone.RESUME, RESUMED), "Rebooted, still nothing."),
        "allow",
    ),
    (
        "resumed for all that is known",
        (*START, phone.LINE, SETTLED, done(phone.RESUME, NEVER), "And?"),
        "allow or ask",
    ),
    (
        "the contract ended, nothing to pay",
        (*START, phone.details(line(contract_end_date="2025-02-24")), SETTLED),
        "allow",
    ),
    (
        "the contract ends today, nothing to pay",
        (*START, phone.details(line(contract_end_date="2025-02-25")), SETTLED),
        "reject",
    ),
    (
        "a contract end that is no date",
        (*START, phone.details(line(contract_end_date="next spring")), SETTLED),
        "allow or ask",
    ),
    ("a locked SIM", (*START, phone.LINE, SETTLED, LOCKED), "allow"),
    ("the line is closed", (*START, phone.details(line(status="Closed")), SETTLED), "allow"),
    ("in service, use unread", (*START, active()), "ask"),
    ("in service, data left", (*START, active(), usage("3.0")), "allow"),
    ("in service, data used up", (*START, active(5.5), usage("5.5")), "reject"),
    ("data used up, some was added", (*START, active(5.5), usage("5.5", "1.0")), "allow"),
    (
        "data used up, a refuel executed",
        (*START, active(5.5), usage("5.5"), done(phone.REFUEL), "Still slow."),
        "allow",
    ),
    (
        "data used up, the refuel refused",
        (*START, active(5.5), usage("5.5"), done(phone.REFUEL, "Error: line locked"), "And?"),
        "reject",
    ),
    (
        "data used up, the refuel unheard of",
        (*START, active(5.5), usage("5.5"), done(phone.REFUEL, NEVER), "And?"),
        "ask",
    ),
    (
        "another line owes nothing",
        (*START, active(), usage("3.0"), phone.details(line(line_id="L72")), SETTLED, NUMBER),
        "allow",
    ),
):
    add(note, *steps, may(accept, phone.HAND))
