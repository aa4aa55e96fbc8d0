"""The small shop: what an agent may try, and the worlds that look the same."""

from __future__ import annotations

from random import Random
from typing import Any

from ledgeragent import ToolCall

from ..world import Facts, World, call, one_in, some
from .retail_records import (
    ADDRESS,
    PRICES,
    STATUSES,
    in_cents,
    in_dollars,
    make_items,
    make_method,
    make_payment,
    make_variant,
)

_TOOLS = (
    "cancel_pending_order",
    "modify_pending_order_items",
    "exchange_delivered_order_items",
    "return_delivered_order_items",
    "modify_pending_order_payment",
    "modify_pending_order_address",
    "modify_user_address",
)


class RetailProposals(World):
    """What an agent may try in this world, and its twins."""

    def propose(self, rng: Random) -> ToolCall:
        tool = rng.choice(_TOOLS)
        if tool == "modify_user_address":
            users = [self.me] if not one_in(rng, 3) else [*self.db["users"], "nobody_1"]
            return call(tool, user_id=rng.choice(users), **ADDRESS)
        order = self._fitting(rng, "delivered" if "delivered" in tool else "pending")
        given: dict[str, Any] = {"order_id": order["order_id"]}
        if one_in(rng, 25):
            given["order_id"] = "#W0"
        if tool == "cancel_pending_order":
            reasons = ["no longer needed", "ordered by mistake"]
            given["reason"] = rng.choice(reasons if not one_in(rng, 5) else ["too slow", ""])
        elif tool == "modify_pending_order_address":
            given |= ADDRESS
        if tool.endswith("_items"):
            given["item_ids"] = self._named_items(rng, order)
        if tool in ("modify_pending_order_items", "exchange_delivered_order_items"):
            given["new_item_ids"] = self._new_items(rng, order, given["item_ids"])
        if tool.endswith(("_items", "_payment")):
            given["payment_method_id"] = self._method(rng, order, tool)
        return call(tool, **given)

    def _fitting(self, rng: Random, status: str) -> Any:
        orders = list(self.db["orders"].values())
        mine = [o for o in orders if o["user_id"] == self.me]
        good = [o for o in mine if o["status"] == status]
        any_status = [o for o in orders if o["status"] == status]
        choices = [good, good, good, good, mine, any_status, orders]
        return rng.choice(rng.choice(choices) or mine or orders)

    def _named_items(self, rng: Random, order: Any) -> list[str]:
        items = some(rng, [i["item_id"] for i in order["items"]], 1, 3)
        if one_in(rng, 8):
            others = [i["item_id"] for o in self.db["orders"].values() for i in o["items"]]
            items[rng.randrange(len(items))] = rng.choice([*others, "0000000000"])
        if one_in(rng, 10):
            items.append(items[0])
        return items if not one_in(rng, 20) else []

    def _new_items(self, rng: Random, order: Any, named: list[str]) -> list[str]:
        products = {i["item_id"]: i["product_id"] for i in order["items"]}
        chosen: list[str] = []
        for old in named:
            variants = self.db["products"][products.get(old, "900000000")]["variants"]
            good = [key for key, v in variants.items() if v["available"] and key != old]
            chosen.append(rng.choice(good or list(variants)))
        if not named:
            return [] if one_in(rng, 2) else ["0000000000"]
        if one_in(rng, 3):
            everything = [key for p in self.db["products"].values() for key in p["variants"]]
            pools = [
                list(self.db["products"][products.get(named[0], "900000000")]["variants"]),
                everything,
                [named[0]],
                ["0000000000"],
            ]
            chosen[0] = rng.choice(rng.choice(pools))
        if one_in(rng, 15):
            chosen = [*chosen, chosen[0]] if one_in(rng, 2) else chosen[1:]
        return chosen

    def _method(self, rng: Random, order: Any, tool: str) -> str:
        methods = list(self.db["users"][order["user_id"]]["payment_methods"])
        paid = order["payment_history"][0]["payment_method_id"]
        if tool == "modify_pending_order_payment":
            methods = [m for m in methods if m != paid] or methods
        if tool == "return_delivered_order_items" and not one_in(rng, 2):
            methods = [paid]
        if one_in(rng, 6):
            every = [m for u in self.db["users"].values() for m in u["payment_methods"]]
            methods = [*every, paid, "gift_card_0", "credit_card_0"]
        return str(rng.choice(methods or [paid]))

    def vary(self, known: Facts, rng: Random) -> None:
        for product_id in self.db["products"]:
            if ("products", product_id, "variants") not in known:
                self._vary_product(product_id, known, rng)
        for user_id, user in self.db["users"].items():
            if ("users", user_id, "payment_methods") not in known:
                self._vary_methods(user, known, rng)
            for key, method in user["payment_methods"].items():
                if "balance" in method and ("users", user_id, f"balance of {key}") not in known:
                    method["balance"] = in_dollars(rng.choice([0, 7, 1000, 99999]))
        for order in self.db["orders"].values():
            self._vary_order(order, known, rng)

    def _vary_product(self, product_id: str, known: Facts, rng: Random) -> None:
        """Other stock and prices; what a known order lists keeps its product."""
        variants = self.db["products"][product_id]["variants"]
        listed = {
            item["item_id"]
            for key, order in self.db["orders"].items()
            if ("orders", key, "items") in known
            for item in order["items"]
        }
        for key in list(variants):
            if ("items", key, "*") in known:
                continue
            variants[key]["available"] = one_in(rng, 2)
            variants[key]["price"] = in_dollars(rng.choice(PRICES))
            if one_in(rng, 4) and key not in listed:
                del variants[key]
        if one_in(rng, 3):
            variants["0000000000"] = make_variant("0000000000", 1000, True)

    def _vary_order(self, order: Any, known: Facts, rng: Random) -> None:
        def unknown(name: str) -> bool:
            return ("orders", order["order_id"], name) not in known

        if unknown("status") and one_in(rng, 2):
            order["status"] = rng.choice(STATUSES)
        if unknown("user_id") and one_in(rng, 2):
            self._give(order, known, rng)
        if unknown("items") and one_in(rng, 2):
            order["items"] = make_items(rng, self.db)
        if unknown("payment_history"):
            amount = sum(in_cents(i["price"]) for i in order["items"])
            methods = list(self.db["users"][order["user_id"]]["payment_methods"])
            order["payment_history"] = [make_payment(rng.choice(methods), amount)]

    def _give(self, order: Any, known: Facts, rng: Random) -> None:
        """Moves an order to another customer, unless a profile that was read tells whose it is."""
        open_lists = [u for u in self.db["users"] if ("users", u, "orders") not in known]
        if order["user_id"] not in open_lists:
            return
        owner = rng.choice(open_lists)
        self.db["users"][order["user_id"]]["orders"].remove(order["order_id"])
        self.db["users"][owner]["orders"].append(order["order_id"])
        order["user_id"] = owner

    def _vary_methods(self, user: Any, known: Facts, rng: Random) -> None:
        """Other methods; what a known order was paid with stays in the profile."""
        methods = user["payment_methods"]
        paid_with = {
            payment["payment_method_id"]
            for key in user["orders"]
            if ("orders", key, "payment_history") in known
            for payment in self.db["orders"][key]["payment_history"]
        }
        for key in list(methods):
            if one_in(rng, 4) and key not in paid_with and len(methods) > 1:
                del methods[key]
        everywhere = [m for u in self.db["users"].values() for m in u["payment_methods"]]
        for key in [*everywhere, "gift_card_0", "credit_card_0"]:
            if key not in methods and one_in(rng, 3):
                methods[key] = make_method(key, 99999)
