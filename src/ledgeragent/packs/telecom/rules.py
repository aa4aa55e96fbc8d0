"""The telecom policy as predicates: one per clause that records, arguments and the clock decide.

A rule that a known fact can settle looks at every known fact before it asks for an unknown one, and
no rule asks for a line or bill that is not the customer's.
"""

from __future__ import annotations

from collections.abc import Iterator

from ledgeragent.packs.telecom.paths import AWAITING, BILL, CUSTOMER, LINE, LISTED_AT_MOST
from ledgeragent.packs.telecom.records import (
    Customer,
    CustomerCall,
    Line,
    LineCall,
    PaymentRequest,
    Refuel,
    Suspension,
)
from ledgeragent.predicates import Broken, MissingEvidence, View, demand, predicate, violation
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision, Enforcement

ON_LINES = ("resume_line", "refuel_data", "enable_roaming", "disable_roaming", "suspend_line")
OWED = ("Overdue", AWAITING)


def _details(record_id: str) -> ToolCall:
    return ToolCall(name="get_details_by_id", arguments={"id": record_id})


def _bill_list(customer: Customer) -> ToolCall:
    """The call that lists every bill of the customer, however many they have."""
    owner, known = customer["customer_id"], len(customer["bill_ids"])
    limit = {"limit": known + 1} if known >= LISTED_AT_MOST else {}
    return ToolCall(name="get_bills_for_customer", arguments={"customer_id": owner, **limit})


def _customer(call: CustomerCall, ledger: View) -> Customer | None:
    """The customer of the call, None where a lookup has shown that nobody has this id."""
    customer_id = call["customer_id"]
    customer = ledger.get(CUSTOMER(customer_id))
    # A list of bills tells the customer's bill ids and nothing else: it looks nobody up.
    if customer is not None and customer.get("customer_id") == customer_id:
        return customer
    lookup = ToolCall(name="get_customer_by_id", arguments={"customer_id": customer_id})
    if ledger.unavailable(lookup) or ledger.unavailable(_details(customer_id)):
        return None
    demand(CUSTOMER(customer_id))


def _owns_line(call: LineCall, ledger: View) -> bool:
    customer = _customer(call, ledger)
    return customer is not None and call["line_id"] in customer["line_ids"]


def _line(call: LineCall, ledger: View) -> Line | None:
    """The line of the call, None where asking for it would be asking for somebody else's."""
    path = LINE(call["line_id"])
    if ledger.get(path) is None and not _owns_line(call, ledger):
        return None
    return ledger[path]


def _owns_bill(call: PaymentRequest, ledger: View) -> bool:
    """What the bill says of its owner; if it was never read, what the customer's record says."""
    bill = ledger.get(BILL(call["bill_id"]))
    if bill is not None:
        return bill["customer_id"] == call["customer_id"]
    customer = _customer(call, ledger)
    return customer is not None and call["bill_id"] in customer["bill_ids"]


def _statuses(
    call: CustomerCall, ledger: View, besides: str | None = None
) -> Iterator[tuple[str, str]]:
    """Id and status of the customer's bills `besides` one: the known ones, then a demand for others."""
    customer = _customer(call, ledger)
    if customer is None:
        return
    unknown: MissingEvidence | None = None
    for bill_id in customer["bill_ids"]:
        if bill_id == besides:
            continue
        try:
            status = ledger[BILL(bill_id)]["status"]
        except MissingEvidence as missing:
            unknown = unknown or _asking(missing, _bill_list(customer), _details(bill_id))
        else:
            yield bill_id, status
    if unknown is not None:
        raise unknown


def _asking(missing: MissingEvidence, *reads: ToolCall) -> MissingEvidence:
    return MissingEvidence(missing.path, fields=missing.fields, stale=missing.stale, reads=reads)


def _has_ended(line: Line, ledger: View) -> bool:
    end = line["contract_end_date"]
    return end is not None and end < ledger.parameters["today"]


@predicate("telecom/customer-identified", guards=("send_payment_request", *ON_LINES))
def customer_identified(call: CustomerCall, ledger: View) -> Broken | None:
    """Nothing is done for a customer whose record was never looked up.

    Rejects: an id that a lookup did not find. Allows: a customer found by phone number.
    """
    if _customer(call, ledger) is not None:
        return None
    return violation(
        "there is no customer {customer}; look the customer up by phone number, "
        "or by full name and date of birth",
        customer=call["customer_id"],
    )


