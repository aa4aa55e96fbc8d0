"""The garden shop's situations, from its policy alone: for its Python pack and its YAML pack alike."""

from __future__ import annotations

from typing import Any

from ledgeragent.types import ToolCall

from .rows import Answered, Call, Rows, Step, done, may

ROWS = Rows("shop", "all")
add, policy = ROWS.add, ROWS.policy
HELLO = "Hello, fay@example.com"
ADDRESS = {"street": "Dam 1", "postcode": "1012", "city": "Amsterdam", "country": "NL"}


def order(**changes: Any) -> dict[str, Any]:
    lines = {
        "rake": {"name": "Rake", "kind": "tool", "quantity": 1, "unit_price": 20.0},
        "thyme": {"name": "Thyme", "kind": "plant", "quantity": 2, "unit_price": 4.5},
    }
    return {
        "order_id": "O-1",
        "customer_id": "C-1",
        "status": "open",
        "placed_on": "2026-05-18",
        "lines": lines,
        "delivery": {"fee": 5.0, "address": ADDRESS},
        "vouchers": {},
        "total": 34.0,
        "due": 34.0,
        "refunded": 0.0,
        "parcel_ids": ["P-1"],
        **changes,
    }


def parcel(**changes: Any) -> dict[str, Any]:
    untouched = {"refunded": 0, "replaced": 0}
    return {
        "parcel_id": "P-1",
        "order_id": "O-1",
        "carrier": "Post",
        "status": "delivered",
        "delivered_on": "2026-05-10",
        "items": {"rake": {"quantity": 1, **untouched}, "thyme": {"quantity": 2, **untouched}},
        **changes,
    }


def voucher(**changes: Any) -> dict[str, Any]:
    return {
        "code": "GIFT",
        "customer_id": "C-1",
        "kind": "gift",
        "balance": 25.0,
        "min_total": 0.0,
        "expires_on": "2026-05-20",
        **changes,
    }


def box(**changes: Any) -> dict[str, Any]:
    known = {"box_id": "B-1", "customer_id": "C-1", "plan": "herbs", "price": 9.0}
    return {**known, "status": "active", "next_box_on": "2026-05-28", **changes}


def product(**changes: Any) -> dict[str, Any]:
    return {"sku": "rake", "name": "Rake", "kind": "tool", "price": 22.0, "stock": 3, **changes}


_READS = {
    "parcel_id": "get_parcel",
    "order_id": "get_order",
    "code": "get_voucher",
    "box_id": "get_box",
    "sku": "get_product",
}


def read(record: dict[str, Any], answer: Any = None) -> Answered:
    """A record as read, perhaps with another answer."""
    key = next(key for key in _READS if key in record)
    return _READS[key], {key: record[key]}, record if answer is None else answer


def find(answer: Any = "C-1") -> Answered:
    return "find_customer", {"email": "fay@example.com"}, answer


def call(tool: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=tool, arguments=arguments)


CANCEL = call("cancel_order", order_id="O-1")
QUANTITY = call("change_quantity", order_id="O-1", sku="rake", quantity=2)
MOVE = call("change_address", order_id="O-1", **ADDRESS)
VOUCHER = call("apply_voucher", order_id="O-1", code="GIFT", amount=10.0)
REFUND = call("refund_item", order_id="O-1", parcel_id="P-1", sku="thyme", quantity=2, amount=9.0)
RESEND = call("send_replacement", order_id="O-1", parcel_id="P-1", sku="thyme", quantity=2)
PAUSE = call("pause_box", box_id="B-1", months=2)
END = call("end_box", box_id="B-1")
ME: tuple[Step, ...] = (HELLO, find())
OPEN = read(order())

policy("ask for the email address of the account and look it up; only that customer's")
for answer, accept in (
    ("C-1", "allow"),
    ('"C-1"', "allow"),
    ({"result": "C-1"}, "allow"),
    ("Error: nobody has this address", "ask"),
    ("Sorry", "ask"),
    ("", "ask"),
    ("C-2", "reject"),
):
    add(f"the lookup answers {answer!r}", HELLO, find(answer), OPEN, may(accept, CANCEL))
add("no lookup", HELLO, OPEN, may("ask", CANCEL))
add("a stranger's order", *ME, read(order(customer_id="C-2")), may("reject", CANCEL))
add("a stranger's box", *ME, read(box(customer_id="C-2")), may("reject", PAUSE))
add("a stranger's gift", *ME, OPEN, read(voucher(customer_id="C-2")), may("reject", VOUCHER))
add("a stranger looked up later", *ME, OPEN, find("C-2"), may("reject or ask or allow", CANCEL))

