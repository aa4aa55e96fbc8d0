"""Where each read of the shop lands in the ledger, and which fields each write makes unknown."""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Any

from ledgeragent.effects import Neutral, Read, Write, text, touch
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.packs.retail.records import (
    CancelOrder,
    ModifyAddress,
    ModifyPayment,
    ModifyUserAddress,
    Order,
    Product,
    ReplaceItems,
    ReturnItems,
    User,
    Variant,
)
from ledgeragent.paths import PathTemplate
from ledgeragent.types import Arguments, Json

CANCEL = "cancel_pending_order"
ADDRESS = "modify_pending_order_address"
PAYMENT = "modify_pending_order_payment"
ITEMS = "modify_pending_order_items"
RETURN = "return_delivered_order_items"
EXCHANGE = "exchange_delivered_order_items"
PROFILE = "modify_user_address"

MODIFY = (ADDRESS, PAYMENT, ITEMS)
REPLACE = (ITEMS, EXCHANGE)
ON_ORDERS = (CANCEL, *MODIFY, RETURN, EXCHANGE)

AUTH = PathTemplate("auth.user_id", str)
"""The id that the latest lookup by email, or by name and zip code, answered with."""

LOCATED = PathTemplate("auth.located", dict[str, str])
"""Everyone a lookup has found, in that order, and how. The first is the customer, see `customer`."""

USER = PathTemplate("users.{user_id}", User)
ORDER = PathTemplate("orders.{order_id}", Order)
PRODUCT = PathTemplate("products.{product_id}", Product)
ITEM = PathTemplate("items.{item_id}", Variant)
PRODUCT_TYPES = PathTemplate("product_types", dict[str, str])


def _one_id(value: Json, arguments: Arguments) -> Iterable[Json]:
    """The id; ValueError for a list, or for a sentence (a host may refuse a lookup in words)."""
    if not isinstance(value, str) or len(value.split()) != 1:
        raise ValueError("a lookup answers with one user id")
    return (value.strip(),)


def _how(value: Json, arguments: Arguments) -> Iterable[Json]:
    """The id under which `LOCATED` notes how it was found."""
    how = "email" if "email" in arguments else "name and zip code"
    return ({user_id: how} for user_id in _one_id(value, arguments))


_LOOKUPS = {
    "find_user_id_by_email": ("email",),
    "find_user_id_by_name_zip": ("first_name", "last_name", "zip"),
}

READS: tuple[Read[Any], ...] = (
    *(
        Read(tool=tool, to=AUTH, parameters=parameters, parse=text, records=_one_id)
        for tool, parameters in _LOOKUPS.items()
    ),
    *(
        Read(tool=tool, to=LOCATED, parameters=parameters, parse=text, records=_how, merge=True)
        for tool, parameters in _LOOKUPS.items()
    ),
    Read(tool="get_user_details", to=USER, parameters=("user_id",)),
    Read(tool="get_order_details", to=ORDER, parameters=("order_id",)),
    Read(tool="get_product_details", to=PRODUCT, parameters=("product_id",)),
    Read(tool="get_item_details", to=ITEM, parameters=("item_id",)),
    Read(tool="list_all_product_types", to=PRODUCT_TYPES),
)


def _balances(cards: Container[str] | None, ledger: Ledger) -> Iterable[Touch]:
    """The balances of these gift cards (None: of all) in whichever profiles were observed."""
    for profile in ledger.glob(USER):
        for name, method in profile.value["payment_methods"].items():
            if method["source"] == "gift_card" and (cards is None or name in cards):
                yield Touch(profile.path, ("payment_methods", name, "balance"))


def chosen_card(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
    """The balance of the gift card that the call names to pay or to be refunded."""
    return _balances((str(arguments.get("payment_method_id")),), ledger)


def cards_that_paid(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
    """The balances of the gift cards that paid for the order: they get the refund.

    All balances, where the order's payments are not known.
    """
    order = ledger.get(ORDER(str(arguments.get("order_id"))))
    if order is None or order.stale_at(("payment_history",)):
        return _balances(None, ledger)
    return _balances({p["payment_method_id"] for p in order.value["payment_history"]}, ledger)


WRITES = (
    Write(
        tool=CANCEL,
        arguments=CancelOrder,
        touches=(touch(ORDER, "status", "cancel_reason", "payment_history"), cards_that_paid),
    ),
    Write(
        tool=ADDRESS,
        arguments=ModifyAddress,
        touches=(touch(ORDER, "address"),),
    ),
    Write(
        tool=PAYMENT,
        arguments=ModifyPayment,
        touches=(touch(ORDER, "payment_history"), chosen_card, cards_that_paid),
    ),
    Write(
        tool=ITEMS,
        arguments=ReplaceItems,
        touches=(touch(ORDER, "status", "items", "payment_history"), chosen_card),
    ),
    Write(
        tool=RETURN,
        arguments=ReturnItems,
        touches=(
            touch(ORDER, "status", "return_items", "return_payment_method_id"),
            chosen_card,
        ),
    ),
    Write(
        tool=EXCHANGE,
        arguments=ReplaceItems,
        touches=(
            touch(
                ORDER,
                "status",
                "exchange_items",
                "exchange_new_items",
                "exchange_payment_method_id",
                "exchange_price_difference",
            ),
            chosen_card,
        ),
    ),
    Write(
        tool=PROFILE,
        arguments=ModifyUserAddress,
        touches=(touch(USER, "address"),),
    ),
)

NEUTRALS = (Neutral(tool="calculate"), Neutral(tool="transfer_to_human_agents"))

NEUTRALS_OF_TAU = (*NEUTRALS, Neutral(tool="think"))
"""The first tau-bench also gives the agent a tool to think aloud."""
