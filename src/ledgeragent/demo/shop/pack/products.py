"""The shop's rules on what an order holds: plants and where they go, stock, the last product."""

from __future__ import annotations

from ledgeragent.demo.shop.pack.paths import ORDER, PRODUCT
from ledgeragent.demo.shop.pack.records import ChangeAddress, ChangeQuantity, SendReplacement
from ledgeragent.predicates import Broken, View, predicate, violation


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
    if country in allowed or kind_of(call["sku"], call["order_id"], ledger) != "plant":
        return None
    return _no_plants([call["sku"]], country, allowed)


def _no_plants(plants: list[str], country: str, allowed: list[str]) -> Broken:
    return violation(
        "{plants} cannot go to {country}: plants are delivered to {allowed} only",
        plants=" and ".join(plants),
        country=country,
        allowed=allowed,
    )


def kind_of(sku: str, order_id: str, ledger: View) -> str:
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


PRODUCT_RULES = (plant_destination, plant_added, in_stock, replacement_in_stock, last_item)
