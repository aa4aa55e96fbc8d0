"""The shop's read tools. None of them changes anything."""

from __future__ import annotations

from ledgeragent.demo.shop import records
from ledgeragent.demo.shop.records import Rows, ToolError
from ledgeragent.types import Json


def find_customer(db: Rows, email: str) -> Json:
    """The number of the customer with this email address."""
    row = db.execute("SELECT customer_id FROM customers WHERE email = ?", (email.strip(),))
    customer = row.fetchone()
    if customer is None:
        raise ToolError("no account has this email address")
    return customer[0]


def get_customer(db: Rows, customer_id: str) -> Json:
    """The customer's record."""
    return records.customer(db, customer_id)


def get_order(db: Rows, order_id: str) -> Json:
    """The order's record."""
    return records.order(db, order_id)


def get_parcel(db: Rows, parcel_id: str) -> Json:
    """The parcel's record."""
    return records.parcel(db, parcel_id)


def get_product(db: Rows, sku: str) -> Json:
    """The product's record."""
    return records.product(db, sku)


def search_products(db: Rows, text: str) -> Json:
    """Products whose name or kind contains the text, without their stock."""
    query = (
        "SELECT sku, name, kind, price FROM products"
        " WHERE instr(lower(name), lower(?1)) OR lower(?1) IN (kind, kind || 's') ORDER BY sku"
    )
    return [dict(row) for row in db.execute(query, (text.strip(),))]


def get_voucher(db: Rows, code: str) -> Json:
    """The voucher's record."""
    return records.voucher(db, code)


def get_box(db: Rows, box_id: str) -> Json:
    """The box subscription's record."""
    return records.box(db, box_id)
