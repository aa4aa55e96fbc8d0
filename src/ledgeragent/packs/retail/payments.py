"""Rules on who pays, and who is paid back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.packs.retail.items import swaps, variant
from ledgeragent.packs.retail.orders import customer
from ledgeragent.packs.retail.paths import ORDER, PAYMENT, REPLACE, RETURN, USER
from ledgeragent.packs.retail.records import (
    ModifyPayment,
    Order,
    Payment,
    PaymentMethod,
    ReplaceItems,
    ReturnItems,
)
from ledgeragent.predicates import Broken, MissingEvidence, View, predicate, violation

Wallet = Mapping[str, PaymentMethod]
"""Payment methods by id."""

NO_BALANCE = ("credit_card_", "paypal_")
"""How the ids of payment methods without a balance begin."""


def wallet(order: Order, ledger: View) -> Wallet | None:
    """The payment methods of whoever ordered; asks for their profile.

    None for somebody else's order whose profile is not known: the order is refused as such, and
    nobody is sent to open a stranger's profile for it.
    """
    try:
        profile: Any = ledger[USER(order["user_id"])]
        methods: Wallet = profile.at_once("payment_methods")
    except MissingEvidence:
        if customer(ledger) in (None, order["user_id"]):
            raise
        return None
    return methods


def is_gift_card(id: str, methods: Wallet) -> bool:
    """True if `id` is one of these methods and a gift card."""
    return id in methods and methods[id]["source"] == "gift_card"


def covers(id: str, methods: Wallet, amount: float) -> bool:
    """True if the balance of the gift card `id` is at least `amount`."""
    return float(methods[id]["balance"]) >= amount


def first_payment(order: Order) -> Payment | None:
    """The payment the order was placed with."""
    history = order["payment_history"]
    return history[0] if history else None


def cost(order: Order) -> float:
    """What the items of the order cost, in dollars."""
    return round(sum(float(item["price"]) for item in order["items"]), 2)


@predicate("retail/payment-different", guards=PAYMENT)
def payment_different(call: ModifyPayment, ledger: View) -> Broken | None:
    """A new payment method is another one than the original."""
    paid = first_payment(ledger[ORDER(call["order_id"])])
    if paid is None or call["payment_method_id"] != paid["payment_method_id"]:
        return None
    return violation(
        "{chosen} is what order {order} was paid with; the new payment method has to differ from it",
        chosen=call["payment_method_id"],
        order=call["order_id"],
    )


@predicate("retail/payment-balance", guards=PAYMENT)
def payment_balance(call: ModifyPayment, ledger: View) -> Broken | None:
    """A gift card that is to pay for the whole order has enough on it."""
    order, chosen = ledger[ORDER(call["order_id"])], call["payment_method_id"]
    paid = first_payment(order)
    if paid is None or paid["payment_method_id"] == chosen:
        return None
    methods, total = wallet(order, ledger), cost(order)
    if methods is None or not is_gift_card(chosen, methods) or covers(chosen, methods, total):
        return None
    return _short_of(chosen, methods, f"order {call['order_id']} costs", total)


@predicate("retail/payment-in-profile", guards=(PAYMENT, *REPLACE))
def payment_in_profile(call: ModifyPayment | ReplaceItems, ledger: View) -> Broken | None:
    """Payment comes from the customer's own methods.

    A method that the order was paid with is one of them, so only another one needs the profile.
    """
    order, chosen = ledger[ORDER(call["order_id"])], call["payment_method_id"]
    if ledger.entry(USER(order["user_id"])) is None and chosen in _paid_with(order):
        return None
    methods = wallet(order, ledger)
    if methods is None or chosen in methods:
        return None
    return violation(
        "{chosen} is no payment method of the customer; choose {methods}",
        chosen=chosen,
        methods=list(methods),
    )


@predicate("retail/difference-balance", guards=REPLACE)
def difference_balance(call: ReplaceItems, ledger: View) -> Broken | None:
    """A gift card that pays the price difference has enough on it.

    Asks for the balance only where there is something to pay. Allows: any refund to a gift card.
    """
    order, chosen = ledger[ORDER(call["order_id"])], call["payment_method_id"]
    if ledger.entry(USER(order["user_id"])) is None:
        if chosen.startswith(NO_BALANCE):
            return None
    elif not is_gift_card(chosen, wallet(order, ledger) or {}):
        return None
    if price_difference(call, ledger, current=False) <= 0:
        return None
    difference = price_difference(call, ledger)
    if difference <= 0:
        return None
    methods = wallet(order, ledger)
    if methods is None or not is_gift_card(chosen, methods) or covers(chosen, methods, difference):
        return None
    return _short_of(chosen, methods, "the price difference is", difference)


def price_difference(call: ReplaceItems, ledger: View, *, current: bool = True) -> float:
    """What the new items cost more than the old ones; 0 where one of them is no variant at all.

    Unless the prices have to be `current`, what a new item cost in another order will do.
    """
    difference = 0.0
    for swap in swaps(call, ledger):
        new = variant(swap, ledger, current=current)
        if new is None:
            return 0.0
        difference += float(new["price"]) - float(swap.old["price"])
    return round(difference, 2)


def _short_of(chosen: str, methods: Wallet, what: str, amount: float) -> Broken:
    return violation(
        "{what} ${amount}, but gift card {chosen} holds ${balance}; choose another payment method",
        what=what,
        amount=f"{amount:.2f}",
        chosen=chosen,
        balance=f"{float(methods[chosen]['balance']):.2f}",
    )


def _paid_with(order: Order) -> list[str]:
    return [payment["payment_method_id"] for payment in order["payment_history"]]


@predicate("retail/refund-destination", guards=RETURN)
def refund_destination(call: ReturnItems, ledger: View) -> Broken | None:
    """A refund goes to the order's original payment method, or to a gift card of the customer.

    Rejects: the customer's other credit card, also if the order's payment was changed to it later.
    Allows: a gift card that paid nothing.
    """
    order, chosen = ledger[ORDER(call["order_id"])], call["payment_method_id"]
    paid = first_payment(order)
    original = paid["payment_method_id"] if paid is not None else None
    if chosen == original:
        return None
    methods = wallet(order, ledger)
    if methods is None:
        return None
    gifts = [m for m, held in methods.items() if held["source"] == "gift_card" and m != original]
    if chosen in gifts:
        return None
    return violation(
        "a refund for order {order} can go to {allowed}, not to {chosen}",
        order=call["order_id"],
        allowed=gifts if original is None else [original, *gifts],
        chosen=chosen,
    )
