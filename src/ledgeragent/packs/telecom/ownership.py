"""Whose records a call is about: the rules of identity, and the look-ups that all rules share.

A rule that a known fact can settle looks at every known fact before it asks for an unknown one, and
no rule asks for a line or bill that is not the customer's.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime

from ledgeragent.packs.telecom.paths import BILL, CUSTOMER, LINE, LISTED, LISTED_AT_MOST, USAGE
from ledgeragent.packs.telecom.records import (
    Customer,
    CustomerCall,
    Line,
    LineCall,
    PaymentRequest,
    Usage,
)
from ledgeragent.packs.wording import as_given
from ledgeragent.predicates import (
    Broken,
    MissingEvidence,
    Private,
    View,
    demand,
    predicate,
    violation,
)
from ledgeragent.types import ToolCall

_FOREIGN = "it should be the customer whose bills list it"
"""What is wrong with a bill that stands among one customer's and says to be another's."""

ON_LINES = ("resume_line", "refuel_data", "enable_roaming", "disable_roaming", "suspend_line")


def details(record_id: str) -> ToolCall:
    """The call that reads any record by its id."""
    return ToolCall(name="get_details_by_id", arguments={"id": record_id})


def _list_of(customer_id: str, **limit: int) -> ToolCall:
    return ToolCall(name="get_bills_for_customer", arguments={"customer_id": customer_id, **limit})


def _bill_list(customer: Customer) -> ToolCall:
    """The call that lists every bill of the customer, however many they have."""
    owner, count = customer["customer_id"], len(customer["bill_ids"])
    return _list_of(owner, limit=count + 1) if count >= LISTED_AT_MOST else _list_of(owner)


def customer_of(call: CustomerCall, ledger: View) -> Customer | None:
    """The customer of the call, None where a lookup has shown that nobody has this id."""
    customer_id = call["customer_id"]
    path = CUSTOMER(customer_id)
    customer, entry = ledger.get(path), ledger.entry(path)
    # A list of bills tells the customer's bill ids and nothing else: it looks nobody up.
    if customer is not None and entry is not None and not entry.value.keys() <= LISTED:
        _ = customer.get("customer_id")  # on this alone it rests: a new bill changes nothing of it
        return customer
    lookup = ToolCall(name="get_customer_by_id", arguments={"customer_id": customer_id})
    if ledger.unavailable(lookup) or ledger.unavailable(details(customer_id)):
        return None
    demand(CUSTOMER(customer_id))


def owns_line(call: LineCall, ledger: View) -> bool:
    """True if the line of the call is one of its customer's."""
    customer = customer_of(call, ledger)
    return customer is not None and call["line_id"] in customer["line_ids"]


def line_of(call: LineCall, ledger: View) -> Line | None:
    """The line of the call, None where asking for it would be asking for somebody else's."""
    path = LINE(call["line_id"])
    if ledger.get(path) is None and not owns_line(call, ledger):
        return None
    return ledger[path]


def owns_bill(call: PaymentRequest, ledger: View) -> bool:
    """The owner by the bill; if it was never read, by the customer's record."""
    bill = ledger.get(BILL(call["bill_id"]))
    if bill is not None:
        return bill["customer_id"] == call["customer_id"]
    customer = customer_of(call, ledger)
    return customer is not None and call["bill_id"] in customer["bill_ids"]


def bill_statuses(
    customer: Customer, ledger: View, besides: str | None = None
) -> Iterator[tuple[str, str]]:
    """Id and status of the customer's bills `besides` one: the known ones, then a demand for others."""
    unknown: MissingEvidence | None = None
    for bill_id in customer["bill_ids"]:
        if bill_id == besides:
            continue
        try:
            bill = ledger[BILL(bill_id)]
            if bill.get("customer_id") not in (None, customer["customer_id"]):
                raise MissingEvidence(BILL(bill_id), fields=("customer_id",), objection=_FOREIGN)
            status = bill["status"]
        except MissingEvidence as missing:
            unknown = unknown or _asking(missing, _bill_list(customer), details(bill_id))
        else:
            yield bill_id, status
    if unknown is not None:
        raise unknown


def _asking(missing: MissingEvidence, *reads: ToolCall) -> MissingEvidence:
    """The same need for evidence, met by other reads."""
    return MissingEvidence(
        missing.path,
        fields=missing.fields,
        stale=missing.stale,
        objection=missing.objection,
        reads=reads,
    )


def usage_of(customer_id: str, line_id: str, ledger: View, *others: ToolCall) -> Usage:
    """The data a line has used, and may use; where it is not known, a demand to read it.

    `others` are reads that would do as well.
    """
    arguments = {"customer_id": customer_id, "line_id": line_id}
    lookup = ToolCall(name="get_data_usage", arguments=arguments)
    try:
        usage = ledger[USAGE(line_id)]
        for name in ("data_used_gb", "data_limit_gb", "data_refueling_gb"):
            usage.get(name)
    except MissingEvidence as missing:
        raise _asking(missing, lookup, *others) from None
    return usage


def contract_ended(line: Line, ledger: View) -> bool:
    """True if the line's contract ended before today; one that ends today still runs."""
    end = line["contract_end_date"]
    if end is None:
        return False
    try:
        last_day = datetime.fromisoformat(end).date()
    except ValueError:
        objection = f"contract_end_date should be a date such as 2025-02-25, not {end!r}"
        raise MissingEvidence(
            LINE(line["line_id"]), fields=("contract_end_date",), objection=objection
        ) from None
    return last_day < date.fromisoformat(ledger.parameters["today"])


@predicate("telecom/customer-identified", guards=("send_payment_request", *ON_LINES), identity=True)
def customer_identified(call: CustomerCall, ledger: View) -> Broken | None:
    """Nothing is done for a customer whose record was never looked up.

    Rejects: an id that a lookup did not find. Allows: a customer found by phone number.
    """
    if customer_of(call, ledger) is not None:
        return None
    return violation(
        "there is no customer {customer}; ask for {by_phone}, or for {by_name}",
        customer=call["customer_id"],
        by_phone=Private("the phone number and call get_customer_by_phone", "the phone number"),
        by_name=Private(
            "full name and date of birth and call get_customer_by_name",
            "full name and date of birth",
        ),
    )


@predicate("telecom/line-belongs", guards=ON_LINES, identity=True)
def line_belongs(call: LineCall, ledger: View) -> Broken | None:
    """A line is changed only for the customer it belongs to.

    Rejects: a line of somebody else. Allows: each line in the customer's record.
    """
    customer = customer_of(call, ledger)
    if customer is None or call["line_id"] in customer["line_ids"]:
        return None
    return violation(
        "line {line} is not a line of customer {customer}; {choose} {lines}",
        line=as_given(call["line_id"]),
        customer=call["customer_id"],
        choose=Private("line_id must be", "choose"),
        lines=Private(customer["line_ids"], "one of their own lines"),
    )


@predicate("telecom/bill-belongs", guards="send_payment_request", identity=True)
def bill_belongs(call: PaymentRequest, ledger: View) -> Broken | None:
    """A payment request goes only to the customer whose bill it is.

    Rejects: a bill of somebody else. Allows: each bill in the customer's record.
    """
    if owns_bill(call, ledger):
        return None
    return violation(
        "bill {bill} is not a bill of customer {customer}; {choose} one of their own bills{listed}",
        bill=as_given(call["bill_id"]),
        customer=call["customer_id"],
        choose=Private("bill_id must be", "choose"),
        listed=Private(f", which {_list_of(call['customer_id'])} tells", ""),
    )
