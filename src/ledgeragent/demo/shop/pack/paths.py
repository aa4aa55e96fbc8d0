"""Where each tool's return lives in the ledger, and what each write changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledgeragent.demo.shop.pack.records import (
    ApplyVoucher,
    Box,
    CancelOrder,
    ChangeAddress,
    ChangeQuantity,
    Customer,
    EndBox,
    HandOver,
    Order,
    Parcel,
    PauseBox,
    Product,
    RefundItem,
    SendReplacement,
    Voucher,
)
from ledgeragent.effects import Neutral, Read, Write, matching, touch
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.paths import PathTemplate
from ledgeragent.types import Arguments, Json

AUTH = PathTemplate("auth.customer_id", str)
CUSTOMER = PathTemplate("customers.{customer_id}", Customer)
ORDER = PathTemplate("orders.{order_id}", Order)
PARCEL = PathTemplate("parcels.{parcel_id}", Parcel)
PRODUCT = PathTemplate("products.{sku}", Product)
VOUCHER = PathTemplate("vouchers.{code}", Voucher)
BOX = PathTemplate("boxes.{box_id}", Box)


CUSTOMER_ID = matching(r"C-\d+", "a customer number, such as C-11")
"""The lookup's answer; an apology is no customer."""


def _each(answer: Json, arguments: Arguments) -> Iterable[Json]:
    return answer if isinstance(answer, list) else ()


def given_back(arguments: Arguments, ledger: Ledger) -> Iterator[Touch]:
    """The vouchers and stock that a cancelled order gives back, as far as the order was read."""
    entry = ledger.get(ORDER(str(arguments.get("order_id"))))
    if entry is not None:
        yield from (Touch(VOUCHER(code), ("balance",)) for code in entry.value["vouchers"])
        yield from (Touch(PRODUCT(sku), ("stock",)) for sku in entry.value["lines"])


READS = (
    Read(tool="find_customer", to=AUTH, parameters=("email",), parse=CUSTOMER_ID),
    Read(tool="get_customer", to=CUSTOMER, parameters=("customer_id",)),
    Read(tool="get_order", to=ORDER, parameters=("order_id",)),
    Read(tool="get_parcel", to=PARCEL, parameters=("parcel_id",)),
    Read(tool="get_product", to=PRODUCT, parameters=("sku",)),
    Read(tool="search_products", to=PRODUCT, parameters=("text",), records=_each, merge=True),
    Read(tool="get_voucher", to=VOUCHER, parameters=("code",)),
    Read(tool="get_box", to=BOX, parameters=("box_id",)),
)

WRITES = (
    Write(
        tool="cancel_order",
        arguments=CancelOrder,
        touches=(touch(ORDER, "status", "vouchers", "due", "refunded"), given_back),
    ),
    Write(
        tool="change_address", arguments=ChangeAddress, touches=(touch(ORDER, "delivery.address"),)
    ),
    Write(
        tool="change_quantity",
        arguments=ChangeQuantity,
        touches=(touch(ORDER, "lines", "total", "due"), touch(PRODUCT, "stock")),
    ),
    Write(
        tool="apply_voucher",
        arguments=ApplyVoucher,
        touches=(touch(ORDER, "vouchers", "due"), touch(VOUCHER, "balance")),
    ),
    Write(
        tool="refund_item",
        arguments=RefundItem,
        touches=(touch(ORDER, "refunded"), touch(PARCEL, "items")),
    ),
    Write(
        tool="send_replacement",
        arguments=SendReplacement,
        touches=(touch(PARCEL, "items"), touch(PRODUCT, "stock")),
    ),
    Write(tool="pause_box", arguments=PauseBox, touches=(touch(BOX, "status", "next_box_on"),)),
    Write(tool="end_box", arguments=EndBox, touches=(touch(BOX, "status", "next_box_on"),)),
)

NEUTRALS = (Neutral(tool="hand_over", arguments=HandOver),)
