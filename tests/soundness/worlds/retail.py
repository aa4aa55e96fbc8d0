"""A small shop: two or three customers, their orders, and products with variants."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any, ClassVar

from ledgeragent import ToolCall

from ..judgement import Db, Judgement, Talk
from ..judges import retail as judge
from ..world import Answer, Facts, World, call, fields, one_in, some

_PEOPLE = {
    "ada_moss_11": ("Ada", "Moss", "10001"),
    "ben_reed_22": ("Ben", "Reed", "20002"),
    "cyd_hale_33": ("Cyd", "Hale", "30003"),
}
_PRODUCTS = ("mug", "lamp", "rope")
_PRICES = (1000, 1010, 1333, 1340, 2099, 4217)
_STATUSES = (
    "pending",
    "delivered",
    "processed",
    "cancelled",
    "pending (item modified)",
    "return requested",
    "exchange requested",
)
_FINDERS = ("find_user_id_by_email", "find_user_id_by_name_zip")
_ADDRESS = {
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
_ORDER_FIELDS = ("user_id", "status", "items", "payment_history", "address")
_TOOLS = (
    "cancel_pending_order",
    "modify_pending_order_items",
    "exchange_delivered_order_items",
    "return_delivered_order_items",
    "modify_pending_order_payment",
    "modify_pending_order_address",
    "modify_user_address",
)


def _dollars(cents: int) -> float:
    return cents / 100


def _cents(dollars: float) -> int:
    return round(dollars * 100)


class RetailWorld(World):
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
        people = list(_PEOPLE)[: rng.randint(1, 3)]
        db: Db = {"users": {}, "orders": {}, "products": {}}
        for number, name in enumerate(_PRODUCTS):
            product_id = f"90000000{number}"
            db["products"][product_id] = {
                "name": name,
                "product_id": product_id,
                "variants": _variants(rng, number),
            }
        for number, user_id in enumerate(people):
            db["users"][user_id] = _user(rng, user_id, number)
            for _ in range(rng.randint(1, 3)):
                _place_order(rng, db, user_id)
        for user_id in people:
            _set_balances(rng, db, user_id)
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
                == (first, last, _PEOPLE[user_id][2])
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
            return [call(read.name, **me["name"], zip=_PEOPLE[self.me][2])]
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
            order["status"] = rng.choice(_STATUSES)
            return call("get_order_details", order_id=order["order_id"]), frozenset()
        if kind == 1:
            product = rng.choice(list(self.db["products"].values()))
            variant = rng.choice(list(product["variants"].values()))
            variant["available"] = not variant["available"]
            return call("get_product_details", product_id=product["product_id"]), frozenset()
        user_id = rng.choice(list(self.db["users"]))
        _set_balances(rng, self.db, user_id)
        return call("get_user_details", user_id=user_id), frozenset()

    def judge(self, talk: Talk, call: ToolCall) -> Judgement:
        return judge.judge(self.db, talk, call.name, call.arguments)

    # -- writes ------------------------------------------------------------------------------------

    def write(self, call: ToolCall) -> Answer:
        given = call.arguments
        if call.name == "modify_user_address":
            user = self.db["users"][given["user_id"]]
            user["address"] = {name: given[name] for name in _ADDRESS}
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
                "amount": _dollars(abs(cents)),
                "payment_method_id": method_id,
            }
        )
        card = self.db["users"][order["user_id"]]["payment_methods"].get(method_id, {})
        if "balance" in card:
            card["balance"] = _dollars(_cents(card["balance"]) - cents)

    def _do_cancel_pending_order(self, order: Any, given: Any) -> tuple[str, ...]:
        order["status"], order["cancel_reason"] = "cancelled", given["reason"]
        first = order["payment_history"][0]
        self._charge(order, first["payment_method_id"], -_cents(first["amount"]))
        return "status", "cancel_reason", "payment_history"

    def _do_modify_pending_order_address(self, order: Any, given: Any) -> tuple[str, ...]:
        order["address"] = {name: given[name] for name in _ADDRESS}
        return ("address",)

    def _do_modify_pending_order_payment(self, order: Any, given: Any) -> tuple[str, ...]:
        before = order["payment_history"][-1]
        amount = _cents(before["amount"])
        self._charge(order, given["payment_method_id"], amount)
        self._charge(order, before["payment_method_id"], -amount)
        return ("payment_history",)

    def _do_modify_pending_order_items(self, order: Any, given: Any) -> tuple[str, ...]:
        difference = 0
        for old, new in zip(given["item_ids"], given["new_item_ids"], strict=True):
            item = next(i for i in order["items"] if i["item_id"] == old)
            variant = self.db["products"][item["product_id"]]["variants"][new]
            difference += _cents(variant["price"]) - _cents(item["price"])
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

    # -- proposals ---------------------------------------------------------------------------------

    def propose(self, rng: Random) -> ToolCall:
        tool = rng.choice(_TOOLS)
        if tool == "modify_user_address":
            users = [self.me] if not one_in(rng, 3) else [*self.db["users"], "nobody_1"]
            return call(tool, user_id=rng.choice(users), **_ADDRESS)
        order = self._fitting(rng, "delivered" if "delivered" in tool else "pending")
        given: dict[str, Any] = {"order_id": order["order_id"]}
        if one_in(rng, 25):
            given["order_id"] = "#W0"
        if tool == "cancel_pending_order":
            reasons = ["no longer needed", "ordered by mistake"]
            given["reason"] = rng.choice(reasons if not one_in(rng, 5) else ["too slow", ""])
        elif tool == "modify_pending_order_address":
            given |= _ADDRESS
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

    # -- twins -------------------------------------------------------------------------------------

    def vary(self, known: Facts, rng: Random) -> None:
        for product_id in self.db["products"]:
            if ("products", product_id, "variants") not in known:
                self._vary_product(product_id, known, rng)
        for user_id, user in self.db["users"].items():
            if ("users", user_id, "payment_methods") not in known:
                self._vary_methods(user, known, rng)
            for key, method in user["payment_methods"].items():
                if "balance" in method and ("users", user_id, f"balance of {key}") not in known:
                    method["balance"] = _dollars(rng.choice([0, 7, 1000, 99999]))
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
            variants[key]["price"] = _dollars(rng.choice(_PRICES))
            if one_in(rng, 4) and key not in listed:
                del variants[key]
        if one_in(rng, 3):
            variants["0000000000"] = _variant("0000000000", 1000, True)

    def _vary_order(self, order: Any, known: Facts, rng: Random) -> None:
        def unknown(name: str) -> bool:
            return ("orders", order["order_id"], name) not in known

        if unknown("status") and one_in(rng, 2):
            order["status"] = rng.choice(_STATUSES)
        if unknown("user_id") and one_in(rng, 2):
            self._give(order, known, rng)
        if unknown("items") and one_in(rng, 2):
            order["items"] = _items(rng, self.db)
        if unknown("payment_history"):
            amount = sum(_cents(i["price"]) for i in order["items"])
            methods = list(self.db["users"][order["user_id"]]["payment_methods"])
            order["payment_history"] = [_payment(rng.choice(methods), amount)]

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
                methods[key] = _method(key, 99999)


def _variant(item_id: str, cents: int, available: bool) -> dict[str, Any]:
    options = {"size": item_id[-1]}
    return {
        "item_id": item_id,
        "options": options,
        "available": available,
        "price": _dollars(cents),
    }


def _variants(rng: Random, number: int) -> dict[str, Any]:
    keys = [f"10000000{number}{n}" for n in range(rng.randint(2, 4))]
    return {key: _variant(key, rng.choice(_PRICES), not one_in(rng, 4)) for key in keys}


def _method(key: str, cents: int = 0) -> dict[str, Any]:
    source = key.rsplit("_", 1)[0]
    method: dict[str, Any] = {"source": source, "id": key}
    if source == "gift_card":
        method["balance"] = _dollars(cents)
    elif source == "credit_card":
        method |= {"brand": "visa", "last_four": "1234"}
    return method


def _user(rng: Random, user_id: str, number: int) -> dict[str, Any]:
    first, last, postcode = _PEOPLE[user_id]
    kinds = some(rng, ["credit_card_1", "gift_card_2", "paypal_3", "gift_card_4"], 1, 4)
    keys = [f"{kind}{number}" for kind in kinds]
    return {
        "user_id": user_id,
        "name": {"first_name": first, "last_name": last},
        "address": _ADDRESS | {"zip": postcode},
        "email": f"{user_id}@example.com",
        "payment_methods": {key: _method(key) for key in keys},
        "orders": [],
    }


def _payment(method_id: str, cents: int) -> dict[str, Any]:
    return {
        "transaction_type": "payment",
        "amount": _dollars(cents),
        "payment_method_id": method_id,
    }


def _items(rng: Random, db: Db) -> list[dict[str, Any]]:
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


def _place_order(rng: Random, db: Db, user_id: str) -> None:
    order_id = f"#W{len(db['orders']) + 1}"
    items = _items(rng, db)
    methods = list(db["users"][user_id]["payment_methods"])
    paid_with = rng.choice(methods)
    amount = sum(_cents(item["price"]) for item in items)
    db["orders"][order_id] = {
        "order_id": order_id,
        "user_id": user_id,
        "address": db["users"][user_id]["address"],
        "items": items,
        "status": rng.choice(_STATUSES[:2]) if not one_in(rng, 3) else rng.choice(_STATUSES),
        "fulfillments": [],
        "payment_history": [_payment(paid_with, amount)],
        **dict.fromkeys(_UNSET),
    }
    db["users"][user_id]["orders"].append(order_id)


def _set_balances(rng: Random, db: Db, user_id: str) -> None:
    """Gift cards that just cover an order or a price difference, or miss it by a cent."""
    prices = [_cents(v["price"]) for p in db["products"].values() for v in p["variants"].values()]
    totals = [
        _cents(o["payment_history"][0]["amount"])
        for o in db["orders"].values()
        if o["user_id"] == user_id
    ]
    for method in db["users"][user_id]["payment_methods"].values():
        if "balance" in method:
            gap = max(0, rng.choice(prices) - rng.choice(prices))
            enough = rng.choice([99999, *totals, gap, 0])
            method["balance"] = _dollars(max(0, enough - (1 if one_in(rng, 3) else 0)))
