"""Rules on whom the conversation serves, and on what state an order is in."""

from __future__ import annotations

from functools import lru_cache

from ledgeragent.ledger import Entry
from ledgeragent.packs.lookups import corrects
from ledgeragent.packs.retail.paths import (
    AUTH,
    CANCEL,
    COURSE,
    EXCHANGE,
    HANDLED,
    LOCATED,
    MODIFY,
    ON_ORDERS,
    ORDER,
    PROFILE,
    RETURN,
    handled,
    located,
    opened,
)
from ledgeragent.packs.retail.records import (
    CancelOrder,
    ModifyUserAddress,
    OrderCall,
    ReplaceItems,
    ReturnItems,
)
from ledgeragent.packs.wording import as_given
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
    counts, so that a mistyped one can be corrected. That is still possible once only a profile was
    opened, if the lookups differ by a slip of the keyboard.
    """
    course = ledger.entry(_COURSE)
    if course is None:
        return ledger.get(_AUTH)
    count, served = _located_so_far(tuple(course.value))
    if count > 1:
        return _served_of_several(course, ledger)
    return ledger.get(_AUTH) if served is None else served


@lru_cache
def _located_so_far(steps: tuple[str, ...]) -> tuple[int, str | None]:
    """How many people were located, and the only one, if something of them was opened.

    Remembered, since every decision on an order asks for it.
    """
    everyone = [step.removeprefix(LOCATED) for step in steps if step.startswith(LOCATED)]
    only = everyone[0] if everyone else ""
    return len(everyone), only if {opened(only), handled(only)} & {*steps} else None


def _served_of_several(course: Entry, ledger: View) -> str | None:
    """Whom a conversation serves in which more than one person was located."""
    first = _first_opened(course)
    if first is not None and handled(first) in course.value:
        return first
    latest = ledger.get(_AUTH)
    if first is None or (latest is not None and _corrects(latest, first, course)):
        return latest
    return first


def _first_opened(course: Entry) -> str | None:
    """The first person who was located and opened; of a profile opened by mistake, who corrected it.

    Somebody found by a lookup that was put right before anything of them was opened is not meant.
    """
    first: str | None = None
    named: dict[str, set[str]] = {}
    for step in course.value:
        kind, _, user_id = step.partition(":")
        kinds = named.setdefault(user_id, set())
        kinds.add(f"{kind}:")
        if len(kinds) == 1 or LOCATED not in kinds:
            continue
        if first is None and any(_corrects(other, user_id, course) for other in named):
            continue
        if first is None or _corrects(user_id, first, course):
            first = user_id
        if HANDLED in named[first]:
            return first
    return first


def _corrects(user_id: str, first: str, course: Entry) -> bool:
    """True if one person was located by correcting the lookup that located another."""
    steps = (located(user_id), located(first))
    if user_id == first or not all(step in course.value for step in steps):
        return False
    later, earlier = (course.origin((step,)) for step in steps)
    return later.turn >= earlier.turn and corrects(later.source, earlier.source)


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
        asked=Private(f"user_id {as_given(call['user_id'])}", instead="that"),
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
