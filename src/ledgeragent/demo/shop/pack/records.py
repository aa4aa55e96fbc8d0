"""The records that the shop's tools return, and the arguments that they take."""

from __future__ import annotations

from typing import Literal, TypedDict

from ledgeragent.compiler.day import Day

Kind = Literal["plant", "seed", "tool", "pot"]


class Address(TypedDict):
    """Where something is sent. `country` is a two-letter code."""

    street: str
    postcode: str
    city: str
    country: str


class Customer(TypedDict):
    """An account."""

    customer_id: str
    name: str
    email: str
    address: Address
    order_ids: list[str]
    voucher_codes: list[str]
    box_ids: list[str]


class Product(TypedDict):
    """A product. A search supplies no `stock`."""

    sku: str
    name: str
    kind: Kind
    price: float
    stock: int


class Line(TypedDict):
    """One product of an order, at the price that was agreed."""

    name: str
    kind: Kind
    quantity: int
    unit_price: float


class Delivery(TypedDict):
    """Where an order goes, and what that costs."""

    fee: float
    address: Address


class VoucherUse(TypedDict):
    """The part of an order that a voucher paid."""

    kind: Literal["gift", "promotion"]
    amount: float


class Order(TypedDict):
    """An order. `lines` by product code, `vouchers` by code; `due` is 0 once it is packed."""

    order_id: str
    customer_id: str
    status: Literal["open", "packed", "dispatched", "delivered", "cancelled"]
    placed_on: Day
    lines: dict[str, Line]
    delivery: Delivery
    vouchers: dict[str, VoucherUse]
    total: float
    due: float
    refunded: float
    parcel_ids: list[str]


class Item(TypedDict):
    """How many of a product a parcel held, and how many of those were refunded or sent again."""

    quantity: int
    refunded: int
    replaced: int


class Parcel(TypedDict):
    """A parcel. `items` by product code."""

    parcel_id: str
    order_id: str
    carrier: str
    status: Literal["on its way", "delivered", "lost"]
    delivered_on: Day | None
    items: dict[str, Item]


class Voucher(TypedDict):
    """A voucher; a promotion has no `customer_id`."""

    code: str
    customer_id: str | None
    kind: Literal["gift", "promotion"]
    balance: float
    min_total: float
    expires_on: Day


class Box(TypedDict):
    """A subscription to a monthly box; an ended one has no `next_box_on`."""

    box_id: str
    customer_id: str
    plan: Literal["herbs", "bulbs", "seeds"]
    price: float
    status: Literal["active", "paused", "ended"]
    next_box_on: Day | None


class CancelOrder(TypedDict):
    """Arguments of `cancel_order`."""

    order_id: str


class ChangeAddress(TypedDict):
    """Arguments of `change_address`."""

    order_id: str
    street: str
    postcode: str
    city: str
    country: str


class ChangeQuantity(TypedDict):
    """Arguments of `change_quantity`."""

    order_id: str
    sku: str
    quantity: int


class ApplyVoucher(TypedDict):
    """Arguments of `apply_voucher`."""

    order_id: str
    code: str
    amount: float


class SendReplacement(TypedDict):
    """Arguments of `send_replacement`."""

    order_id: str
    parcel_id: str
    sku: str
    quantity: int


class RefundItem(SendReplacement):
    """Arguments of `refund_item`."""

    amount: float


class PauseBox(TypedDict):
    """Arguments of `pause_box`."""

    box_id: str
    months: int


class EndBox(TypedDict):
    """Arguments of `end_box`."""

    box_id: str


class HandOver(TypedDict):
    """Arguments of `hand_over`."""

    summary: str