@predicate("telecom/line-belongs", guards=ON_LINES)
def line_belongs(call: LineCall, ledger: View) -> Broken | None:
    """A line is changed only for the customer it belongs to.

    Rejects: a line of somebody else. Allows: each line in the customer's record.
    """
    customer = _customer(call, ledger)
    if customer is None or call["line_id"] in customer["line_ids"]:
        return None
    return violation(
        "line {line} is not a line of customer {customer}; their lines are: {lines}",
        line=call["line_id"],
        customer=call["customer_id"],
        lines=customer["line_ids"],
    )


@predicate("telecom/bill-belongs", guards="send_payment_request")
def bill_belongs(call: PaymentRequest, ledger: View) -> Broken | None:
    """A payment request goes only to the customer whose bill it is.

    Rejects: a bill of somebody else. Allows: each bill in the customer's record.
    """
    if _owns_bill(call, ledger):
        return None
    return violation(
        "bill {bill} is not a bill of customer {customer}; choose one of their own bills",
        bill=call["bill_id"],
        customer=call["customer_id"],
    )


@predicate("telecom/bill-overdue", guards="send_payment_request")
def bill_overdue(call: PaymentRequest, ledger: View) -> Broken | None:
    """A payment request is sent only for a bill that is overdue.

    Rejects: a bill that was paid, or is not due yet. Allows: one whose status is Overdue.
    """
    if not _owns_bill(call, ledger):
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
    if not _owns_bill(call, ledger):
        return None
    for bill, status in _statuses(call, ledger, besides=call["bill_id"]):
        if status == AWAITING:
            return violation(
                "bill {bill} is {status} already; a request for another bill can be sent "
                "once that one is paid",
                bill=bill,
                status=status,
            )
    return None


@predicate("telecom/resume-bills-paid", guards="resume_line")
def resume_bills_paid(call: LineCall, ledger: View) -> Broken | None:
    """A suspension is lifted only after all overdue bills are paid.

    Rejects: an overdue bill, also one whose payment was requested. Allows: drafts and issued bills.
    """
    if not _owns_line(call, ledger):
        return None
    for bill, status in _statuses(call, ledger):
        if status in OWED:
            return violation(
                "bill {bill} is {status}; line {line} can be resumed once every overdue bill "
                "is read as Paid",
                bill=bill,
                status=status,
                line=call["line_id"],
            )
    return None


@predicate("telecom/resume-contract-ended", guards="resume_line", decision=Decision.BLOCK)
def resume_contract_ended(call: LineCall, ledger: View) -> Broken | None:
    """A suspension stays where the contract of the line has ended.

    Rejects: an end date before today, even if all is paid. Allows: an end today, or none.
    """
    line = _line(call, ledger)
    if line is None or not _has_ended(line, ledger):
        return None
    return violation(
        "the contract of line {line} ended on {end}, so its suspension cannot be lifted; "
        "only a line whose contract still runs can be resumed",
        line=call["line_id"],
        end=line["contract_end_date"],
    )


@predicate("telecom/resume-suspended-only", guards="resume_line")
def resume_suspended_only(call: LineCall, ledger: View) -> Broken | None:
    """Only a suspended line is resumed.

    Rejects: a line that is Active. Allows: a line last read as Suspended.
    """
    line = _line(call, ledger)
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
    line = _line(call, ledger)
    if line is None or _has_ended(line, ledger):
        return None
    if any(status == "Overdue" for _, status in _statuses(call, ledger)):
        return None
    return violation(
        "customer {customer} has no overdue bill and the contract of line {line} has not ended; "
        "a line is suspended for one of these",
        customer=call["customer_id"],
        line=call["line_id"],
    )


@predicate("telecom/refuel-max", guards="refuel_data")
def refuel_max(call: Refuel, ledger: View) -> Broken | None:
    """At most 2 GB are added. What was added earlier does not count: the policy leaves it open."""
    most = ledger.parameters["refuel_max_gb"]
    if call["gb_amount"] <= most:
        return None
    return violation(
        "{amount:g} GB is too much; at most {most:g} GB can be added",
        amount=call["gb_amount"],
        most=most,
    )


@predicate("telecom/refuel-positive", guards="refuel_data")
def refuel_positive(call: Refuel, ledger: View) -> Broken | None:
    """The amount of data to add is more than nothing."""
    if call["gb_amount"] > 0:
        return None
    return violation(
        "{amount:g} GB adds nothing; more than 0 GB and at most {most:g} GB can be added",
        amount=call["gb_amount"],
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
)
