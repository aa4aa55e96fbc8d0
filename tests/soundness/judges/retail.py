"""The retail clauses, over the whole database."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

from ..judgement import Db, Judgement, Talk, successes

SAME = (
    frozenset(
        f"retail/{name}"
        for name in (
            "once-per-order",
            "cancel-pending",
            "modify-pending",
            "return-delivered",
            "exchange-delivered",
            "order-observed",
        )
    ),
    frozenset({"retail/refund-destination", "retail/payment-in-profile"}),
)

_LOOKUPS = ("find_user_id_by_email", "find_user_id_by_name_zip")
_OPENING = ("get_order_details", "get_user_details", "modify_user_address")
_REASONS = {"no longer needed", "ordered by mistake"}
_STATUS = {
    "cancel_pending_order": ("pending", "cancel-pending"),
    "modify_pending_order_address": ("pending", "modify-pending"),
    "modify_pending_order_payment": ("pending", "modify-pending"),
    "modify_pending_order_items": ("pending", "modify-pending"),
    "return_delivered_order_items": ("delivered", "return-delivered"),
    "exchange_delivered_order_items": ("delivered", "exchange-delivered"),
}


def judge(db: Db, talk: Talk, tool: str, arguments: Mapping[str, Any]) -> Judgement:
    """What is wrong with a proposed write."""
    found = Judgement()
    served = _served(talk)
    if served is None:
        found.ungrounded.add("retail/authenticated")
    if tool == "modify_user_address":
        found.ghost = arguments["user_id"] not in db["users"]
        if served is not None and arguments["user_id"] != served:
            found.broken.add("retail/one-user")
        return found
    order = db["orders"].get(arguments["order_id"])
    if order is None:
        found.ghost = True
        return found
    if served is not None and order["user_id"] != served:
        found.broken.add("retail/one-user")
    wanted, clause = _STATUS[tool]
    if order["status"] != wanted:
        found.broken.add(f"retail/{clause}")
    if tool == "cancel_pending_order" and arguments["reason"] not in _REASONS:
        found.broken.add("retail/cancel-reason")
    methods = db["users"][order["user_id"]]["payment_methods"]
    if tool == "modify_pending_order_payment":
        _new_payment(order, methods, arguments["payment_method_id"], found)
    if tool == "return_delivered_order_items":
        _refund(order, methods, arguments["payment_method_id"], found)
    if "item_ids" in arguments:
        named, ordered = (
            Counter(arguments["item_ids"]),
            Counter(i["item_id"] for i in order["items"]),
        )
        if named - ordered or not named:
            found.broken.add("retail/items-in-order")
    if "new_item_ids" in arguments:
        _new_items(db, order, methods, arguments, found)
    return found


def _served(talk: Talk) -> str | None:
    """Whom the conversation serves: who was located and had something opened first.

    As long as that is nobody, the person located last.
    """
    located: list[str] = []
    opened: set[str] = set()
    for said in successes(talk, *_LOOKUPS, *_OPENING):
        if said.tool in _LOOKUPS:
            located.append(said.answer)
        elif said.answer:  # the answer of a write may be lost
            opened.add(json.loads(said.answer)["user_id"])
        both = [user_id for user_id in located if user_id in opened]
        if both:
            return both[0]
    return located[-1] if located else None


def _cents(amount: float) -> int:
    return round(amount * 100)


def _original(order: Mapping[str, Any]) -> Mapping[str, Any]:
    first: Mapping[str, Any] = order["payment_history"][0]
    return first


def _new_payment(
    order: Mapping[str, Any], methods: Mapping[str, Any], chosen: str, found: Judgement
) -> None:
    paid_with = [
        p["payment_method_id"]
        for p in order["payment_history"]
        if p["transaction_type"] == "payment"
    ]
    if chosen == paid_with[0]:
        found.broken.add("retail/payment-different")
        found.may.add("retail/payment-balance")
    elif chosen in paid_with:
        found.may.add("retail/payment-different")
    if order["status"] != "pending":
        found.may.add("retail/payment-balance")
    if chosen not in methods:
        found.broken.add("retail/payment-in-profile")
    elif methods[chosen]["source"] == "gift_card":
        total = sum(_cents(item["price"]) for item in order["items"])
        if _cents(methods[chosen]["balance"]) < total:
            found.broken.add("retail/payment-balance")


def _refund(
    order: Mapping[str, Any], methods: Mapping[str, Any], chosen: str, found: Judgement
) -> None:
    gift_cards = {key for key, method in methods.items() if method["source"] == "gift_card"}
    if chosen not in gift_cards | {_original(order)["payment_method_id"]}:
        found.broken.add("retail/refund-destination")


def _new_items(
    db: Db,
    order: Mapping[str, Any],
    methods: Mapping[str, Any],
    arguments: Mapping[str, Any],
    found: Judgement,
) -> None:
    old_ids, new_ids = arguments["item_ids"], arguments["new_item_ids"]
    chosen = arguments["payment_method_id"]
    ordered = {item["item_id"]: item for item in order["items"]}
    products = db["products"].values()
    difference, certain = 0, "retail/items-in-order" not in found.broken
    if len(old_ids) != len(new_ids):
        found.broken.add("retail/item-pairs")
        found.may |= {"retail/item-available", "retail/item-same-product"}
        certain = False
    for old, new in zip(old_ids, new_ids, strict=False):
        if old == new:
            certain = False
            found.broken.add("retail/item-different-option")
            found.may |= {"retail/item-available", "retail/item-same-product"}
        elif not all(p["variants"].get(new, {"available": True})["available"] for p in products):
            found.broken.add("retail/item-available")
        if old not in ordered:
            found.may |= {"retail/item-available", "retail/item-same-product"}
            continue
        variants = db["products"][ordered[old]["product_id"]]["variants"]
        if new not in variants:
            certain = False
            if old != new:
                found.broken.add("retail/item-same-product")
            continue
        difference += _cents(variants[new]["price"]) - _cents(ordered[old]["price"])
    if chosen not in methods:
        found.broken.add("retail/payment-in-profile")
    elif methods[chosen]["source"] == "gift_card":
        if not certain:
            found.may.add("retail/difference-balance")
        elif difference > _cents(methods[chosen]["balance"]):
            found.broken.add("retail/difference-balance")
