"""The records of the telecom environment, and the arguments of its write tools."""

from __future__ import annotations

from typing import Literal, TypeAlias, TypedDict

AccountStatus: TypeAlias = Literal["Active", "Suspended", "Pending Verification", "Closed"]
LineStatus: TypeAlias = Literal["Active", "Suspended", "Pending Activation", "Closed"]
BillStatus: TypeAlias = Literal[
    "Draft", "Issued", "Awaiting Payment", "Paid", "Overdue", "Disputed"
]
DeviceType: TypeAlias = Literal["phone", "router", "tablet", "watch", "other"]
PaymentMethodType: TypeAlias = Literal["Credit Card", "Debit Card", "PayPal"]


class Address(TypedDict):
    """A billing address."""

    street: str
    city: str
    state: str
    zip_code: str


class PaymentMethod(TypedDict):
    """A way to pay that the customer has on file; `expiration_date` is MM/YYYY."""

    method_type: PaymentMethodType
    account_number_last_4: str
    expiration_date: str


class Customer(TypedDict):
    """A customer. `line_ids` and `bill_ids` are all they own. Dates are YYYY-MM-DD."""

    customer_id: str
    full_name: str
    date_of_birth: str
    email: str
    phone_number: str
    address: Address
    account_status: AccountStatus
    payment_methods: list[PaymentMethod]
    line_ids: list[str]
    bill_ids: list[str]
    created_at: str
    last_extension_date: str | None
    goodwill_credit_used_this_year: float


class Line(TypedDict):
    """A phone line. Dates are YYYY-MM-DD, None where there is none."""

    line_id: str
    phone_number: str
    status: LineStatus
    plan_id: str
    device_id: str | None
    data_used_gb: float
    data_refueling_gb: float
    roaming_enabled: bool
    contract_end_date: str | None
    last_plan_change_date: str | None
    last_sim_replacement_date: str | None
    suspension_start_date: str | None


class LineItem(TypedDict):
    """One charge or credit on a bill, in USD."""

    description: str
    amount: float
    date: str
    item_type: str


class Bill(TypedDict):
    """A bill, in USD."""

    bill_id: str
    customer_id: str
    period_start: str
    period_end: str
    issue_date: str
    total_due: float
    due_date: str
    line_items: list[LineItem]
    status: BillStatus


class Device(TypedDict):
    """A device that a line is used with."""

    device_id: str
    device_type: DeviceType
    model: str
    imei: str | None
    is_esim_capable: bool
    activated: bool
    activation_date: str | None
    last_esim_transfer_date: str | None


class Plan(TypedDict):
    """A plan; prices in USD."""

    plan_id: str
    name: str
    data_limit_gb: float
    price_per_month: float
    data_refueling_price_per_gb: float


class Usage(TypedDict):
    """A line's data in the current cycle. The benchmark's tool writes the numbers as text ("8.7")."""

    line_id: str
    data_used_gb: str | float
    data_limit_gb: str | float
    data_refueling_gb: str | float
    cycle_end_date: str


class CustomerCall(TypedDict):
    """The arguments that every write has in common."""

    customer_id: str


class LineCall(CustomerCall):
    """The arguments of `resume_line`, `enable_roaming` and `disable_roaming`."""

    line_id: str


class Suspension(LineCall):
    """The arguments of `suspend_line`."""

    reason: str


class Refuel(LineCall):
    """The arguments of `refuel_data`."""

    gb_amount: float


class PaymentRequest(CustomerCall):
    """The arguments of `send_payment_request`."""

    bill_id: str


class Handover(TypedDict):
    """The arguments of `transfer_to_human_agents`."""

    summary: str
