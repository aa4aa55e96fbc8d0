"""Where each telecom tool's return is stored, what each write makes stale, what customers change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from ledgeragent.effects import Neutral, Read, Write, touch
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.packs.telecom.records import (
    Bill,
    Customer,
    Device,
    Line,
    LineCall,
    PaymentRequest,
    Plan,
    Refuel,
    Suspension,
    Usage,
)
from ledgeragent.paths import PathTemplate
from ledgeragent.types import Arguments, Json

R = TypeVar("R")

CUSTOMER = PathTemplate("customers.{customer_id}", Customer)
LINE = PathTemplate("lines.{line_id}", Line)
BILL = PathTemplate("bills.{bill_id}", Bill)
DEVICE = PathTemplate("devices.{device_id}", Device)
PLAN = PathTemplate("plans.{plan_id}", Plan)
USAGE = PathTemplate("usage.{line_id}", Usage)

AWAITING = "Awaiting Payment"
LISTED_AT_MOST = 12
"""How many bills a list holds where the call sets no limit."""


def _not_found(answer: str) -> bool:
    """True for the failure that proves a record does not exist, unlike an outage."""
    return answer.startswith("Error") and " not found" in answer


def _details(to: PathTemplate[R], letter: str) -> Read[R]:
    """The route of `get_details_by_id` for one kind of record, told by the id's first letter."""
    return Read(
        tool="get_details_by_id",
        to=to,
        parameters=("id",),
        rename={to.keys[0]: "id"},
        when=lambda arguments: str(arguments.get("id")).startswith(letter),
        unavailable=_not_found,
    )


def _each(value: Json, arguments: Arguments) -> list[Mapping[str, Json]]:
    if isinstance(value, list) and all(isinstance(record, Mapping) for record in value):
        return value
    raise ValueError("the return is no list of records")


def _whole_list(value: Json, arguments: Arguments) -> Iterator[Json]:
    """The ids of all the customer's bills, unless the list may have been cut off at its limit."""
    limit = arguments.get("limit")
    most = LISTED_AT_MOST if limit is None else limit
    bills = _each(value, arguments)
    if isinstance(most, int) and len(bills) < most:
        yield {"bill_ids": [str(bill.get("bill_id")) for bill in bills]}


READS: tuple[Read[Any], ...] = (
    Read(
        tool="get_customer_by_id",
        to=CUSTOMER,
        parameters=("customer_id",),
        unavailable=_not_found,
    ),
    Read(tool="get_customer_by_phone", to=CUSTOMER, parameters=("phone_number",)),
    Read(tool="get_customer_by_name", to=CUSTOMER, parameters=("full_name", "dob"), records=_each),
    _details(CUSTOMER, "C"),
    _details(LINE, "L"),
    _details(BILL, "B"),
    _details(DEVICE, "D"),
    _details(PLAN, "P"),
    Read(
        tool="get_bills_for_customer",
        to=BILL,
        parameters=("customer_id",),
        records=_each,
        unavailable=_not_found,
    ),
    # Also an observation of `bill_ids`. `limit` stands among the parameters so that asking for a
    # customer never names this tool, which knows nothing else about them.
    Read(
        tool="get_bills_for_customer",
        to=CUSTOMER,
        parameters=("customer_id", "limit"),
        records=_whole_list,
        merge=True,
    ),
    Read(tool="get_data_usage", to=USAGE, parameters=("customer_id", "line_id")),
)


def _charged(arguments: Arguments, ledger: Ledger) -> Iterator[Touch]:
    """A refuel goes on the customer's draft bill; where none is known, a new bill may appear."""
    customer_id = str(arguments["customer_id"])
    drafts = [
        bill.path
        for bill in ledger.glob(BILL)
        if bill.value.get("customer_id") == customer_id and bill.value.get("status") == "Draft"
    ]
    for path in drafts:
        yield Touch(path, ("total_due",))
        yield Touch(path, ("line_items",))
    if not drafts:
        yield Touch(CUSTOMER(customer_id), ("bill_ids",))


_SUSPENSION = touch(LINE, "status", "suspension_start_date")
_ROAMING = touch(LINE, "roaming_enabled")

WRITES = (
    Write(tool="send_payment_request", arguments=PaymentRequest, touches=(touch(BILL, "status"),)),
    Write(tool="suspend_line", arguments=Suspension, touches=(_SUSPENSION,)),
    Write(tool="resume_line", arguments=LineCall, touches=(_SUSPENSION,)),
    Write(tool="enable_roaming", arguments=LineCall, touches=(_ROAMING,)),
    Write(tool="disable_roaming", arguments=LineCall, touches=(_ROAMING,)),
    Write(
        tool="refuel_data",
        arguments=Refuel,
        touches=(touch(LINE, "data_refueling_gb"), touch(USAGE, "data_refueling_gb"), _charged),
    ),
)

NEUTRALS = (Neutral(tool="transfer_to_human_agents"),)


def payable(ledger: Ledger) -> Iterator[Touch]:
    """What a turn of the customer may have changed: a bill that awaited payment may be paid now.

    It is the only change a customer can cause here; whatever else was read keeps its value.
    """
    for bill in ledger.glob(BILL):
        if bill.value.get("status") == AWAITING:
            yield Touch(bill.path, ("status",))
