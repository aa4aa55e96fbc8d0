"""The shop's rules on claims: what is refunded or sent again, until when, and for how much."""

from __future__ import annotations

from ledgeragent.demo.shop.pack.amounts import cents
from ledgeragent.demo.shop.pack.calendar import days_between
from ledgeragent.demo.shop.pack.paths import ORDER, PARCEL
from ledgeragent.demo.shop.pack.products import kind_of
from ledgeragent.demo.shop.pack.records import RefundItem, SendReplacement
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Decision

CLAIMS = ("refund_item", "send_replacement")


@predicate("shop/claim-window", guards=CLAIMS, decision=Decision.BLOCK)
def claim_window(call: SendReplacement, ledger: View) -> Broken | None:
    """A claim comes after delivery and in time.

    Rejects: a plant delivered 15 days ago.  Allows: a tool delivered 60 days ago.
    """
    parcel = ledger[PARCEL(call["parcel_id"])]
    if parcel["order_id"] != call["order_id"]:  # `claim_once` says so
        return None
    delivered = parcel["delivered_on"]
    if delivered is None:
        return violation(
            "parcel {parcel} is {status}; claims are for items that were delivered",
            parcel=call["parcel_id"],
            status=parcel["status"],
        )
    if call["sku"] not in parcel["items"]:
        return None
    kind = kind_of(call["sku"], call["order_id"], ledger)
    days = ledger.parameters["claim_days"][kind]
    if days_between(delivered, ledger.parameters["today"]) <= days:
        return None
    return violation(
        "parcel {parcel} was delivered on {delivered}, and claims for a {kind} end {days} days after",
        parcel=call["parcel_id"],
        delivered=delivered,
        kind=kind,
        days=days,
    )


@predicate("shop/claim-once", guards=CLAIMS)
def claim_once(call: SendReplacement, ledger: View) -> Broken | None:
    """A claim is for items of this order's parcel that were not claimed before."""
    parcel = ledger[PARCEL(call["parcel_id"])]
    if parcel["order_id"] != call["order_id"]:
        return violation(
            "parcel {parcel} does not belong to order {order}; name the parcel the item came in",
            parcel=call["parcel_id"],
            order=call["order_id"],
        )
    items = parcel["items"]
    if call["sku"] not in items:
        return violation(
            "parcel {parcel} held no {sku}, only {items}",
            parcel=call["parcel_id"],
            sku=call["sku"],
            items=list(items),
        )
    item = items[call["sku"]]
    left = item["quantity"] - item["refunded"] - item["replaced"]
    if 1 <= call["quantity"] <= left:
        return None
    return violation(
        "{quantity} of {sku} cannot be claimed: {left} of those in parcel {parcel} can be",
        quantity=call["quantity"],
        sku=call["sku"],
        left=left or "none",
        parcel=call["parcel_id"],
    )


@predicate("shop/price-paid", guards="refund_item")
def price_paid(call: RefundItem, ledger: View) -> Broken | None:
    """A refund is the price the customer paid, not today's."""
    lines = ledger[ORDER(call["order_id"])]["lines"]
    if call["sku"] not in lines:
        return violation(
            "order {order} holds no {sku}, only {lines}",
            order=call["order_id"],
            sku=call["sku"],
            lines=list(lines),
        )
    price = lines[call["sku"]]["unit_price"]
    owed = price * call["quantity"]
    if cents(owed) == cents(call["amount"]):
        return None
    return violation(
        "the customer paid {price:.2f} for one {sku}, so the refund for {quantity} is {owed:.2f},"
        " not {amount:.2f}",
        price=price,
        sku=call["sku"],
        quantity=call["quantity"],
        owed=owed,
        amount=call["amount"],
    )


CLAIM_RULES = (claim_window, claim_once, price_paid)