policy("only an open order can be cancelled; address, contents, vouchers change while it is open")
for word, accept in (
    ("open", "allow"),
    ("packed", "reject"),
    ("dispatched", "reject"),
    ("delivered", "reject"),
    ("cancelled", "reject"),
    ("OPEN", "allow or ask"),
    ("shipped", "ask or reject"),
    (None, "ask or reject"),
):
    add(f"cancel: {word!r}", *ME, read(order(status=word)), may(accept, CANCEL))
    add(f"address: {word!r}", *ME, read(order(status=word)), may(accept, MOVE))
    add(f"voucher: {word!r}", *ME, read(order(status=word)), read(voucher()), may(accept, VOUCHER))
add("never read", *ME, may("ask", CANCEL))
add(
    "without a status",
    *ME,
    read(order(), {k: v for k, v in order().items() if k != "status"}),
    may("ask or reject", CANCEL),
)
add("cancelled, again", *ME, OPEN, done(CANCEL), may("reject or ask", CANCEL))
add("cancel lost, address", *ME, OPEN, done(CANCEL, "Error: timeout"), may("ask", MOVE))
add("cancel refused, address", *ME, OPEN, done(CANCEL, "Error: busy"), may("allow", MOVE))
for country, accept in (
    ("DE", "allow"),
    ("FR", "reject"),
    ("nl", "reject"),
    ("", "reject"),
    (None, "reject"),
):
    add(f"plants to {country!r}", *ME, OPEN, may(accept, MOVE, country=country))
tools = order(lines={"rake": order()["lines"]["rake"]})
add("no plants to FR", *ME, read(tools), may("allow", MOVE, country="FR"))

policy("nothing is added that is not in stock; an order keeps one product")
for quantity, accept in (
    (4, "allow"),
    (5, "reject"),
    (0, "allow"),
    (-1, "reject"),
    ("2", "allow"),
    (1.5, "reject"),
    (True, "reject"),
    (None, "reject"),
    (10**9, "reject"),
):
    add(f"{quantity!r} rakes", *ME, OPEN, read(product()), may(accept, QUANTITY, quantity=quantity))
add("the last product", *ME, read(tools), read(product()), may("reject", QUANTITY, quantity=0))
add("stock unread", *ME, OPEN, may("ask", QUANTITY))
add(
    "stock from a search",
    *ME,
    OPEN,
    ("search_products", {"text": "rake"}, [{k: v for k, v in product().items() if k != "stock"}]),
    may("ask", QUANTITY),
)
add(
    "both products taken out",
    *ME,
    OPEN,
    read(product()),
    may("allow", QUANTITY, quantity=0),
    may("allow or reject or ask", QUANTITY, sku="thyme", quantity=0),
    not_all=True,
)

policy("a voucher pays until it expires, no more than it holds and than is due; one promotion")
for amount, accept in (
    (25.0, "allow"),
    (25.01, "reject"),
    (0, "reject"),
    (-5.0, "reject"),
    ("10", "allow"),
    ("ten", "reject"),
    (None, "reject"),
):
    add(f"{amount!r} of 25", *ME, OPEN, read(voucher()), may(accept, VOUCHER, amount=amount))
add("more than is due", *ME, read(order(due=5.0)), read(voucher()), may("reject", VOUCHER))
add("expired", *ME, OPEN, read(voucher(expires_on="2026-05-19")), may("reject", VOUCHER))
add(
    "expires at some time",
    *ME,
    OPEN,
    read(voucher(expires_on="soon")),
    may("ask or reject", VOUCHER),
)
add(
    "two payments of one gift",
    *ME,
    OPEN,
    read(voucher()),
    may("allow", VOUCHER, amount=20.0),
    may("reject or ask", VOUCHER, amount=15.0),
    not_all=True,
)
PROMO = {"kind": "promotion", "customer_id": None, "min_total": 30.0}
for total, accept in ((34.0, "allow"), (30.0, "allow"), (29.99, "reject")):
    add(
        f"a promotion from 30, {total}",
        *ME,
        read(order(total=total)),
        read(voucher(**PROMO)),
        may(accept, VOUCHER),
    )
add(
    "two promotions",
    *ME,
    OPEN,
    read(voucher(**PROMO)),
    read(voucher(**PROMO, code="MAY")),
    may("allow", VOUCHER),
    may("reject or ask", VOUCHER, code="MAY"),
    not_all=True,
)

