"""The shop's records as its read tools return them, and the arguments of its write tools."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

OrderStatus = Literal[
    "pending",
    "pending (item modified)",
    "pending (items modifed)",
    "processed",
    "delivered",
    "cancelled",
    "return requested",
    "exchange requested",
]
"""The states of an order; the third is how the policy spells the second."""


class Address(TypedDict):
    """A postal address."""

    address1: str
    address2: str
    city: str
    state: str
    country: str
    zip: str


class Name(TypedDict):
    """A person's name."""

    first_name: str
    last_name: str


class PaymentDetails(TypedDict, total=False):
    """The fields that only some ways to pay have: a gift card its balance, a credit card the other two."""

    balance: float
    brand: str
    last_four: str


class PaymentMethod(PaymentDetails):
    """A way to pay."""

    id: str
    source: Literal["gift_card", "credit_card", "paypal"]


class User(TypedDict):
    """A customer's profile; `payment_methods` by id. The first tau-bench leaves `user_id` out."""

    user_id: NotRequired[str]
    name: Name
    address: Address
    email: str
    payment_methods: dict[str, PaymentMethod]
    orders: list[str]


class OrderItem(TypedDict):
    """One ordered piece: the variant `item_id` of the product `product_id`, at the price paid."""

    name: str
    product_id: str
    item_id: str
    price: float
    options: dict[str, str]


class Payment(TypedDict):
    """One transaction of an order."""

    transaction_type: Literal["payment", "refund"]
    amount: float
    payment_method_id: str


class Fulfillment(TypedDict):
    """One parcel."""

    tracking_id: list[str]
    item_ids: list[str]


class ClosedOrder(TypedDict, total=False):
    """The fields of an order once it was cancelled, returned or exchanged."""

    cancel_reason: str | None
    return_items: list[str] | None
    return_payment_method_id: str | None
    exchange_items: list[str] | None
    exchange_new_items: list[str] | None
    exchange_payment_method_id: str | None
    exchange_price_difference: float | None


class Order(ClosedOrder):
    """An order, owned by the customer `user_id`."""

    order_id: str
    user_id: str
    address: Address
    items: list[OrderItem]
    status: OrderStatus
    fulfillments: list[Fulfillment]
    payment_history: list[Payment]


class Variant(TypedDict):
    """One item that can be ordered: a product with certain options."""

    item_id: str
    options: dict[str, str]
    available: bool
    price: float


class Product(TypedDict):
    """A type of product; `variants` by item id."""

    name: str
    product_id: str
    variants: dict[str, Variant]


class OrderCall(TypedDict):
    """The argument that every write on an order has."""

    order_id: str


class CancelOrder(OrderCall):
    """Arguments of cancel_pending_order. Which reasons are accepted, `retail/cancel-reason` says."""

    reason: str


class ModifyAddress(OrderCall, Address):
    """Arguments of modify_pending_order_address."""


class ModifyPayment(OrderCall):
    """Arguments of modify_pending_order_payment."""

    payment_method_id: str


class ItemsCall(OrderCall):
    """The arguments that every write on some items of an order has."""

    item_ids: list[str]
    payment_method_id: str


class ReturnItems(ItemsCall):
    """Arguments of return_delivered_order_items."""


class ReplaceItems(ItemsCall):
    """Arguments of modify_pending_order_items and exchange_delivered_order_items.

    `new_item_ids[i]` takes the place of `item_ids[i]`.
    """

    new_item_ids: list[str]


class ModifyUserAddress(Address):
    """Arguments of modify_user_address."""

    user_id: str
