"""A long run of the shop in which every text that a run can hold tries to act on the page."""

from __future__ import annotations

import json
from typing import Any

TEXT = (
    '</script><script>window.acted=1</script><img src=x onerror="window.acted=1">'
    "<!--<script>&lt;\u2028\u202e${window.acted=1}`${1}`"
)


def run(turns: int) -> dict[str, Any]:
    """`turns` turns: an account and an order are read, and the order is cancelled."""
    messages: list[dict[str, Any]] = []
    for turn in range(turns):
        order = f"G-{turn % 7}"
        messages += [
            {"role": "user", "content": f"turn {turn} {TEXT}"},
            _calls(("find_customer", {"email": TEXT}), ("get_order", {"order_id": order})),
            _answer("find_customer", '"C-1"'),
            _answer("get_order", json.dumps(_order(order, turn))),
            _calls(("cancel_order", {"order_id": order})),
            _answer("cancel_order", json.dumps({"order_id": order, "done": TEXT})),
            {"role": "assistant", "content": TEXT},
        ]
    return {"id": TEXT, "domain": "shop", "task_id": TEXT, "messages": messages}


def _order(order: str, turn: int) -> dict[str, Any]:
    line = {"name": TEXT, "kind": "pot", "quantity": turn + 1, "unit_price": 12345678901234567890.0}
    return {
        "order_id": order,
        "customer_id": "C-1",
        "status": ("open", "packed", "delivered")[turn % 3],
        "lines": {TEXT: line},
        "vouchers": {},
        "note": TEXT,
        "large": 12345678901234567891,
    }


def _calls(*calls: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    listed = [
        {"id": name, "function": {"name": name, "arguments": json.dumps(arguments)}}
        for name, arguments in calls
    ]
    return {"role": "assistant", "content": None, "tool_calls": listed}


def _answer(call: str, content: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call, "content": content}