policy("claims: plants 14 days after delivery, everything else 60; each item once; the price paid")
CLAIM: tuple[Step, ...] = (*ME, read(order(status="delivered")), read(parcel()))
for field, value, accept in (
    ("amount", 9.0, "allow"),
    ("amount", "9.00", "allow"),
    ("amount", 10.0, "reject"),
    ("amount", 4.5, "reject"),
    ("amount", -9.0, "reject"),
    ("quantity", 3, "reject"),
    ("quantity", 0, "reject"),
    ("quantity", -2, "reject"),
    ("quantity", 1, "reject"),
    ("sku", "rose", "reject"),
    ("sku", "rake", "reject"),
    ("sku", "", "reject"),
    ("parcel_id", "P-2", "ask or reject"),
):
    add(f"refund, {field} {value!r}", *CLAIM, may(accept, REFUND, **{field: value}))
for on, word, accept in (
    ("2026-05-06", "delivered", "allow"),
    ("2026-05-05", "delivered", "reject"),
    (None, "on its way", "reject"),
    (None, "lost", "reject"),
    ("yesterday", "delivered", "ask or reject"),
):
    came = read(parcel(delivered_on=on, status=word))
    add(f"delivered {on!r}", *ME, read(order(status="delivered")), came, may(accept, REFUND))
add(
    "refund twice in one reply",
    *CLAIM,
    may("allow", REFUND),
    may("reject or ask", REFUND),
    not_all=True,
)
add(
    "refund and replacement",
    *CLAIM,
    read(product(sku="thyme", kind="plant")),
    may("allow", REFUND),
    may("reject or ask", RESEND),
    not_all=True,
)
add(
    "refund one and one",
    *CLAIM,
    may("allow", REFUND, quantity=1, amount=4.5),
    may("ask or reject", REFUND, quantity=1, amount=4.5),
)
add("refunded, again", *CLAIM, done(REFUND), may("reject or ask", REFUND))
add("refund lost, again", *CLAIM, done(REFUND, "Error: timeout"), may("reject or ask", REFUND))
add("refund failed, again", *CLAIM, done(REFUND, "Error: no money"), may("allow", REFUND))
add(
    "another order's parcel",
    *ME,
    read(order(status="delivered")),
    read(parcel(order_id="O-2")),
    may("reject", REFUND),
)
add(
    "not in stock", *CLAIM, read(product(sku="thyme", kind="plant", stock=1)), may("reject", RESEND)
)

for on, accept in (
    ("2026-05-06T23:00:00+02:00", "allow"),
    ("2026-05-06T08:30:00", "allow"),
    ("2026-05-05T00:00:00Z", "reject"),
    ("2026-05-05T25:00", "ask"),
):
    came = read(parcel(delivered_on=on))
    add(
        f"delivered at a time, {on}",
        *ME,
        read(order(status="delivered")),
        came,
        may(accept, REFUND),
    )

policy(
    "in the 7 days before it is sent a box is left alone; an active one is paused for 1 to 3 months"
)
for on, accept in (
    ("2026-05-28", "allow"),
    ("2026-05-27", "reject"),
    ("2026-05-19", "reject"),
    (None, "reject"),
    ("soon", "ask or reject"),
):
    add(f"next box {on!r}", *ME, read(box(next_box_on=on)), may(accept, PAUSE))
    add(f"end, next box {on!r}", *ME, read(box(next_box_on=on)), may(accept, END))
for on, accept in (("2026-05-28T06:00:00Z", "allow"), ("2026-05-27T06:00:00Z", "reject")):
    add(f"end, next box at a time, {on}", *ME, read(box(next_box_on=on)), may(accept, END))
for months, accept in (
    (1, "allow"),
    (3, "allow"),
    (4, "reject"),
    (0, "reject"),
    (-1, "reject"),
    ("2", "allow"),
    (2.5, "reject"),
    (None, "reject"),
):
    add(f"{months!r} months", *ME, read(box()), may(accept, PAUSE, months=months))
add("paused already", *ME, read(box(status="paused")), may("reject", PAUSE))
add("pause and end", *ME, read(box()), may("allow", PAUSE), may("ask or reject", END))
add("pause, then pause", *ME, read(box()), done(PAUSE), may("ask or reject", PAUSE))
add(
    "read and write in one reply", *ME, Call("get_box", {"box_id": "B-1"}, "allow"), may("ask", END)
)
