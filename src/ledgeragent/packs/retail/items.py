"""Rules on the items that are returned or replaced, and on what takes their place."""

from __future__ import annotations

from typing import NamedTuple

from ledgeragent.packs.retail.paths import EXCHANGE, ITEM, ITEMS, ORDER, PRODUCT, REPLACE, RETURN
from ledgeragent.packs.retail.records import ItemsCall, OrderItem, ReplaceItems, Variant
from ledgeragent.predicates import Broken, View, predicate, violation


@predicate("retail/items-in-order", guards=(ITEMS, RETURN, EXCHANGE))
def items_in_order(call: ItemsCall, ledger: View) -> Broken | None:
    """The items named are in the order, none more often than it was ordered.

    Rejects: an item of the customer's other order, or two of what was ordered once.
    """
    items = ledger[ORDER(call["order_id"])]["items"]
    left = [item["item_id"] for item in items]
    for item_id in call["item_ids"]:
        if item_id not in left:
            ordered = [item["item_id"] for item in items]
            return violation(
                "order {order} holds no {further}item {item}; choose from its items: {ordered}",
                order=call["order_id"],
                further="further " if item_id in ordered else "",
                item=item_id,
                ordered=ordered,
            )
        left.remove(item_id)
    return None


@predicate("retail/item-pairs", guards=REPLACE)
def item_pairs(call: ReplaceItems, ledger: View) -> Broken | None:
    """Every item to replace has one new item, at the same place of the other list."""
    old, new = len(call["item_ids"]), len(call["new_item_ids"])
    if old == new:
        return None
    return violation(
        "items to replace: {old}, new items: {new}; name one new item for each, in the same order",
        old=old,
        new=new,
    )


@predicate("retail/item-different-option", guards=REPLACE)
def item_different_option(call: ReplaceItems, ledger: View) -> Broken | None:
    """No item is replaced by itself. Needs no record at all."""
    for old, new in zip(call["item_ids"], call["new_item_ids"], strict=False):
        if old == new:
            return violation(
                "item {item} would be replaced by itself; choose another variant or leave it out",
                item=old,
            )
    return None


class Swap(NamedTuple):
    """An ordered item and the id of the one that takes its place."""

    old: OrderItem
    new: str


def swaps(call: ReplaceItems, ledger: View) -> list[Swap]:
    """The replacements of an ordered item by another one, those whose product was read first.

    In this order no violation hides behind a request for evidence. Empty where the lists don't pair.
    """
    if len(call["item_ids"]) != len(call["new_item_ids"]):
        return []
    ordered = {item["item_id"]: item for item in ledger[ORDER(call["order_id"])]["items"]}
    pairs = zip(call["item_ids"], call["new_item_ids"], strict=True)
    found = [Swap(ordered[old], new) for old, new in pairs if old in ordered and old != new]
    return sorted(found, key=lambda swap: ledger.entry(PRODUCT(swap.old["product_id"])) is None)


def in_an_order(item_id: str, ledger: View) -> OrderItem | None:
    """The item as some observed order lists it: this tells its product, and what it cost then."""
    for path, order in ledger.glob(ORDER):
        entry = ledger.entry(path)
        if entry is not None and not entry.stale_at(("items",)):
            for item in order["items"]:
                if item["item_id"] == item_id:
                    return item
    return None


def variant(swap: Swap, ledger: View, *, current: bool = True) -> Variant | OrderItem | None:
    """The latest observation of the new item, None where it is no variant of the old one's product.

    The details of the item will do as well as the product; unless it has to be `current`, so does
    an order that lists the item. Otherwise the product has to be read.
    """
    product = ledger.entry(PRODUCT(swap.old["product_id"]))
    item = ledger.entry(ITEM(swap.new))
    if item is not None and (product is None or item.turn >= product.turn):
        return ledger[ITEM(swap.new)]
    if product is None and not current:
        listed = in_an_order(swap.new, ledger)
        if listed is not None:
            return listed if listed["product_id"] == swap.old["product_id"] else None
    return ledger[PRODUCT(swap.old["product_id"])]["variants"].get(swap.new)


@predicate("retail/item-same-product", guards=REPLACE)
def item_same_product(call: ReplaceItems, ledger: View) -> Broken | None:
    """The new item is a variant of the same product.

    An order that lists the new item tells its product as well as reading the product does.
    Rejects: a shirt for a shoe.
    """
    for swap in swaps(call, ledger):
        if not _same_product(swap, ledger):
            return violation(
                "item {new} is no {product}; item {old} can only be replaced by another {product}",
                new=swap.new,
                old=swap.old["item_id"],
                product=swap.old["name"],
            )
    return None


def _same_product(swap: Swap, ledger: View) -> bool:
    product = PRODUCT(swap.old["product_id"])
    if ledger.entry(product) is None:
        listed = in_an_order(swap.new, ledger)
        if listed is not None:
            return listed["product_id"] == swap.old["product_id"]
    return swap.new in ledger[product]["variants"]


@predicate("retail/item-available", guards=REPLACE)
def item_available(call: ReplaceItems, ledger: View) -> Broken | None:
    """The new item was available when it was last looked at.

    The new item has to appear in an observed record. One that only an order lists may well be
    available, and what was never seen to be out of stock is no violation.
    """
    for swap in swaps(call, ledger):
        found = variant(swap, ledger, current=False)
        if found is not None and not found.get("available", True):
            return violation(
                "item {new} ({product}) is not available; choose a variant that is",
                new=swap.new,
                product=swap.old["name"],
            )
    return None
