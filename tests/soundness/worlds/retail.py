"""A small shop: two or three customers, their orders, and products with variants."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any, ClassVar

from ledgeragent import ToolCall

from ..judgement import Db, Judgement, Talk
from ..judges import retail as judge
from ..world import Answer, Facts, call, fields
from .retail_proposals import RetailProposals
from .retail_records import (
    ADDRESS,
    PEOPLE,
    STATUSES,
    in_cents,
    in_dollars,
    make_user,
    make_variants,
    place_order,
    set_balances,
)

_PRODUCTS = ("mug", "lamp", "rope")
_FINDERS = ("find_user_id_by_email", "find_user_id_by_name_zip")
_ORDER_FIELDS = ("user_id", "status", "items", "payment_history", "address")


class RetailWorld(RetailProposals):
    """Orders in every status, gift cards whose balance is just enough or just not."""

    domain = "retail"
    same = judge.SAME
    worded: ClassVar = {"get_order_details": ("status",)}
    reads = frozenset(
        {
            *_FINDERS,
            "get_order_details",
            "get_product_details",
            "get_item_details",
            "get_user_details",
            "list_all_product_types",
        }
    )

    @classmethod
    def make(cls, rng: Random) -> RetailWorld:
        people = list(PEOPLE)[: rng.randint(1, 3)]
        db: Db = {"users": {}, "orders": {}, "products": {}}
        for number, name in enumerate(_PRODUCTS):
            product_id = f"90000000{number}"
            db["products"][product_id] = {
                "name": name,
                "product_id": product_id,
                "variants": make_variants(rng, number),
            }
        for number, user_id in enumerate(people):
            db["users"][user_id] = make_user(rng, user_id, number)
            for _ in range(rng.randint(1, 3)):
                place_order(rng, db, user_id)
        for user_id in people:
            set_balances(rng, db, user_id)
        return cls(db, people[0])

    def tour(self) -> list[ToolCall]:
        return [
            call("find_user_id_by_email", email=self.db["users"][self.me]["email"]),
            *(call("get_order_details", order_id=key) for key in self.db["orders"]),
            *(call("get_user_details", user_id=key) for key in self.db["users"]),
            *(call("get_product_details", product_id=key) for key in self.db["products"]),
        ]

    def read(self, call: ToolCall) -> Answer:
        given = call.arguments
        match call.name:
            case "find_user_id_by_email" | "find_user_id_by_name_zip":
                return self._find(given)
            case "get_order_details":
                return self._record("orders", given.get("order_id"), "Order", _ORDER_FIELDS)
            case "get_user_details":
                return self._profile(given.get("user_id"))
            case "get_product_details":
                return self._product(given.get("product_id"))
            case "get_item_details":
                return self._item(given.get("item_id"))
        types = {p["name"]: p["product_id"] for p in self.db["products"].values()}
        return Answer(json.dumps(types))

    def _find(self, given: Any) -> Answer:
        for user_id, user in self.db["users"].items():
            first, last = user["name"]["first_name"], user["name"]["last_name"]
            if given.get("email") == user["email"] or (
                (given.get("first_name"), given.get("last_name"), given.get("zip"))
                == (first, last, PEOPLE[user_id][2])
            ):
                return Answer(user_id)
        return Answer("Error: User not found", failed=True)

    def _record(self, table: str, key: Any, kind: str, names: tuple[str, ...]) -> Answer:
        if key not in self.db[table]:
            return Answer(f"Error: {kind} not found", failed=True)
        shown = frozenset(fields(table, key, *names))
        return Answer(json.dumps(self.db[table][key]), shown=shown)

    def _profile(self, key: Any) -> Answer:
        answer = self._record("users", key, "User", ("payment_methods", "orders", "address"))
        return Answer(answer.text, answer.failed, answer.shown | self._balances(key))

    def _balances(self, user_id: Any) -> Facts:
        methods = self.db["users"].get(user_id, {"payment_methods": {}})["payment_methods"]
        return frozenset(("users", user_id, f"balance of {m}") for m in methods)

    def _product(self, key: Any) -> Answer:
        answer = self._record("products", key, "Product", ("variants",))
        if answer.failed:
            return answer
        items = {("items", item, "*") for item in self.db["products"][key]["variants"]}
        return Answer(answer.text, shown=answer.shown | items)

    def _item(self, key: Any) -> Answer:
        for product in self.db["products"].values():
            if key in product["variants"]:
                text = json.dumps(product["variants"][key])
                return Answer(text, shown=frozenset({("items", key, "*")}))
        return Answer("Error: Item not found", failed=True)

    def complete(self, read: ToolCall) -> list[ToolCall]:
        me = self.db["users"][self.me]
        if read.name == "find_user_id_by_email":
            return [call(read.name, email=me["email"])]
        if read.name == "find_user_id_by_name_zip":
            return [call(read.name, **me["name"], zip=PEOPLE[self.me][2])]
        return [read]

    def stray(self, rng: Random) -> ToolCall:
        items = [key for p in self.db["products"].values() for key in p["variants"]]
        emails = [user["email"] for user in self.db["users"].values()]
        return rng.choice(
            [
                call("list_all_product_types"),
                call("find_user_id_by_email", email="nobody@example.com"),
                call("find_user_id_by_email", email=rng.choice(emails)),
                call("get_order_details", order_id="#W0"),
                call("get_user_details", user_id="nobody_1"),
                call("get_item_details", item_id=rng.choice(items)),
            ]
        )

    def drift(self, rng: Random) -> tuple[ToolCall, Facts]:
        kind = rng.randrange(3)
        if kind == 0:
            order = rng.choice(list(self.db["orders"].values()))
            order["status"] = rng.choice(STATUSES)
            return call("get_order_details", order_id=order["order_id"]), frozenset()
        if kind == 1:
            product = rng.choice(list(self.db["products"].values()))
            variant = rng.choice(list(product["variants"].values()))
            variant["available"] = not variant["available"]
            return call("get_product_details", product_id=product["product_id"]), frozenset()
        user_id = rng.choice(list(self.db["users"]))
        set_balances(rng, self.db, user_id)
        return call("get_user_details", user_id=user_id), frozenset()

    def judge(self, talk: Talk, call: ToolCall) -> Judgement:
        return judge.judge(self.db, talk, call.name, call.arguments)

    # -- writes ------------------------------------------------------------------------------------

    def write(self, call: ToolCall) -> Answer:
        given = call.arguments
        if call.name == "modify_user_address":
            user = self.db["users"][given["user_id"]]
            user["address"] = {name: given[name] for name in ADDRESS}
            return Answer(
                json.dumps(user),
                shown=self._profile(user["user_id"]).shown,
                changed=frozenset(fields("users", user["user_id"], "address")),
            )
        order = self.db["orders"][given["order_id"]]
        if call.name == "modify_pending_order_payment" and len(order["payment_history"]) > 1:
            return Answer("Error: there should be exactly one payment", failed=True)
        owner = order["user_id"]
        before = copy.deepcopy(self.db["users"][owner]["payment_methods"])
        changed = fields(
            "orders", order["order_id"], *getattr(self, f"_do_{call.name}")(order, given)
        )
        for key, method in self.db["users"][owner]["payment_methods"].items():
            if method != before[key]:
                changed.add(("users", owner, f"balance of {key}"))
        shown = frozenset(fields("orders", order["order_id"], *_ORDER_FIELDS))
        return Answer(json.dumps(order), shown=shown, changed=frozenset(changed))

    def _charge(self, order: Any, method_id: str, cents: int) -> None:
        """Records a payment (or with a negative amount a refund), on the gift card too."""
        kind = "payment" if cents >= 0 else "refund"
        order["payment_history"].append(
            {
                "transaction_type": kind,
                "amount": in_dollars(abs(cents)),
                "payment_method_id": method_id,
            }
        )
        card = self.db["users"][order["user_id"]]["payment_methods"].get(method_id, {})
        if "balance" in card:
            card["balance"] = in_dollars(in_cents(card["balance"]) - cents)

    def _do_cancel_pending_order(self, order: Any, given: Any) -> tuple[str, ...]:
        order["status"], order["cancel_reason"] = "cancelled", given["reason"]
        first = order["payment_history"][0]
        self._charge(order, first["payment_method_id"], -in_cents(first["amount"]))
        return "status", "cancel_reason", "payment_history"

    def _do_modify_pending_order_address(self, order: Any, given: Any) -> tuple[str, ...]:
        order["address"] = {name: given[name] for name in ADDRESS}
        return ("address",)

    def _do_modify_pending_order_payment(self, order: Any, given: Any) -> tuple[str, ...]:
        before = order["payment_history"][-1]
        amount = in_cents(before["amount"])
        self._charge(order, given["payment_method_id"], amount)
        self._charge(order, before["payment_method_id"], -amount)
        return ("payment_history",)

    def _do_modify_pending_order_items(self, order: Any, given: Any) -> tuple[str, ...]:
        difference = 0
        for old, new in zip(given["item_ids"], given["new_item_ids"], strict=True):
            item = next(i for i in order["items"] if i["item_id"] == old)
            variant = self.db["products"][item["product_id"]]["variants"][new]
            difference += in_cents(variant["price"]) - in_cents(item["price"])
            item.update(item_id=new, price=variant["price"], options=variant["options"])
        self._charge(order, given["payment_method_id"], difference)
        order["status"] = "pending (item modified)"
        return "status", "items", "payment_history"

    def _do_return_delivered_order_items(self, order: Any, given: Any) -> tuple[str, ...]:
        order["status"], order["return_items"] = "return requested", sorted(given["item_ids"])
        order["return_payment_method_id"] = given["payment_method_id"]
        return "status", "return_items", "return_payment_method_id"

    def _do_exchange_delivered_order_items(self, order: Any, given: Any) -> tuple[str, ...]:
        order["status"] = "exchange requested"
        order["exchange_items"] = sorted(given["item_ids"])
        order["exchange_new_items"] = sorted(given["new_item_ids"])
        order["exchange_payment_method_id"] = given["payment_method_id"]
        return "status", "exchange_items", "exchange_new_items", "exchange_payment_method_id"
