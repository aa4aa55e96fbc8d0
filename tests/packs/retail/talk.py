"""Invented customers, orders and products of the shop, calls on them, and conversations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ledgeragent import (
    Domain,
    Path,
    Reply,
    Session,
    ToolCall,
    ToolReturn,
    Verdict,
    load_domain,
)
from ledgeragent.testing import judge
from ledgeragent.types import Json
from tests.packs.talk import asked

RETAIL = load_domain("retail")
ME, FRIEND = "ada_lund_3100", "bo_friis_4200"
CARD, GIFT, PAYPAL = "credit_card_71", "gift_card_72", "paypal_73"
SHOE, SHOE_BLACK, SHOE_GONE = "9001", "9002", "9003"
HAT = "9101"
SHOES, HATS = "8001", "8002"
ORDER, SECOND = "#W10", "#W20"
NEW_ADDRESS = {
    "address1": "5 Mill Lane",
    "address2": "",
    "city": "Salem",
    "state": "OR",
    "country": "USA",
    "zip": "97301",
}


def user(user_id: str = ME, *, balance: Json = 40.0) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "name": {"first_name": "Ada", "last_name": "Lund"},
        "address": NEW_ADDRESS,
        "email": f"{user_id}@example.com",
        "payment_methods": {
            CARD: {"id": CARD, "source": "credit_card", "brand": "visa", "last_four": "7171"},
            GIFT: {"id": GIFT, "source": "gift_card", "balance": balance},
            PAYPAL: {"id": PAYPAL, "source": "paypal"},
        }
        if user_id == ME
        else {"gift_card_99": {"id": "gift_card_99", "source": "gift_card", "balance": 500.0}},
        "orders": [ORDER, SECOND],
    }


def item(item_id: str, product_id: str = SHOES, price: Json = 50.0) -> dict[str, Any]:
    name = {SHOES: "Running Shoe", HATS: "Sun Hat"}[product_id]
    return {
        "name": name,
        "product_id": product_id,
        "item_id": item_id,
        "price": price,
        "options": {"color": item_id},
    }


def order(
    status: str = "pending",
    *items: dict[str, Any],
    order_id: str = ORDER,
    owner: str = ME,
    paid_with: str = CARD,
) -> dict[str, Any]:
    held = items or (item(SHOE), item(HAT, HATS, 20.0))
    total = sum(float(one["price"]) for one in held)
    return {
        "order_id": order_id,
        "user_id": owner,
        "address": NEW_ADDRESS,
        "items": list(held),
        "status": status,
        "fulfillments": [],
        "payment_history": [
            {"transaction_type": "payment", "amount": total, "payment_method_id": paid_with}
        ],
    }


def shoes(*, price: Json = 65.0) -> dict[str, Any]:
    variants = {
        one: {"item_id": one, "options": {"color": one}, "available": available, "price": cost}
        for one, available, cost in (
            (SHOE, True, 50.0),
            (SHOE_BLACK, True, price),
            (SHOE_GONE, False, 45.0),
        )
    }
    return {"name": "Running Shoe", "product_id": SHOES, "variants": variants}


def known(*records: Mapping[str, Json]) -> dict[str, Json]:
    """The ledger of an identified customer with these records, each under its canonical path."""
    return {"auth.user_id": ME, **{path_of(record): record for record in records}}


def path_of(record: Mapping[str, Json]) -> str:
    for family, key in (
        ("orders", "order_id"),
        ("products", "product_id"),
        ("items", "item_id"),
        ("users", "user_id"),
    ):
        if key in record:
            return str(Path((family, record[key])))
    raise AssertionError(record)


def cancel(order_id: str = ORDER, reason: str = "no longer needed") -> ToolCall:
    arguments = {"order_id": order_id, "reason": reason}
    return ToolCall(name="cancel_pending_order", arguments=arguments, id="w")


def address(order_id: str = ORDER) -> ToolCall:
    arguments = {"order_id": order_id, **NEW_ADDRESS}
    return ToolCall(name="modify_pending_order_address", arguments=arguments, id="w")


def payment(method: str, order_id: str = ORDER) -> ToolCall:
    arguments = {"order_id": order_id, "payment_method_id": method}
    return ToolCall(name="modify_pending_order_payment", arguments=arguments, id="w")


def replace(tool: str, old: Json, new: Json, method: str = CARD) -> ToolCall:
    arguments = {
        "order_id": ORDER,
        "item_ids": old,
        "new_item_ids": new,
        "payment_method_id": method,
    }
    return ToolCall(name=tool, arguments=arguments, id="w")


def modify(old: Json, new: Json, method: str = CARD) -> ToolCall:
    return replace("modify_pending_order_items", old, new, method)


def exchange(old: Json, new: Json, method: str = CARD) -> ToolCall:
    return replace("exchange_delivered_order_items", old, new, method)


def give_back(items: Json, method: Json = CARD, order_id: str = ORDER) -> ToolCall:
    arguments = {"order_id": order_id, "item_ids": items, "payment_method_id": method}
    return ToolCall(name="return_delivered_order_items", arguments=arguments, id="w")


def profile(user_id: str = ME) -> ToolCall:
    arguments = {"user_id": user_id, **NEW_ADDRESS}
    return ToolCall(name="modify_user_address", arguments=arguments, id="w")


def by_email(email: str = "ada@example.com", id: str = "1") -> ToolCall:
    return ToolCall(name="find_user_id_by_email", arguments={"email": email}, id=id)


def read(tool: str, id: str = "1", **arguments: Json) -> ToolCall:
    return ToolCall(name=tool, arguments=arguments, id=id)


def talk(
    *exchanges: tuple[ToolCall, Json], domain: Domain = RETAIL, error: bool = False
) -> Session:
    """A session in which these calls answered so, whatever the gate would have said to them."""
    session = Session(domain)
    for call, answer in exchanges:
        content = answer if isinstance(answer, str) else json.dumps(answer)
        session.state = session.state.observe(Reply(calls=(call,)), domain)
        session.observe(ToolReturn(call_id=call.id, content=content, error=error))
    return session


def look(record: Mapping[str, Json], id: str = "1") -> tuple[ToolCall, Json]:
    """The read that supplies a record, and the record."""
    tools = {
        "order_id": "get_order_details",
        "product_id": "get_product_details",
        "item_id": "get_item_details",
        "user_id": "get_user_details",
    }
    key = next(key for key in tools if key in record)
    return read(tools[key], id, **{key: record[key]}), record


def verdict_of(session: Session, call: ToolCall) -> Verdict:
    return session.gate.judge(call, session.ledger)


def asked_for(call: ToolCall, *records: Mapping[str, Json], domain: Domain = RETAIL) -> set[str]:
    return asked(judge(domain, known(*records), call.name, **call.arguments))
