"""The answers of the read tools: one function per kind of record, each a query over the database."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping

from ledgeragent.types import Json

Rows = sqlite3.Connection


class ToolError(Exception):
    """A tool that cannot do what it was asked; its text is what the caller reads."""


def customer(db: Rows, customer_id: str) -> Json:
    """The customer with address and the numbers of everything on the account."""
    row = _row(db, "customers", "customer_id", customer_id)
    return {
        "customer_id": row["customer_id"],
        "name": row["name"],
        "email": row["email"],
        "address": _address(row),
        "order_ids": _ids(db, "orders", "order_id", customer_id),
        "voucher_codes": _ids(db, "vouchers", "code", customer_id),
        "box_ids": _ids(db, "boxes", "box_id", customer_id),
    }


def product(db: Rows, sku: str) -> Json:
    """The product with today's price and what is in stock."""
    return dict(_row(db, "products", "sku", sku))


def order(db: Rows, order_id: str) -> Json:
    """The order with its lines, total, vouchers and what is still to be paid."""
    row = _row(db, "orders", "order_id", order_id)
    lines = _lines(db, order_id)
    vouchers = _vouchers(db, order_id)
    goods = sum(line["quantity"] * line["unit_price"] for line in lines.values())
    total = round(goods + row["delivery_fee"], 2)
    credit = sum(used["amount"] for used in vouchers.values())
    return {
        "order_id": row["order_id"],
        "customer_id": row["customer_id"],
        "status": row["status"],
        "placed_on": row["placed_on"],
        "lines": lines,
        "delivery": {"fee": row["delivery_fee"], "address": _address(row)},
        "vouchers": vouchers,
        "total": total,
        "due": round(total - credit, 2) if row["status"] == "open" else 0.0,
        "refunded": row["refunded"],
        "parcel_ids": [
            parcel["parcel_id"]
            for parcel in db.execute(
                "SELECT parcel_id FROM parcels WHERE order_id = ? ORDER BY parcel_id", (order_id,)
            )
        ],
    }


def parcel(db: Rows, parcel_id: str) -> Json:
    """The parcel, where it is, and what was in it."""
    row = _row(db, "parcels", "parcel_id", parcel_id)
    items = db.execute(
        "SELECT sku, quantity, refunded, replaced FROM parcel_items WHERE parcel_id = ? ORDER BY sku",
        (parcel_id,),
    )
    return {**row, "items": _by("sku", items)}


def voucher(db: Rows, code: str) -> Json:
    """The voucher, whose it is (null: open to everybody) and what it is still worth."""
    return dict(_row(db, "vouchers", "code", code))


def box(db: Rows, box_id: str) -> Json:
    """The subscription to a monthly box."""
    return dict(_row(db, "boxes", "box_id", box_id))


FAMILIES: Mapping[str, tuple[str, str, Callable[[Rows, str], Json]]] = {
    "boxes": ("boxes", "box_id", box),
    "customers": ("customers", "customer_id", customer),
    "orders": ("orders", "order_id", order),
    "parcels": ("parcels", "parcel_id", parcel),
    "products": ("products", "sku", product),
    "vouchers": ("vouchers", "code", voucher),
}
"""Every kind of record: its table, its key, and the function that builds one."""


def everything(db: Rows) -> dict[str, dict[str, Json]]:
    """The whole database as records: family, then key."""
    return {
        family: {key: build(db, key) for key in _keys(db, table, column)}
        for family, (table, column, build) in FAMILIES.items()
    }


def _row(db: Rows, table: str, column: str, key: str) -> dict[str, Json]:
    row = db.execute(f"SELECT * FROM {table} WHERE {column} = ?", (key,)).fetchone()
    if row is None:
        raise ToolError(f"there is no {_SINGULAR[table]} {key}")
    return dict(row)


_SINGULAR = {
    "boxes": "box",
    "customers": "customer",
    "orders": "order",
    "parcels": "parcel",
    "products": "product",
    "vouchers": "voucher",
}


def _keys(db: Rows, table: str, column: str) -> Iterator[str]:
    yield from (row[0] for row in db.execute(f"SELECT {column} FROM {table} ORDER BY 1").fetchall())


def _ids(db: Rows, table: str, column: str, customer_id: str) -> list[str]:
    query = f"SELECT {column} FROM {table} WHERE customer_id = ? ORDER BY 1"
    return [row[0] for row in db.execute(query, (customer_id,))]


def _lines(db: Rows, order_id: str) -> dict[str, Json]:
    query = (
        "SELECT sku, name, kind, quantity, unit_price FROM order_lines JOIN products USING (sku)"
        " WHERE order_id = ? ORDER BY sku"
    )
    return _by("sku", db.execute(query, (order_id,)))


def _vouchers(db: Rows, order_id: str) -> dict[str, Json]:
    query = (
        "SELECT code, kind, amount FROM voucher_uses JOIN vouchers USING (code)"
        " WHERE order_id = ? ORDER BY code"
    )
    return _by("code", db.execute(query, (order_id,)))


def _by(name: str, rows: sqlite3.Cursor) -> dict[str, Json]:
    return {row[name]: {k: row[k] for k in row.keys() if k != name} for row in rows}  # noqa: SIM118


def _address(row: Mapping[str, Json]) -> Json:
    return {name: row[name] for name in ("street", "postcode", "city", "country")}
