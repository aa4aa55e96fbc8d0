"""Where each read of the shop lands in the ledger, and which fields each write makes unknown."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

from ledgeragent.effects import Neutral, Read, ReturnRoute, Write, matching, text, touch
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.packs.receipts import Likeness, left_by
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

COURSE = PathTemplate("auth.course", dict[str, str])
"""Who was located, and whose profile or order was opened, in that order, and how. See `customer`.

The keys are `located(user_id)`, `opened(user_id)` for a profile, and `handled(user_id)` for an order,
or a profile that was changed.
"""

LOCATED, OPENED, HANDLED = "located:", "opened:", "handled:"

USER = PathTemplate("users.{user_id}", User)
ORDER = PathTemplate("orders.{order_id}", Order)
PRODUCT = PathTemplate("products.{product_id}", Product)
ITEM = PathTemplate("items.{item_id}", Variant)
PRODUCT_TYPES = PathTemplate("product_types", dict[str, str])


USER_ID = matching(r"[^\W\d_][\w.'-]*_[\w.'-]*\d", "a user id, such as ada_lund_3100")
"""The answer of a lookup. A sentence is none: a host may refuse in words, or apologise."""


def located(user_id: str) -> str:
    """The key in `COURSE` of somebody whom a lookup found."""
    return f"{LOCATED}{user_id}"


def opened(user_id: str) -> str:
    """The key in `COURSE` of somebody whose profile was read."""
    return f"{OPENED}{user_id}"


def handled(user_id: str) -> str:
    """The key in `COURSE` of somebody whose order was read, or whose profile was changed."""
    return f"{HANDLED}{user_id}"


def _located(value: Json, arguments: Arguments) -> Iterable[Json]:
    if not isinstance(value, str):
        raise ValueError("a lookup answers with one user id")
    yield {located(value): "email" if "email" in arguments else "name and zip code"}


def _opened_order(value: Json, arguments: Arguments) -> Iterable[Json]:
    if _names_owner(value):
        yield {handled(str(value["user_id"])): "order"}


def _opened_profile(value: Json, arguments: Arguments) -> Iterable[Json]:
    record = value if _names_owner(value) else arguments
    if _names_owner(record):
        yield {opened(str(record["user_id"])): "profile"}


def _changed_profile(value: Json, arguments: Arguments) -> Iterable[Json]:
    if _names_owner(arguments):
        yield {handled(str(arguments["user_id"])): "profile"}


def _names_owner(record: Json) -> bool:
    return isinstance(record, Mapping) and isinstance(record.get("user_id"), str)


_LOOKUPS = {
    "find_user_id_by_email": ("email",),
    "find_user_id_by_name_zip": ("first_name", "last_name", "zip"),
}

READS: tuple[Read[Any], ...] = (
    *(
        Read(tool=tool, to=AUTH, parameters=parameters, parse=USER_ID)
        for tool, parameters in _LOOKUPS.items()
    ),
    *(
        Read(
            tool=tool,
            to=COURSE,
            parameters=parameters,
            parse=USER_ID,
            records=_located,
            merge=True,
        )
        for tool, parameters in _LOOKUPS.items()
    ),
    Read(tool="get_user_details", to=USER, parameters=("user_id",)),
    Read(
        tool="get_user_details",
        to=COURSE,
        parameters=("user_id",),
        records=_opened_profile,
        merge=True,
    ),
    Read(tool="get_order_details", to=ORDER, parameters=("order_id",)),
    Read(
        tool="get_order_details",
        to=COURSE,
        parameters=("order_id",),
        records=_opened_order,
        merge=True,
    ),
    Read(tool="get_product_details", to=PRODUCT, parameters=("product_id",)),
    Read(tool="get_item_details", to=ITEM, parameters=("item_id",)),
    Read(tool="list_all_product_types", to=PRODUCT_TYPES),
)


def _with_status(status: str) -> Likeness:
    return lambda order, request: order["status"] == status


def _paid_with(order: Mapping[str, Any], request: Mapping[str, Any]) -> bool:
    methods = {payment["payment_method_id"] for payment in order["payment_history"]}
    return request["payment_method_id"] in methods


def _with_new_items(order: Mapping[str, Any], request: Mapping[str, Any]) -> bool:
    return {*request["new_item_ids"]} <= {item["item_id"] for item in order["items"]}


CHANGED_PROFILE = (
    left_by(USER, ModifyUserAddress),
    ReturnRoute(to=COURSE, parse=text, records=_changed_profile, merge=True),
)
"""The profile as it is after the write."""


def _balances(cards: Container[str] | None, ledger: Ledger) -> Iterable[Touch]:
    """The balances of these gift cards (None: of all) in whichever profiles were observed."""
    for profile in ledger.glob(USER):
        for name, method in profile.value["payment_methods"].items():
            if method["source"] == "gift_card" and (cards is None or name in cards):
                yield Touch(profile.path, ("payment_methods", name, "balance"))


def chosen_card(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
    """The balance of the gift card that the call names to pay or to be refunded."""
    name = arguments.get("payment_method_id")
    balances: list[Touch] = []
    for profile in ledger.glob(USER):
        method = profile.value["payment_methods"].get(name)
        if method is not None and method["source"] == "gift_card":
            balances.append(Touch(profile.path, ("payment_methods", str(name), "balance")))
    return balances


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
        returns=(left_by(ORDER, CancelOrder, _with_status("cancelled")),),
    ),
    Write(
        tool=ADDRESS,
        arguments=ModifyAddress,
        touches=(touch(ORDER, "address"),),
        returns=(left_by(ORDER, ModifyAddress),),
    ),
    Write(
        tool=PAYMENT,
        arguments=ModifyPayment,
        touches=(touch(ORDER, "payment_history"), chosen_card, cards_that_paid),
        returns=(left_by(ORDER, ModifyPayment, _paid_with),),
    ),
    # That nothing more may be modified is for a read to say: people correct themselves.
    Write(
        tool=ITEMS,
        arguments=ReplaceItems,
        touches=(touch(ORDER, "status", "items", "payment_history"), chosen_card),
        returns=(left_by(ORDER, ReplaceItems, _with_new_items, omit="status"),),
    ),
    Write(
        tool=RETURN,
        arguments=ReturnItems,
        touches=(
            touch(ORDER, "status", "return_items", "return_payment_method_id"),
            chosen_card,
        ),
        returns=(left_by(ORDER, ReturnItems, _with_status("return requested")),),
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
        returns=(left_by(ORDER, ReplaceItems, _with_status("exchange requested")),),
    ),
    Write(
        tool=PROFILE,
        arguments=ModifyUserAddress,
        touches=(touch(USER, "address"),),
        returns=CHANGED_PROFILE,
    ),
)

NEUTRALS = (Neutral(tool="calculate"), Neutral(tool="transfer_to_human_agents"))

NEUTRALS_OF_TAU = (*NEUTRALS, Neutral(tool="think"))
"""The first tau-bench also gives the agent a tool to think aloud."""
