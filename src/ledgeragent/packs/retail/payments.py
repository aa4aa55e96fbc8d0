"""Rules on who pays, and who is paid back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.packs.retail.items import swaps, variant
from ledgeragent.packs.retail.paths import ORDER, PAYMENT, REPLACE, RETURN, USER
from ledgeragent.packs.retail.records import (
    ModifyPayment,
    Order,
    PaymentMethod,
    ReplaceItems,
    ReturnItems,
)
from ledgeragent.packs.wording import as_given, cents
from ledgeragent.predicates import Broken, Private, View, predicate, violation

Wallet = Mapping[str, PaymentMethod]
"""Payment methods by id."""

NO_BALANCE = ("credit_card_", "paypal_")
"""How the ids of payment methods without a balance begin."""


def wallet(order: Order, ledger: View) -> Wallet:
    """The payment methods of whoever ordered; asks for their profile."""
    profile: Any = ledger[USER(order["user_id"])]
    methods: Wallet = profile.at_once("payment_methods")
    return methods


def is_gift_card(id: str, methods: Wallet) -> bool:
    """True if `id` is one of these methods and a gift card."""
    return id in methods and methods[id]["source"] == "gift_card"


def covers(id: str, methods: Wallet, amount: float) -> bool:
    """True if the balance of the gift card `id` is at least `amount`."""
    return float(methods[id]["balance"]) >= amount


def original_method(order: Order) -> str | None:
    """The method of the payment that the order was placed with, None where it has none."""
    history = order["payment_history"]
    return history[0]["payment_method_id"] if history else None


def cost(order: Order) -> float:
    """The price of the items of the order, in dollars."""
    return round(sum(float(item["price"]) for item in order["items"]), 2)


@predicate("retail/payment-different", guards=PAYMENT)
def payment_different(call: ModifyPayment, ledger: View) -> Broken | None:
    """A new payment method is another one than the original."""
    if call["payment_method_id"] != original_method(ledger[ORDER(call["order_id"])]):
        return None
    return violation(
        "{chosen} is what order {order} was paid with; the new payment method has to be another one",
        chosen=_own(call["payment_method_id"]),
        order=call["order_id"],
    )


@predicate("retail/payment-balance", guards=PAYMENT)
def payment_balance(call: ModifyPayment, ledger: View) -> Broken | None:
    """A gift card that is to pay for the whole order has enough on it."""
    order, chosen = ledger[ORDER(call["order_id"])], call["payment_method_id"]
    original = original_method(order)
    if chosen == original:
        return None
    methods, total = wallet(order, ledger), cost(order)
    if not is_gift_card(chosen, methods) or covers(chosen, methods, total):
        return None
    others = {name: method for name, method in methods.items() if name != original}
    return _short_of(chosen, methods, f"order {call['order_id']} costs", total, others)


@predicate("retail/payment-in-profile", guards=(PAYMENT, *REPLACE))
def payment_in_profile(call: ModifyPayment | ReplaceItems, ledger: View) -> Broken | None:
    """Payment comes from the customer's own methods.

    A method that the order was paid with is one of them, so only another one needs the profile.
    """
    order, chosen = ledger[ORDER(call["order_id"])], call["payment_method_id"]
    if ledger.entry(USER(order["user_id"])) is None and chosen in _paid_with(order):
        return None
    methods = wallet(order, ledger)
    if chosen in methods:
        return None
    return violation(
        "{chosen} is not a payment method of this customer; choose {methods}",
        chosen=_not_theirs(chosen),
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
    elif not is_gift_card(chosen, wallet(order, ledger)):
        return None
    difference = price_difference(call, ledger)
    if difference <= 0:
        return None
    methods = wallet(order, ledger)
    if not is_gift_card(chosen, methods) or covers(chosen, methods, difference):
        return None
    return _short_of(chosen, methods, "the price difference is", difference, methods)


def price_difference(call: ReplaceItems, ledger: View) -> float:
    """The price of the new items above that of the old ones; 0 where one of them is no variant at all."""
    difference = 0.0
    for swap in swaps(call, ledger):
        new = variant(swap, ledger)
        if new is None:
            return 0.0
        difference += float(new["price"]) - float(swap.old["price"])
    return round(difference, 2)


def _short_of(chosen: str, methods: Wallet, what: str, amount: float, others: Wallet) -> Broken:
    """The objection to a gift card with too little on it, naming the `others` that can pay."""
    able = [m for m in others if not is_gift_card(m, methods) or covers(m, methods, amount)]
    return violation(
        "{what} ${amount}, but {chosen} holds ${balance}; "
        + ("choose {able}" if able else "no other payment method of the customer can pay that"),
        what=what,
        amount=f"{amount:.2f}",
        chosen=_own(chosen),
        balance=cents(float(methods[chosen]["balance"])),
        able=able,
    )


def _paid_with(order: Order) -> list[str]:
    return [payment["payment_method_id"] for payment in order["payment_history"]]


def _own(chosen: str) -> Private:
    """A payment method of the customer, with the argument that names it for the model."""
    return Private(f"payment_method_id {chosen}", chosen)


def _not_theirs(chosen: str) -> Private:
    """A payment method as the model named it: it may be somebody else's."""
    return Private(f"payment_method_id {as_given(chosen)}", "that")


@predicate("retail/refund-destination", guards=RETURN)
def refund_destination(call: ReturnItems, ledger: View) -> Broken | None:
    """A refund goes to the order's original payment method, or to a gift card of the customer.

    Rejects: the customer's other credit card, also if the order's payment was changed to it later.
    Allows: a gift card that paid nothing.
    """
    order, chosen = ledger[ORDER(call["order_id"])], call["payment_method_id"]
    original = original_method(order)
    if chosen == original:
        return None
    methods = wallet(order, ledger)
    gifts = [
        m for m, method in methods.items() if method["source"] == "gift_card" and m != original
    ]
    if chosen in gifts:
        return None
    return violation(
        "{chosen} cannot take the refund for order {order}: it goes back to the original payment "
        "method or to a gift card of the customer, so choose {allowed}",
        order=call["order_id"],
        allowed=gifts if original is None else [original, *gifts],
        chosen=_own(chosen) if chosen in methods else _not_theirs(chosen),
    )
