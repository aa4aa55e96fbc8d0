"""The shop's write tools.

They keep the books consistent (no negative stock, no overdrawn voucher) and otherwise do as they are
told: as in most real back offices, the policy is the caller's to keep.
"""

from __future__ import annotations

from ledgeragent.demo.shop import records
from ledgeragent.demo.shop.records import Rows, ToolError
from ledgeragent.types import Json


def cancel_order(db: Rows, order_id: str) -> Json:
    """Cancels an order: vouchers and stock go back, and what was paid is refunded."""
    order = records.order(db, order_id)
    if order["status"] == "cancelled":
        raise ToolError(f"order {order_id} is cancelled already")
    if order["status"] != "open":
        _refund(db, order_id, order["total"] - sum(v["amount"] for v in order["vouchers"].values()))
    for code, used in order["vouchers"].items():
        _credit(db, code, used["amount"])
    for sku, line in order["lines"].items():
        _take_from_stock(db, sku, -line["quantity"])
    db.execute("DELETE FROM voucher_uses WHERE order_id = ?", (order_id,))
    db.execute("UPDATE orders SET status = 'cancelled' WHERE order_id = ?", (order_id,))
    return {"order_id": order_id, "done": "order cancelled"}


def change_address(
    db: Rows, order_id: str, street: str, postcode: str, city: str, country: str
) -> Json:
    """Sends an order elsewhere."""
    records.order(db, order_id)
    db.execute(
        "UPDATE orders SET street = ?, postcode = ?, city = ?, country = ? WHERE order_id = ?",
        (street, postcode, city, country, order_id),
    )
    return {"order_id": order_id, "done": "address changed"}


def change_quantity(db: Rows, order_id: str, sku: str, quantity: int) -> Json:
    """Sets how many of a product an order holds: 0 takes it out, a new one is added."""
    order = records.order(db, order_id)
    product = records.product(db, sku)
    line = order["lines"].get(sku)
    before = line["quantity"] if line else 0
    if quantity < 0:
        raise ToolError("a quantity cannot be negative")
    if quantity == before:
        raise ToolError(f"order {order_id} holds {before} of {sku} already")
    _take_from_stock(db, sku, quantity - before)
    db.execute("DELETE FROM order_lines WHERE order_id = ? AND sku = ?", (order_id, sku))
    if quantity:
        price = line["unit_price"] if line else product["price"]
        db.execute("INSERT INTO order_lines VALUES (?, ?, ?, ?)", (order_id, sku, quantity, price))
    return {"order_id": order_id, "done": f"quantity of {sku} set to {quantity}"}


def apply_voucher(db: Rows, order_id: str, code: str, amount: float) -> Json:
    """Pays part of an order with a voucher. A promotion keeps its worth for other customers."""
    records.order(db, order_id)
    voucher = records.voucher(db, code)
    if amount <= 0 or amount > voucher["balance"]:
        raise ToolError(
            f"voucher {code} cannot pay {amount:.2f}, it holds {voucher['balance']:.2f}"
        )
    if code in records.order(db, order_id)["vouchers"]:
        raise ToolError(f"voucher {code} is on order {order_id} already")
    _credit(db, code, -amount)
    db.execute("INSERT INTO voucher_uses VALUES (?, ?, ?)", (order_id, code, round(amount, 2)))
    return {"order_id": order_id, "done": f"{amount:.2f} paid with {code}"}


def refund_item(
    db: Rows, order_id: str, parcel_id: str, sku: str, quantity: int, amount: float
) -> Json:
    """Pays money back for items of a parcel."""
    _claim(db, parcel_id, sku, quantity, "refunded")
    if amount <= 0:
        raise ToolError("a refund must be more than nothing")
    records.order(db, order_id)
    _refund(db, order_id, amount)
    return {"order_id": order_id, "done": f"{amount:.2f} refunded"}


def send_replacement(db: Rows, order_id: str, parcel_id: str, sku: str, quantity: int) -> Json:
    """Sends items of a parcel once more, free of charge."""
    _claim(db, parcel_id, sku, quantity, "replaced")
    records.order(db, order_id)
    _take_from_stock(db, sku, quantity)
    return {"order_id": order_id, "done": f"{quantity} of {sku} on the way again"}


def pause_box(db: Rows, box_id: str, months: int) -> Json:
    """Moves the next box of a subscription some months later."""
    box = records.box(db, box_id)
    if not 1 <= months <= 24:
        raise ToolError("a pause lasts from 1 to 24 months")
    if box["next_box_on"] is None:
        raise ToolError(f"box {box_id} has ended")
    db.execute(
        "UPDATE boxes SET status = 'paused', next_box_on = date(next_box_on, ? || ' months')"
        " WHERE box_id = ?",
        (months, box_id),
    )
    return {"box_id": box_id, "done": f"paused for {months} months"}


def end_box(db: Rows, box_id: str) -> Json:
    """Ends a subscription."""
    records.box(db, box_id)
    db.execute("UPDATE boxes SET status = 'ended', next_box_on = NULL WHERE box_id = ?", (box_id,))
    return {"box_id": box_id, "done": "box ended"}


def hand_over(db: Rows, summary: str) -> Json:
    """Hands the conversation to a person at the nursery."""
    return {"done": "a colleague takes over"}


def _refund(db: Rows, order_id: str, amount: float) -> None:
    db.execute(
        "UPDATE orders SET refunded = round(refunded + ?, 2) WHERE order_id = ?", (amount, order_id)
    )


def _credit(db: Rows, code: str, amount: float) -> None:
    """Puts an amount back on a gift voucher, or with a negative one takes it off."""
    db.execute(
        "UPDATE vouchers SET balance = round(balance + ?, 2) WHERE code = ? AND kind = 'gift'",
        (amount, code),
    )


def _take_from_stock(db: Rows, sku: str, quantity: int) -> None:
    stock = records.product(db, sku)["stock"]
    if quantity > stock:
        raise ToolError(f"only {stock} of {sku} in stock")
    db.execute("UPDATE products SET stock = stock - ? WHERE sku = ?", (quantity, sku))


def _claim(db: Rows, parcel_id: str, sku: str, quantity: int, remedy: str) -> None:
    if sku not in records.parcel(db, parcel_id)["items"]:
        raise ToolError(f"parcel {parcel_id} held no {sku}")
    if quantity < 1:
        raise ToolError("a claim is for at least one item")
    db.execute(
        f"UPDATE parcel_items SET {remedy} = {remedy} + ? WHERE parcel_id = ? AND sku = ?",
        (quantity, parcel_id, sku),
    )
