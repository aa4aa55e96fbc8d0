"""Rules on whom the conversation serves, and on what state an order is in."""

from __future__ import annotations

from ledgeragent.packs.retail.paths import (
    AUTH,
    CANCEL,
    COURSE,
    EXCHANGE,
    MODIFY,
    ON_ORDERS,
    ORDER,
    PROFILE,
    RETURN,
    located,
)
from ledgeragent.packs.retail.records import (
    CancelOrder,
    ModifyUserAddress,
    OrderCall,
    ReplaceItems,
    ReturnItems,
)
from ledgeragent.predicates import Broken, Private, View, predicate, violation
from ledgeragent.verdict import Decision

REASONS = ("no longer needed", "ordered by mistake")
CHANGED_ONCE = (
    "pending (item modified)",
    "pending (items modifed)",
    "return requested",
    "exchange requested",
)

_AUTH, _COURSE = AUTH(), COURSE()


def customer(ledger: View) -> str | None:
    """Whom this conversation serves, None if nobody was located.

    It is the first person who was located and of whom something was opened as well: from then on a
    lookup that finds somebody else hands the conversation over to nobody. Before, the latest lookup
    counts, so that a mistyped one can be corrected.
    """
    course = ledger.entry(_COURSE)
    if course is not None:
        named: list[str] = []
        for step in course.value:
            user_id: str = step.partition(":")[2]
            if user_id in named:  # located and opened, whichever came first
                return user_id
            named.append(user_id)
    return ledger.get(_AUTH)


def _noted(served: str, ledger: View) -> Private:
    """The customer, with the lookup that found them noted: only a rejection has to show it."""
    course = ledger.entry(_COURSE)
    by_course = course is not None and not course.stale and located(served) in course.value
    _ = ledger[_COURSE][located(served)] if by_course else ledger[_AUTH]
    return Private(served, instead="the customer")


@predicate("retail/authenticated", guards=(*ON_ORDERS, PROFILE), identity=True)
def authenticated(call: object, ledger: View) -> Broken | None:
    """The customer was located by email, or by name and zip code, before anything is changed."""
    _ = ledger[_AUTH]
    return None


@predicate("retail/one-user", guards=ON_ORDERS, decision=Decision.BLOCK, identity=True)
def one_user(call: OrderCall, ledger: View) -> Broken | None:
    """Only orders of the customer are handled.

    Rejects: the order of a sister, even if her profile was read. Allows: any order of their own.
    """
    owner, served = ledger[ORDER(call["order_id"])]["user_id"], customer(ledger)
    if owner == served or served is None:
        return None
    return violation(
        "order {order} belongs to somebody else; only orders of {served} can be handled here",
        order=call["order_id"],
        served=_noted(served, ledger),
    )


@predicate(
    "retail/one-user-profile",
    guards=PROFILE,
    clause="retail/one-user",
    decision=Decision.BLOCK,
    identity=True,
)
def one_user_profile(call: ModifyUserAddress, ledger: View) -> Broken | None:
    """Only the customer's own profile is changed."""
    served = customer(ledger)
    if served is None or call["user_id"] == served:
        return None
    return violation(
        "{asked} is somebody else's profile; only the profile of {served} can be changed here",
        asked=Private(f"user_id {call['user_id']}", instead="that"),
        served=_noted(served, ledger),
    )


@predicate("retail/order-observed", guards=ON_ORDERS, identity=True)
def order_observed(call: OrderCall, ledger: View) -> Broken | None:
    """The order was read, and its status not changed since, before anything is done with it."""
    _ = ledger[ORDER(call["order_id"])]["status"]
    return None


@predicate("retail/once-per-order", guards=ON_ORDERS, decision=Decision.BLOCK)
def once_per_order(call: OrderCall, ledger: View) -> Broken | None:
    """Items are changed, returned or exchanged once per order, and nothing is changed after that.

    Rejects: a new address once items were modified. Allows: items, after a new address.
    """
    status = ledger[ORDER(call["order_id"])]["status"]
    if status not in CHANGED_ONCE:
        return None
    return violation(
        "the items of order {order} were already changed, returned or exchanged (its status is "
        "{status}); that is possible once per order, and nothing about it can be changed afterwards",
        order=call["order_id"],
        status=status,
    )


@predicate("retail/cancel-pending", guards=CANCEL, decision=Decision.BLOCK)
def cancel_pending(call: CancelOrder, ledger: View) -> Broken | None:
    """Only a pending order can be cancelled."""
    return _must_be("pending", "cancelled", call, ledger)


@predicate("retail/modify-pending", guards=MODIFY, decision=Decision.BLOCK)
def modify_pending(call: OrderCall, ledger: View) -> Broken | None:
    """Address, payment and items change only while the order is pending."""
    return _must_be("pending", "modified", call, ledger)


@predicate("retail/return-delivered", guards=RETURN, decision=Decision.BLOCK)
def return_delivered(call: ReturnItems, ledger: View) -> Broken | None:
    """Only a delivered order can be returned."""
    return _must_be("delivered", "returned", call, ledger)


@predicate("retail/exchange-delivered", guards=EXCHANGE, decision=Decision.BLOCK)
def exchange_delivered(call: ReplaceItems, ledger: View) -> Broken | None:
    """Only a delivered order can be exchanged."""
    return _must_be("delivered", "exchanged", call, ledger)


def _must_be(needed: str, participle: str, call: OrderCall, ledger: View) -> Broken | None:
    status = ledger[ORDER(call["order_id"])]["status"]
    if status == needed or status in CHANGED_ONCE:  # the latter is for `once_per_order` to say
        return None
    return violation(
        "the status of order {order} is {status}; only a {needed} order can be {done}",
        order=call["order_id"],
        status=status,
        needed=needed,
        done=participle,
    )


@predicate("retail/cancel-reason", guards=CANCEL)
def cancel_reason(call: CancelOrder, ledger: View) -> Broken | None:
    """A cancellation gives one of the two reasons the shop accepts, word for word."""
    if call["reason"] in REASONS:
        return None
    return violation(
        "the reason '{reason}' is not accepted; it has to be {accepted}, word for word",
        reason=call["reason"],
        accepted=[f"'{reason}'" for reason in REASONS],
    )
