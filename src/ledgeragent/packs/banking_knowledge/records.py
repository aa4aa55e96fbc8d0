"""The bank's records as the parsers of `texts` make them.

Sums of money are floats, days are the tools' text MM/DD/YYYY, everything else is as printed.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict


class Customer(TypedDict):
    """A customer's profile."""

    user_id: str
    name: str
    address: str
    email: str
    phone_number: str
    date_of_birth: str


BankAccount = TypedDict(
    "BankAccount",
    {
        "account_id": str,
        "user_id": str,
        "class": str,
        "level": str,
        "date_opened": str,
        "status": str,
        "current_holdings": float,
    },
)
"""A checking or savings account. `class` is its kind, such as saving, `level` its name."""


class CardAccount(TypedDict):
    """A credit card account. Some have a status, a limit and an amount past due."""

    account_id: str
    user_id: str
    card_type: str
    date_of_account_open: str
    current_balance: float
    status: NotRequired[str]
    credit_limit: NotRequired[float]
    past_due_amount: NotRequired[float]


class Portfolio(TypedDict):
    """Which accounts a customer has."""

    user_id: str
    bank_accounts: list[str]
    card_accounts: list[str]


class DebitCard(TypedDict):
    """A debit card."""

    card_id: str
    account_id: str
    user_id: str
    status: str
    issue_reason: str
    expiration_date: str
    date_issued: str
    card_number_last_4: str
    cvv: NotRequired[str]
    daily_atm_limit: NotRequired[float]
    daily_purchase_limit: NotRequired[float]
    recurring_blocked: NotRequired[str]


class CardList(TypedDict):
    """Which debit cards a checking account has."""

    account_id: str
    card_ids: list[str]


class BankTransaction(TypedDict):
    """A transaction of a bank account; money out is negative."""

    transaction_id: str
    account_id: str
    date: str
    description: str
    amount: float
    type: str
    status: str


class Activity(TypedDict):
    """Which transactions an account has, and which of them are pending."""

    account_id: str
    transaction_ids: list[str]
    pending: list[str]


class CardTransaction(TypedDict):
    """A purchase with a credit card."""

    transaction_id: str
    user_id: str
    credit_card_type: str
    transaction_amount: float
    transaction_date: str
    status: str
    rewards_earned: NotRequired[str]


class Rows(TypedDict):
    """Rows of a table of which rules look at some fields, each as printed."""

    rows: list[dict[str, str]]
