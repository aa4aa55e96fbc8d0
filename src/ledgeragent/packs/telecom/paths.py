"""Where each telecom tool's return is stored, what each write makes stale, what customers change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, get_args

from ledgeragent.effects import Neutral, Read, Write, touch
from ledgeragent.ledger import Entry, Ledger, Touch
from ledgeragent.packs.telecom.records import (
    Bill,
    BillStatus,
    Customer,
    Device,
    Handover,
    Line,
    LineCall,
    LineStatus,
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

LISTED = frozenset({"customer_id", "bill_ids"})
"""All that a list of bills tells of the customer."""

_NO_SUCH = re.compile(r"\b(?:Customer|Line|Bill|Device|Plan) (?:with ID )?\S.* not found\b")
_STATUSES: Mapping[str, str] = {
    word.casefold(): word for word in (*get_args(BillStatus), *get_args(LineStatus))
}


def _not_found(answer: str) -> bool:
    """True for the failure that proves a record does not exist.

    An outage proves nothing, and no more does a tool that cannot be found.
    """
    return answer.startswith("Error") and _NO_SUCH.search(answer) is not None


def _spelled(record: Json) -> Json:
    """The record with its status in the spelling of the data: the policy itself writes PAID."""
    status = record.get("status") if isinstance(record, Mapping) else None
    if not isinstance(status, str):
        return record
    word = _STATUSES.get(status.replace("_", " ").strip(" ").casefold(), status)
    return record if word == status else {**record, "status": word}


def _asked_for(id_field: str) -> Callable[[Json, Arguments], Iterator[Json]]:
    """The record of `get_details_by_id`, if it is the one that was asked for."""

    def records(value: Json, arguments: Arguments) -> Iterator[Json]:
        if isinstance(value, Mapping) and value.get(id_field, arguments["id"]) != arguments["id"]:
            raise ValueError(f"the answer is about another {id_field} than {arguments['id']}")
        yield _spelled(value)

    return records


def _details(to: PathTemplate[R], letter: str) -> Read[R]:
    """The route of `get_details_by_id` for one kind of record, told by the id's first letter."""
    return Read(
        tool="get_details_by_id",
        to=to,
        parameters=("id",),
        rename={to.keys[0]: "id"},
        records=_asked_for(to.keys[0]),
        when=lambda arguments: str(arguments.get("id")).startswith(letter),
        unavailable=_not_found,
    )


def _each(value: Json, arguments: Arguments) -> list[Json]:
    if isinstance(value, list) and all(isinstance(record, Mapping) for record in value):
        return [_spelled(record) for record in value]
    raise ValueError("the return is no list of records")


def _whole_list(value: Json, arguments: Arguments) -> Iterator[Json]:
    """The ids of all the customer's bills, unless the list may have been cut off or filtered."""
    limit = arguments.get("limit")
    most = LISTED_AT_MOST if limit is None else limit
    bills = _each(value, arguments)
    filtered = arguments.keys() - {"customer_id", "limit"}
    if isinstance(most, int) and len(bills) < most and not filtered:
        yield {
            "customer_id": arguments["customer_id"],
            "bill_ids": [bill["bill_id"] for bill in bills],
        }


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
    # Also an observation of `bill_ids`. It is no way to ask for a customer, of whom it tells
    # nothing else, and an answer that is no list says nothing of them: so only the records, never
    # the arguments, give the key (nothing in a call is named as `rename` has it).
    Read(
        tool="get_bills_for_customer",
        to=CUSTOMER,
        rename={"customer_id": "owner_of_the_list"},
        when=lambda arguments: "owner_of_the_list" not in arguments,
        records=_whole_list,
        merge=True,
    ),
    Read(
        tool="get_data_usage",
        to=USAGE,
        parameters=("customer_id", "line_id"),
        unavailable=_not_found,
    ),
)


def _bills(ledger: Ledger) -> Iterator[Entry]:
    """The bills that were read and understood."""
    return (bill for bill in ledger.glob(BILL) if bill.typed)


def _charged(arguments: Arguments, ledger: Ledger) -> Iterator[Touch]:
    """A refuel goes on the customer's draft bill; where none is known, a new bill may appear."""
    customer_id = str(arguments["customer_id"])
    drafts = [
        bill.path
        for bill in _bills(ledger)
        if bill.value.get("customer_id") == customer_id and bill.value.get("status") == "Draft"
    ]
    for path in drafts:
        yield Touch(path, ("total_due",))
        yield Touch(path, ("line_items",))
    if not drafts:
        yield Touch(CUSTOMER(customer_id), ("bill_ids",))


_SUSPENSION = touch(LINE, "status", "suspension_start_date")
_ROAMING = touch(LINE, "roaming_enabled")

# Two of them answer with the line as they left it. It is read again all the same before another write
# rests on its status: the labelled behaviour of this domain is that a line is known by its reads.
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

NEUTRALS = (Neutral(tool="transfer_to_human_agents", arguments=Handover),)


def payable(ledger: Ledger) -> Iterator[Touch]:
    """The changes that a turn of the customer may have made: a bill that awaited payment may be paid now.

    It is the only change a customer can cause here; whatever else was read keeps its value.
    """
    for bill in _bills(ledger):
        if bill.value.get("status") == AWAITING:
            yield Touch(bill.path, ("status",))
