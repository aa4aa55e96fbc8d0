"""The guard on handing over: "try your best to resolve the issue before transferring".

The policy itself demands a hand-over where a line stays suspended because its contract has ended,
and where the SIM is locked with a PIN: there the rules are silent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ledgeragent.packs.telecom.ownership import bill_statuses, contract_ended, details, usage_of
from ledgeragent.packs.telecom.paths import AWAITING, BILL, CUSTOMER, LINE, PLAN, USAGE
from ledgeragent.packs.telecom.records import Customer, Handover, Line
from ledgeragent.packs.telecom.speech import (
    asks_about,
    asks_to_pay,
    is_about_data,
    is_about_mms,
    names_number,
    names_permissions,
    names_roaming_of_phone,
    offers_data,
    speaks_of_resuming,
    tells_locked_sim,
)
from ledgeragent.packs.wording import exact
from ledgeragent.predicates import Broken, MissingEvidence, Private, View, predicate, violation
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Enforcement

TRANSFER = "transfer_to_human_agents"
CLAUSE = "telecom/try-before-transfer"
OWES_NOTHING = frozenset({"Paid", "Draft", "Issued"})
"""The states of bills that nobody disputes and that are not due: a line is resumed beside them."""


class Subscription(NamedTuple):
    """A line that was read, with the customer it belongs to."""

    customer: Customer
    line: Line


class DataUse(NamedTuple):
    """The data that a line has used and may use in the current cycle, in GB."""

    used: float
    limit: float
    refuelled: float


def _known(record: Mapping[str, Any], name: str) -> Any:
    """A field, None where its value is not known: nobody is kept from a hand-over for that."""
    try:
        return record.get(name)
    except MissingEvidence:
        return None


def _subscriptions(view: View) -> Iterator[Subscription]:
    for _, customer in view.glob(CUSTOMER):
        for line_id in _known(customer, "line_ids") or ():
            line = view.get(LINE(line_id))
            if line is not None:
                yield Subscription(customer, line)


def _numbers_looked_up(view: View) -> tuple[str, ...]:
    entries = (view.entry(path) for path, _ in view.glob(CUSTOMER))
    # A list of bills, read later, tells of the customer as well: not who they are.
    sources = (entry.origin(("line_ids",)).source for entry in entries if entry is not None)
    numbers = (source.arguments.get("phone_number") for source in sources)
    return tuple(number for number in numbers if isinstance(number, str))


def in_question(view: View) -> tuple[Subscription, ...]:
    """The lines that the customer talks about, as far as they were read.

    Those whose number the customer gave last; else those whose number was looked up; else the only
    one that was read, unless the number that was looked up must be that of another.
    """
    subscriptions, looked_up = tuple(_subscriptions(view)), _numbers_looked_up(view)
    for text in (*reversed(view.said("user")), *looked_up):
        named = tuple(
            s for s in subscriptions if names_number(text, _known(s.line, "phone_number") or "")
        )
        if named:
            return named
    contacts = [_known(s.customer, "phone_number") or "" for s in subscriptions]
    is_contact = all(names_number(number, c) for number in looked_up for c in contacts)
    return subscriptions if len(subscriptions) == 1 and is_contact else ()


def _stays_suspended(line: Line, view: View) -> bool:
    """True for a suspended line whose contract has ended, or may have."""
    try:
        return line["status"] == "Suspended" and contract_ended(line, view)
    except MissingEvidence:
        return True


def _is_demanded(call: Handover, view: View, lines: tuple[Subscription, ...]) -> bool:
    """True where the policy itself demands that the customer is handed over."""
    locked = tells_locked_sim((*view.said("user"), call["summary"]))
    return locked or any(_stays_suspended(s.line, view) for s in lines)


def _data_use(subscription: Subscription, view: View) -> DataUse:
    """Read from the usage of the line, else from the line and its plan."""
    line = subscription.line
    usage, plan = view.get(USAGE(line["line_id"])), view.get(PLAN(line["plan_id"]))
    if usage is None and plan is not None:
        return DataUse(line["data_used_gb"], plan["data_limit_gb"], line["data_refueling_gb"])
    others = [details(line["plan_id"])] if usage is None else []
    usage = usage_of(subscription.customer["customer_id"], line["line_id"], view, *others)
    return DataUse(
        float(usage["data_used_gb"]),
        float(usage["data_limit_gb"]),
        float(usage["data_refueling_gb"]),
    )


def _done(view: View, tool: str, **arguments: str) -> bool:
    """True if a write of this tool, with these arguments, is known to have been done.

    One whose result never came is not: what it would have changed has to be read.
    """
    doubted = [doubt.call for doubt in view.unconfirmed]
    return any(
        write.name == tool and arguments.items() <= write.arguments.items()
        for write in view.writes
        if write not in doubted
    )


def _without_data(subscription: Subscription, view: View) -> Broken | None:
    """An active line that has used up its data, and was given none."""
    line = subscription.line
    line_id, customer_id = line["line_id"], subscription.customer["customer_id"]
    if _done(view, "refuel_data", line_id=line_id):
        return None
    use = _data_use(subscription, view)
    spoken = view.said("agent")
    if offers_data(spoken) or asks_about(spoken, "GB", "$"):
        return None
    if not use.used > use.limit or use.refuelled > 0:
        return None
    return violation(
        "line {line} has used {used:g} GB of {limit:g} GB, so it has no data, and up to {most:g} GB "
        "can be added{steps}",
        line=line_id,
        used=use.used,
        limit=use.limit,
        most=view.parameters["refuel_max_gb"],
        steps=Private(
            f": offer that first ({details(line['plan_id'])} tells the price per GB), then call "
            f'refuel_data(customer_id="{customer_id}", line_id="{line_id}", gb_amount=?); hand over '
            "if they decline, or if it does not help",
            "",
        ),
    )


def _is_offered(bill_id: str, view: View) -> bool:
    """True if the agent has spoken of paying, or asked about this bill and its amount."""
    bill, spoken = view[BILL(bill_id)], view.said("agent")
    amount = _known(bill, "total_due")
    return asks_to_pay(spoken) or (
        isinstance(amount, (int, float)) and asks_about(spoken, bill_id, exact(amount))
    )


def _suspended(subscription: Subscription, view: View) -> Broken | None:
    """A suspended line whose overdue bill the customer was not asked to pay, or that owes nothing."""
    customer = subscription.customer
    is_requested = _done(view, "send_payment_request", customer_id=customer["customer_id"])
    try:
        statuses = dict(bill_statuses(customer, view))
    except MissingEvidence:
        if is_requested:
            return None
        raise
    overdue = [bill for bill, status in statuses.items() if status == "Overdue"]
    if not overdue:
        return _unresumed(subscription, view) if {*statuses.values()} <= OWES_NOTHING else None
    if is_requested or AWAITING in statuses.values() or _is_offered(overdue[0], view):
        return None
    arguments = {"customer_id": customer["customer_id"], "bill_id": overdue[0]}
    request = ToolCall(name="send_payment_request", arguments=arguments)
    return violation(
        "line {line} is Suspended and bill {bill} is Overdue; it can be paid now, and the line "
        "resumed once every overdue bill is paid{steps}",
        line=subscription.line["line_id"],
        bill=overdue[0],
        steps=Private(f": offer that first, then call {request}; hand over if they decline", ""),
    )


def _unresumed(subscription: Subscription, view: View) -> Broken | None:
    """A suspended line that nothing keeps from being resumed."""
    line_id, spoken = subscription.line["line_id"], view.said("agent")
    # In whatever language, they have spoken of this line.
    if speaks_of_resuming(spoken) or any(line_id in text for text in spoken):
        return None
    arguments = {"customer_id": subscription.customer["customer_id"], "line_id": line_id}
    resumption = ToolCall(name="resume_line", arguments=arguments)
    return violation(
        "line {line} is Suspended, no bill is Overdue and its contract runs, so it can be resumed"
        "{steps}",
        line=line_id,
        steps=Private(
            f": call {resumption} first; hand over if that does not help, or is refused and you "
            f"have told the customer that {line_id} can't be resumed",
            "",
        ),
    )


def _remedy_left(subscription: Subscription, view: View) -> Broken | None:
    """The help that a line can still get, None where nothing is known of."""
    remedies = {"Active": _without_data, "Suspended": _suspended}
    remedy = remedies.get(_known(subscription.line, "status"))
    try:
        return remedy(subscription, view) if remedy is not None else None
    except ValueError:
        return None
    except MissingEvidence as missing:
        # What was read and is still not known will not be known by reading it again.
        if missing.stale is None and view.entry(missing.path) is not None:
            return None
        raise


@predicate("telecom/transfer-untried", guards=TRANSFER, clause=CLAUSE)
def transfer_untried(call: Handover, view: View) -> Broken | None:
    """A customer is not handed over while their line lacks data, a payment or a resumption to be had.

    Rejects: the limit of an active line exceeded, and no data added or offered; a suspended line
    with an overdue bill, and no payment requested or offered; one with none, that was not resumed.
    Allows: a locked SIM, an ended contract, a customer whose line was never read.
    """
    lines = in_question(view)
    if _is_demanded(call, view, lines):
        return None
    return next(filter(None, (_remedy_left(line, view) for line in lines)), None)


@predicate(
    "telecom/transfer-unchecked", guards=TRANSFER, clause=CLAUSE, enforcement=Enforcement.WARN
)
def transfer_unchecked(call: Handover, view: View) -> Broken | None:
    """Before a hand-over for data or MMS, the phone's own switches were spoken of.

    Rejects: an agent who never named the data roaming of the phone or, for MMS, the permissions of
    the messaging app. Allows: whatever the customer does not call a matter of data or MMS.
    """
    heard, spoken = view.said("user"), view.said("agent")
    about_mms = is_about_mms(heard)
    if not (about_mms or is_about_data(heard)) or _is_demanded(call, view, in_question(view)):
        return None
    unnamed = []
    if not names_roaming_of_phone(spoken):
        unnamed.append("whether data roaming is on in the phone's settings")
    if about_mms and not names_permissions(spoken):
        unnamed.append("whether the messaging app has the permissions for storage and SMS")
    if not unnamed:
        return None
    return violation(
        "the customer was never asked {checks}; have them look before handing over",
        checks=" and ".join(unnamed),
    )
