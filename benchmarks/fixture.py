"""One invented retail customer with a delivered order of about 1.7 KB, and the calls over it."""

from __future__ import annotations

import json
from typing import Any

from ledgeragent import Domain, Reply, ToolCall, ToolReturn
from ledgeragent.state import State

USER_ID = "ines_okafor_1001"
ORDER_ID = "#W1000001"
NAMES = (
    "Travel Blanket",
    "Desk Lamp",
    "Wool Sweater",
    "Tea Kettle",
    "Garden Hose",
    "Wall Clock",
)
CARD, GIFT_CARD = "credit_card_1000001", "gift_card_1000002"


def user() -> dict[str, Any]:
    """The customer's profile."""
    return {
        "user_id": USER_ID,
        "name": {"first_name": "Ines", "last_name": "Okafor"},
        "address": {
            "address1": "12 Quay Street",
            "address2": "Flat 3",
            "city": "Bristol",
            "country": "USA",
            "state": "CT",
            "zip": "06010",
        },
        "email": "ines.okafor1001@example.com",
        "payment_methods": {
            CARD: {"source": "credit_card", "id": CARD, "brand": "visa", "last_four": "1001"},
            GIFT_CARD: {"source": "gift_card", "id": GIFT_CARD, "balance": 40},
        },
        "orders": [ORDER_ID],
    }


def order(order_id: str = ORDER_ID) -> dict[str, Any]:
    """A delivered order of six items, paid by credit card."""
    items = [
        {
            "name": name,
            "product_id": f"200000000{n}",
            "item_id": f"300000000{n}",
            "price": 40.5 + n,
            "options": {"color": "slate blue", "size": "medium", "material": "recycled wool"},
        }
        for n, name in enumerate(NAMES)
    ]
    return {
        "order_id": order_id,
        "user_id": USER_ID,
        "address": user()["address"],
        "items": items,
        "fulfillments": [
            {"tracking_id": ["400000000000"], "item_ids": [item["item_id"] for item in items]}
        ],
        "status": "delivered",
        "payment_history": [
            {"transaction_type": "payment", "amount": 258.0, "payment_method_id": CARD}
        ],
        "cancel_reason": None,
        "exchange_items": None,
        "exchange_new_items": None,
        "exchange_payment_method_id": None,
        "exchange_price_difference": None,
        "return_items": None,
        "return_payment_method_id": None,
    }


def return_call(payment_method_id: str) -> ToolCall:
    """A return of one item, refunded to the given method."""
    arguments = {
        "order_id": ORDER_ID,
        "item_ids": ["3000000001"],
        "payment_method_id": payment_method_id,
    }
    return ToolCall(name="return_delivered_order_items", arguments=arguments)


def observed(domain: Domain, other_orders: int) -> State:
    """The state after reading the customer, the order, and so many other orders."""
    reads: list[tuple[str, dict[str, str], str]] = [
        ("find_user_id_by_email", {"email": "ines.okafor1001@example.com"}, USER_ID),
        ("get_user_details", {"user_id": USER_ID}, json.dumps(user())),
        ("get_order_details", {"order_id": ORDER_ID}, json.dumps(order())),
    ]
    for n in range(other_orders):
        other = f"#X{n:07}"
        reads.append(("get_order_details", {"order_id": other}, json.dumps(order(other))))
    state = State()
    for name, arguments, content in reads:
        call = ToolCall(name=name, arguments=arguments, id="read")
        state = state.observe(Reply(calls=(call,)), domain)
        state = state.observe(ToolReturn(call_id="read", content=content), domain)
    return state
