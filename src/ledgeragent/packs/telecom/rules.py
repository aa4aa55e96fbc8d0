"""The telecom policy as predicates: one per clause that records, arguments and the clock decide."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from ledgeragent.packs.telecom.handover import transfer_unchecked, transfer_untried
from ledgeragent.packs.telecom.ownership import (
    bill_belongs,
    bill_statuses,
    contract_ended,
    customer_identified,
    customer_of,
    details,
    line_belongs,
    line_of,
    owns_bill,
    owns_line,
    usage_of,
)
from ledgeragent.packs.telecom.paths import AWAITING, BILL, LINE
from ledgeragent.packs.telecom.records import Customer, LineCall, PaymentRequest, Refuel, Suspension
from ledgeragent.packs.wording import exact
from ledgeragent.predicates import Broken, MissingEvidence, Private, View, predicate, violation
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Decision, Enforcement

OWED = ("Overdue", AWAITING)


@predicate("telecom/bill-overdue", guards="send_payment_request")
def bill_overdue(call: PaymentRequest, ledger: View) -> Broken | None:
    """A payment request is sent only for a bill that is overdue.

    Rejects: a bill that was paid, or is not due yet. Allows: one whose status is Overdue.
    """
    if not owns_bill(call, ledger):
        return None
    status = ledger[BILL(call["bill_id"])]["status"]
    if status == "Overdue":
        return None
    return violation(
        "bill {bill} is {status}; a payment request can be sent only for a bill that is Overdue",
        bill=call["bill_id"],
        status=status,
    )


@predicate("telecom/single-awaiting", guards="send_payment_request")
def single_awaiting(call: PaymentRequest, ledger: View) -> Broken | None:
    """At most one bill of a customer awaits payment.

    Rejects: a second request before the first is paid. Allows: one after the first is read as Paid.
    """
    customer = customer_of(call, ledger) if owns_bill(call, ledger) else None
    if customer is None:
        return None
    for bill, status in bill_statuses(customer, ledger, besides=call["bill_id"]):
        if status == AWAITING:
            return violation(
                "bill {bill} is {status} already; a request for another bill can be sent once that "
                "one is paid{read}",
                bill=bill,
                status=status,
                read=Private(f": when the customer says so, call {details(bill)}", ""),
            )
    return None


def _is_resumable(call: LineCall, ledger: View) -> bool:
    """False if what is known of the line shows that no payment would let it be resumed."""
    line = ledger.get(LINE(call["line_id"]))
    if line is None:
        return True
    try:
        return line["status"] == "Suspended" and not contract_ended(line, ledger)
    except MissingEvidence:
        return True


def _owed(customer: Customer, ledger: View) -> list[tuple[str, str]]:
    """The bills that are known to be owed, and their status; a demand for the others if none is."""
    owed = []
    try:
        for bill, status in bill_statuses(customer, ledger):
            if status in OWED:
                owed.append((bill, status))
    except MissingEvidence:
        if not owed:
            raise
    return owed


def _step_to_paid(customer_id: str, bill_id: str, status: str) -> str:
    """The advice on a bill that stands in the way."""
    if status == AWAITING:
        return f": when the customer has paid, call {details(bill_id)}"
    arguments = {"customer_id": customer_id, "bill_id": bill_id}
    return f": call {ToolCall(name='send_payment_request', arguments=arguments)}"


@predicate("telecom/resume-bills-paid", guards="resume_line")
def resume_bills_paid(call: LineCall, ledger: View) -> Broken | None:
    """A suspension is lifted only after all overdue bills are paid.

    Rejects: an overdue bill, also one whose payment was requested. Allows: drafts and issued bills.
    """
    customer = customer_of(call, ledger) if owns_line(call, ledger) else None
    if customer is None or not _is_resumable(call, ledger):
        return None
    owed = _owed(customer, ledger)
    if not owed:
        return None
    # One bill at a time may await payment: that one comes first.
    bill, status = next((b for b in owed if b[1] == AWAITING), owed[0])
    return violation(
        "bill {bill} is {status}; line {line} can be resumed once every overdue bill is paid{step}",
        bill=bill,
        status=status,
        line=call["line_id"],
        step=Private(_step_to_paid(customer["customer_id"], bill, status), ""),
    )


@predicate("telecom/resume-contract-ended", guards="resume_line", decision=Decision.BLOCK)
def resume_contract_ended(call: LineCall, ledger: View) -> Broken | None:
    """A suspension stays where the contract of the line has ended.

    Rejects: an end date before today, even if all is paid. Allows: an end today, or none.
    """
    line = line_of(call, ledger)
    if line is None or not contract_ended(line, ledger):
        return None
    return violation(
        "the contract of line {line} ended on {end}, so its suspension cannot be lifted; only a "
        "human agent can help with that{step}",
        line=call["line_id"],
        end=line["contract_end_date"],
        step=Private(": call transfer_to_human_agents", ""),
    )


@predicate("telecom/resume-suspended-only", guards="resume_line")
def resume_suspended_only(call: LineCall, ledger: View) -> Broken | None:
    """Only a suspended line is resumed.

    Rejects: a line that is Active. Allows: a line last read as Suspended.
    """
    line = line_of(call, ledger)
    if line is None or line["status"] == "Suspended":
        return None
    return violation(
        "line {line} is {status}; only a line that is Suspended can be resumed",
        line=call["line_id"],
        status=line["status"],
    )


@predicate("telecom/suspend-basis", guards="suspend_line", enforcement=Enforcement.AUDIT)
def suspend_basis(call: Suspension, ledger: View) -> Broken | None:
    """A line is suspended for an overdue bill or an ended contract.

    The policy may only describe here what the system does, so this is recorded, never enforced.
    """
    line = line_of(call, ledger)
    customer = customer_of(call, ledger)
    if line is None or customer is None or contract_ended(line, ledger):
        return None
    if any(status == "Overdue" for _, status in bill_statuses(customer, ledger)):
        return None
    return violation(
        "customer {customer} has no overdue bill and the contract of line {line} has not ended; "
        "a line is suspended for one of these",
        customer=call["customer_id"],
        line=call["line_id"],
    )


def _gigabytes(amount: Json) -> Fraction:
    """An amount as an exact number; 0 where it is none, since no tool adds that."""
    try:
        return Fraction(str(float(amount)))
    except (TypeError, ValueError, OverflowError):
        return Fraction(0)


def _added(calls: Iterable[ToolCall], line_id: str) -> Fraction:
    """The gigabytes that some writes have added to a line."""
    amounts = (
        call.arguments.get("gb_amount")
        for call in calls
        if call.name == "refuel_data" and call.arguments.get("line_id") == line_id
    )
    return sum(map(_gigabytes, amounts), Fraction(0))


def _added_before(call: Refuel, ledger: View) -> Fraction:
    """The gigabytes that were added to the line in this conversation.

    Of a refuel whose result never came, the usage of the line tells whether it was done.
    """
    line_id = call["line_id"]
    added = _added(ledger.writes, line_id)
    lost = _added((doubt.call for doubt in ledger.unconfirmed if not doubt.running), line_id)
    if not lost:
        return added
    usage = usage_of(call["customer_id"], line_id, ledger)
    return max(added - lost, min(added, _gigabytes(usage["data_refueling_gb"])))


@predicate("telecom/refuel-max", guards="refuel_data")
def refuel_max(call: Refuel, ledger: View) -> Broken | None:
    """At most 2 GB are added to a line, be it in several portions.

    Rejects: 2 GB more after 1 GB. Allows: 1 GB more after 1 GB. What was added before this
    conversation does not count: the policy leaves that open.
    """
    most = ledger.parameters["refuel_max_gb"]
    if call["gb_amount"] > most:
        return violation(
            "{argument}{amount} GB is too much; at most {most:g} GB can be added",
            argument=Private("gb_amount: ", ""),
            amount=exact(call["gb_amount"]),
            most=most,
        )
    before = _added_before(call, ledger)
    left = max(_gigabytes(most) - before, Fraction(0))
    if _gigabytes(call["gb_amount"]) <= left or call["gb_amount"] <= 0:
        return None
    return violation(
        "{argument}{amount} GB is too much: {before} GB were added to line {line} already, and "
        "at most {most:g} GB can be added in all, so {left} GB are left",
        argument=Private("gb_amount: ", ""),
        before=exact(float(before)),
        line=call["line_id"],
        most=most,
        left=exact(float(left)),
        amount=exact(call["gb_amount"]),
    )


@predicate("telecom/refuel-positive", guards="refuel_data")
def refuel_positive(call: Refuel, ledger: View) -> Broken | None:
    """The amount of data to add is more than nothing."""
    if call["gb_amount"] > 0:
        return None
    return violation(
        "{argument}{amount} GB adds nothing; more than 0 GB and at most {most:g} GB can be added",
        argument=Private("gb_amount: ", ""),
        amount=exact(call["gb_amount"]),
        most=ledger.parameters["refuel_max_gb"],
    )


RULES = (
    customer_identified,
    line_belongs,
    bill_belongs,
    bill_overdue,
    single_awaiting,
    resume_contract_ended,
    resume_suspended_only,
    resume_bills_paid,
    suspend_basis,
    refuel_max,
    refuel_positive,
    transfer_untried,
    transfer_unchecked,
)
