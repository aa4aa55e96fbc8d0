"""The shop's rules: one predicate per clause of `policy.md` that records can decide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ledgeragent.demo.shop.pack.boxes import BOX_RULES, BOXES
from ledgeragent.demo.shop.pack.calendar import days_between
from ledgeragent.demo.shop.pack.paths import AUTH, BOX, ORDER, PARCEL, PRODUCT, VOUCHER
from ledgeragent.demo.shop.pack.records import (
    ApplyVoucher,
    CancelOrder,
    ChangeAddress,
    ChangeQuantity,
    RefundItem,
    SendReplacement,
)
from ledgeragent.demo.shop.pack.vouchers import VOUCHER_RULES, cents
from ledgeragent.paths import Path
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Decision

BLOCK = Decision.BLOCK
CHANGES = ("change_address", "change_quantity", "apply_voucher")
CLAIMS = ("refund_item", "send_replacement")


@predicate(
    "shop/own-account",
    guards=("cancel_order", *CHANGES, *CLAIMS, *BOXES),
    decision=BLOCK,
    identity=True,
)
def own_account(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """Orders, vouchers and boxes change only for the customer they belong to."""
    customer = ledger[AUTH()]
    for what, path in _subjects(call):
        owner = ledger[path]["customer_id"]
        if owner not in (customer, None):
            return violation("{what} is not on the account of this customer", what=what)
    return None


def _subjects(call: Mapping[str, Any]) -> Iterator[tuple[str, Path[Any]]]:
    """The subject of the call, as named to a customer, and where its owner is known."""
    if "order_id" in call:
        yield f"order {call['order_id']}", ORDER(str(call["order_id"]))
    if "code" in call:
        yield f"voucher {call['code']}", VOUCHER(str(call["code"]))
    if "box_id" in call:
        yield f"box {call['box_id']}", BOX(str(call["box_id"]))


@predicate("shop/cancel-open", guards="cancel_order", decision=BLOCK)
def cancel_open(call: CancelOrder, ledger: View) -> Broken | None:
    """Only an open order can be cancelled.

    Rejects: an order that the nursery has packed.  Allows: one that it has not.
    """
    status = ledger[ORDER(call["order_id"])]["status"]
    if status == "open":
        return None
    return violation(
        "order {order} is {status}, and only an order that is still open can be cancelled",
        order=call["order_id"],
        status=status,
    )


@predicate("shop/change-open", guards=CHANGES, decision=BLOCK)
def change_open(call: ChangeAddress | ChangeQuantity | ApplyVoucher, ledger: View) -> Broken | None:
    """Address, contents and payment of an order change only while it is open."""
    status = ledger[ORDER(call["order_id"])]["status"]
    if status == "open":
        return None
    return violation(
        "order {order} is {status}; address, contents and vouchers change only while it is open",
        order=call["order_id"],
        status=status,
    )


@predicate("shop/plant-destination", guards="change_address", clause="shop/plant-countries")
def plant_destination(call: ChangeAddress, ledger: View) -> Broken | None:
    """An order with plants stays in the countries that plants are delivered to."""
    allowed = ledger.parameters["plant_countries"]
    if call["country"] in allowed:
        return None
    lines = ledger[ORDER(call["order_id"])]["lines"]
    plants = [sku for sku in lines if lines[sku]["kind"] == "plant"]
    return _no_plants(plants, call["country"], allowed) if plants else None


@predicate("shop/plant-added", guards="change_quantity", clause="shop/plant-countries")
def plant_added(call: ChangeQuantity, ledger: View) -> Broken | None:
    """No plant is added to an order that goes where plants are not delivered to."""
    allowed = ledger.parameters["plant_countries"]
    if call["quantity"] < 1:
        return None
    country = ledger[ORDER(call["order_id"])]["delivery"]["address"]["country"]
    if country in allowed or _kind(call["sku"], call["order_id"], ledger) != "plant":
        return None
    return _no_plants([call["sku"]], country, allowed)


def _no_plants(plants: list[str], country: str, allowed: list[str]) -> Broken:
    return violation(
        "{plants} cannot go to {country}: plants are delivered to {allowed} only",
        plants=" and ".join(plants),
        country=country,
        allowed=allowed,
    )


def _kind(sku: str, order_id: str, ledger: View) -> str:
    """The kind of a product, which the order tells if it holds some already."""
    lines = ledger[ORDER(order_id)]["lines"]
    return lines[sku]["kind"] if sku in lines else ledger[PRODUCT(sku)]["kind"]


@predicate("shop/in-stock", guards="change_quantity")
def in_stock(call: ChangeQuantity, ledger: View) -> Broken | None:
    """What an order gains is in stock.

    Rejects: five more where three are left.  Allows: taking something out, whatever the stock.
    """
    if call["quantity"] < 1:
        return None
    lines = ledger[ORDER(call["order_id"])]["lines"]
    in_order = lines[call["sku"]]["quantity"] if call["sku"] in lines else 0
    if call["quantity"] <= in_order:
        return None
    stock = ledger[PRODUCT(call["sku"])]["stock"]
    if call["quantity"] - in_order <= stock:
        return None
    return violation(
        "the order can hold at most {most} of {sku}, not {wanted}: {stock} more are in stock",
        most=in_order + stock,
        sku=call["sku"],
        wanted=call["quantity"],
        stock=stock,
    )


@predicate("shop/replacement-in-stock", guards="send_replacement", clause="shop/in-stock")
def replacement_in_stock(call: SendReplacement, ledger: View) -> Broken | None:
    """What is sent again is in stock."""
    stock = ledger[PRODUCT(call["sku"])]["stock"]
    if call["quantity"] <= stock:
        return None
    return violation(
        "{wanted} of {sku} cannot be sent again: {stock} in stock; a refund is possible instead",
        wanted=call["quantity"],
        sku=call["sku"],
        stock=stock,
    )


@predicate("shop/last-item", guards="change_quantity")
def last_item(call: ChangeQuantity, ledger: View) -> Broken | None:
    """An order keeps at least one product."""
    if call["quantity"] > 0:
        return None
    if call["quantity"] < 0:
        return violation(
            "an order cannot hold {quantity} of {sku}: 0 takes it out",
            quantity=call["quantity"],
            sku=call["sku"],
        )
    lines = ledger[ORDER(call["order_id"])]["lines"]
    if call["sku"] not in lines or len(lines) > 1:
        return None
    return violation(
        "{sku} is the last product of order {order}: keep at least 1, or cancel the order",
        sku=call["sku"],
        order=call["order_id"],
    )


@predicate("shop/claim-window", guards=CLAIMS, decision=BLOCK)
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
    kind = _kind(call["sku"], call["order_id"], ledger)
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


PREDICATES = (
    own_account,
    cancel_open,
    change_open,
    plant_destination,
    plant_added,
    in_stock,
    replacement_in_stock,
    last_item,
    *VOUCHER_RULES,
    claim_window,
    claim_once,
    price_paid,
    *BOX_RULES,
)
