"""Rules on the items that are returned or replaced, and on what takes their place."""

from __future__ import annotations

from typing import NamedTuple

from ledgeragent.packs.retail.paths import EXCHANGE, ITEM, ITEMS, ORDER, PRODUCT, REPLACE, RETURN
from ledgeragent.packs.retail.records import ItemsCall, OrderItem, ReplaceItems, Variant
from ledgeragent.packs.wording import as_given
from ledgeragent.predicates import (
    Broken,
    MissingEvidence,
    Private,
    View,
    predicate,
    violation,
)


@predicate("retail/items-in-order", guards=(ITEMS, RETURN, EXCHANGE))
def items_in_order(call: ItemsCall, ledger: View) -> Broken | None:
    """The items named are in the order, none more often than it was ordered, and at least one.

    Rejects: an item of the customer's other order, or two of what was ordered once.
    """
    named = call["item_ids"]
    ordered = ledger[ORDER(call["order_id"])]["items"]
    if not named:
        return violation(
            "{nothing}; choose from the items of order {order}: {ordered}",
            nothing=Private("item_ids is empty", instead="no item is named"),
            order=call["order_id"],
            ordered=_spoken(ordered),
        )
    ids = [item["item_id"] for item in ordered]
    for item_id in named:
        if named.count(item_id) > ids.count(item_id):
            return _not_so_often(call, item_id, ordered)
    return None


def _not_so_often(call: ItemsCall, item_id: str, ordered: list[OrderItem]) -> Broken:
    """The objection to an item that the order does not hold, or not as often as it is named."""
    count = [item["item_id"] for item in ordered].count(item_id)
    return violation(
        "{item} is named {named}, but order {order} holds it {held}"
        if count
        else "{item} is not in order {order}; choose from its items: {ordered}",
        item=_item_in("item_ids", item_id),
        order=call["order_id"],
        named=_times(call["item_ids"].count(item_id)),
        held=_times(count),
        ordered=_spoken(ordered),
    )


def _item_in(argument: str, item_id: str) -> Private:
    """An item, with the argument that names it for the model."""
    return Private(f"item {as_given(item_id)} in {argument}", instead=f"item {item_id}")


def _spoken(items: list[OrderItem]) -> list[str]:
    """The items by id and name, each once."""
    return list(dict.fromkeys(f"{item['item_id']} ({item['name']})" for item in items))


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


@predicate("retail/item-pairs", guards=REPLACE)
def item_pairs(call: ReplaceItems, ledger: View) -> Broken | None:
    """Every item to replace has one new item, at the same place of the other list."""
    old, new = len(call["item_ids"]), len(call["new_item_ids"])
    if old == new:
        return None
    return violation(
        "{old} and {new}; name one new item for each item, in the same order",
        old=Private(f"item_ids names {old}", instead=f"{old} to be replaced"),
        new=Private(f"new_item_ids {new}", instead=f"{new} to replace them"),
    )


@predicate("retail/item-different-option", guards=REPLACE)
def item_different_option(call: ReplaceItems, ledger: View) -> Broken | None:
    """No item is replaced by itself. Needs no record at all."""
    for old, new in zip(call["item_ids"], call["new_item_ids"], strict=False):
        if old == new:
            return violation(
                "{item} would replace itself; name another variant there, or leave the item out",
                item=_item_in("new_item_ids", old),
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
    replacements = [Swap(ordered[old], new) for old, new in pairs if old in ordered and old != new]
    return sorted(
        replacements, key=lambda swap: ledger.entry(PRODUCT(swap.old["product_id"])) is None
    )


def in_an_order(item_id: str, ledger: View) -> OrderItem | None:
    """The item as some observed order lists it, which tells its product."""
    for _, order in ledger.glob(ORDER):
        try:
            items = order["items"]
        except MissingEvidence:  # that order's own affair: this is about another one
            continue
        for item in items:
            if item["item_id"] == item_id:
                return item
    return None


def variant(swap: Swap, ledger: View) -> Variant | None:
    """The latest observation of the new item, None where it is no variant of the old one's product.

    The details of the item will do as well as the product. What an order lists is no observation of
    what can be had today, nor of what it costs.
    """
    product = ledger.entry(PRODUCT(swap.old["product_id"]))
    item = ledger.entry(ITEM(swap.new))
    if item is not None and (product is None or item.turn >= product.turn):
        return ledger[ITEM(swap.new)]
    if product is None and not _same_product(swap, ledger):
        return None
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
                "{new} is no {product}; item {old} can only be replaced by another variant of the "
                "same product ({product_id})",
                new=_item_in("new_item_ids", swap.new),
                old=swap.old["item_id"],
                product=swap.old["name"],
                product_id=swap.old["product_id"],
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

    Asks for the product, or the item, where neither was: that an order lists the item is no sign
    that it can be had today.
    """
    for swap in swaps(call, ledger):
        new = variant(swap, ledger)
        if new is not None and not new["available"]:
            return violation(
                "{new} ({product}) is not available; choose an available variant of product "
                "{product_id}",
                new=_item_in("new_item_ids", swap.new),
                product=swap.old["name"],
                product_id=swap.old["product_id"],
            )
    return None
