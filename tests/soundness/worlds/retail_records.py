"""Records of the small shop, made at random."""

from __future__ import annotations

from random import Random
from typing import Any

from ..judgement import Db
from ..world import one_in, some

PEOPLE = {
    "ada_moss_11": ("Ada", "Moss", "10001"),
    "ben_reed_22": ("Ben", "Reed", "20002"),
    "cyd_hale_33": ("Cyd", "Hale", "30003"),
}
PRICES = (1000, 1010, 1333, 1340, 2099, 4217)
STATUSES = (
    "pending",
    "delivered",
    "processed",
    "cancelled",
    "pending (item modified)",
    "return requested",
    "exchange requested",
)
ADDRESS = {
    "address1": "1 Hill Road",
    "address2": "",
    "city": "Derby",
    "state": "CT",
    "country": "USA",
    "zip": "10001",
}
_UNSET = (
    "cancel_reason",
    "exchange_items",
    "exchange_new_items",
    "exchange_payment_method_id",
    "exchange_price_difference",
    "return_items",
    "return_payment_method_id",
)


def in_dollars(cents: int) -> float:
    return cents / 100


def in_cents(dollars: float) -> int:
    return round(dollars * 100)


def make_variant(item_id: str, cents: int, available: bool) -> dict[str, Any]:
    options = {"size": item_id[-1]}
    return {
        "item_id": item_id,
        "options": options,
        "available": available,
        "price": in_dollars(cents),
    }


def make_variants(rng: Random, number: int) -> dict[str, Any]:
    keys = [f"10000000{number}{n}" for n in range(rng.randint(2, 4))]
    return {key: make_variant(key, rng.choice(PRICES), not one_in(rng, 4)) for key in keys}


def make_method(key: str, cents: int = 0) -> dict[str, Any]:
    source = key.rsplit("_", 1)[0]
    method: dict[str, Any] = {"source": source, "id": key}
    if source == "gift_card":
        method["balance"] = in_dollars(cents)
    elif source == "credit_card":
        method |= {"brand": "visa", "last_four": "1234"}
    return method


def make_user(rng: Random, user_id: str, number: int) -> dict[str, Any]:
    first, last, postcode = PEOPLE[user_id]
    kinds = some(rng, ["credit_card_1", "gift_card_2", "paypal_3", "gift_card_4"], 1, 4)
    keys = [f"{kind}{number}" for kind in kinds]
    return {
        "user_id": user_id,
        "name": {"first_name": first, "last_name": last},
        "address": ADDRESS | {"zip": postcode},
        "email": f"{user_id}@example.com",
        "payment_methods": {key: make_method(key) for key in keys},
        "orders": [],
    }


def make_payment(method_id: str, cents: int) -> dict[str, Any]:
    return {
        "transaction_type": "payment",
        "amount": in_dollars(cents),
        "payment_method_id": method_id,
    }


def make_items(rng: Random, db: Db) -> list[dict[str, Any]]:
    items = []
    for _ in range(rng.randint(1, 3)):
        product = rng.choice([p for p in db["products"].values() if p["variants"]] or [None])
        if product is None:
            break
        variant = rng.choice(list(product["variants"].values()))
        items.append(
            {
                "name": product["name"],
                "product_id": product["product_id"],
                "item_id": variant["item_id"],
                "price": variant["price"],
                "options": variant["options"],
            }
        )
    return items


def place_order(rng: Random, db: Db, user_id: str) -> None:
    order_id = f"#W{len(db['orders']) + 1}"
    items = make_items(rng, db)
    methods = list(db["users"][user_id]["payment_methods"])
    paid_with = rng.choice(methods)
    amount = sum(in_cents(item["price"]) for item in items)
    db["orders"][order_id] = {
        "order_id": order_id,
        "user_id": user_id,
        "address": db["users"][user_id]["address"],
        "items": items,
        "status": rng.choice(STATUSES[:2]) if not one_in(rng, 3) else rng.choice(STATUSES),
        "fulfillments": [],
        "payment_history": [make_payment(paid_with, amount)],
        **dict.fromkeys(_UNSET),
    }
    db["users"][user_id]["orders"].append(order_id)


def set_balances(rng: Random, db: Db, user_id: str) -> None:
    """Gift cards that just cover an order or a price difference, or miss it by a cent."""
    prices = [in_cents(v["price"]) for p in db["products"].values() for v in p["variants"].values()]
    totals = [
        in_cents(o["payment_history"][0]["amount"])
        for o in db["orders"].values()
        if o["user_id"] == user_id
    ]
    for method in db["users"][user_id]["payment_methods"].values():
        if "balance" in method:
            gap = max(0, rng.choice(prices) - rng.choice(prices))
            enough = rng.choice([99999, *totals, gap, 0])
            method["balance"] = in_dollars(max(0, enough - (1 if one_in(rng, 3) else 0)))
