"""Where each read of the bank lands in the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ledgeragent.effects import Parser, Read, structured, text
from ledgeragent.packs.banking_knowledge import texts
from ledgeragent.packs.banking_knowledge.paths import (
    ACCOUNT,
    ACTIVITY,
    ALL_ACCOUNTS,
    CARD_ACCOUNT,
    CARD_DISPUTES,
    CARDS_OF,
    CLOCK,
    CLOSURE_REASONS,
    CUSTOMER,
    DEBIT_CARD,
    DEBIT_CARDS,
    DEBIT_DISPUTES,
    DEPOSIT_IMAGES,
    KNOWLEDGE,
    LIMIT_REQUESTS,
    MATCHES,
    ORDERS,
    PAYMENTS,
    PORTFOLIO,
    PURCHASE,
    REFERRALS,
    TRANSACTION,
    TRANSACTIONS_OF,
)
from ledgeragent.paths import PathTemplate
from ledgeragent.types import Arguments, Json

_CARD_ACCOUNTS = "get_credit_card_accounts_by_user"
_USER = ("user_id",)


def _items(value: Json, arguments: Arguments) -> Iterable[Json]:
    return (item for item in value) if isinstance(value, list) else ()


def _of(kind: str) -> Callable[[Json, Arguments], Iterable[Json]]:
    """The accounts of one kind in the answer about all of them."""
    return lambda value, arguments: (item for item in value[kind])


def _which(value: Json, arguments: Arguments) -> Iterable[Json]:
    """Which accounts a customer has, where the answer is about all of them."""
    if value["whole"]:
        yield {
            "user_id": arguments["user_id"],
            "bank_accounts": [row["account_id"] for row in value["bank"]],
            "card_accounts": [row["account_id"] for row in value["cards"]],
        }


def _cards(value: Json, arguments: Arguments) -> Iterable[Json]:
    cards = [card["card_id"] for card in _items(value, arguments)]
    yield {"account_id": arguments["account_id"], "card_ids": cards}


def _debit_cards(content: str) -> Json:
    """The debit cards of an account; an account without any is told so in words."""
    return [] if content.strip().startswith("No debit cards") else structured(content)


def _activity(value: Json, arguments: Arguments) -> Iterable[Json]:
    yield {
        "account_id": arguments["account_id"],
        "transaction_ids": [row["transaction_id"] for row in value],
        "pending": [row["transaction_id"] for row in value if row["status"] == "pending"],
    }


def _lookup(tool: str, parameter: str) -> Read[Any]:
    return Read(
        tool=tool,
        to=CUSTOMER,
        parameters=(parameter,),
        parse=texts.customers,
        records=_items,
        failed=texts.nobody,
    )


def _of_user(tool: str, to: PathTemplate[Any], parse: Parser, kind: str) -> Read[Any]:
    return Read(tool=tool, to=to, parameters=_USER, parse=parse, records=_of(kind), merge=True)


def _rows(tool: str, to: PathTemplate[Any], parameter: str) -> Read[Any]:
    return Read(tool=tool, to=to, parameters=(parameter,), parse=texts.any_rows)


def _words(tool: str, to: PathTemplate[Any], *parameters: str) -> Read[Any]:
    return Read(tool=tool, to=to, parameters=parameters, parse=text)


READS: tuple[Read[Any], ...] = (
    Read(tool="get_current_time", to=CLOCK, parse=texts.clock),
    _words("KB_search", KNOWLEDGE, "query"),
    _words("grep", MATCHES, "pattern"),
    _lookup("get_user_information_by_id", "user_id"),
    _lookup("get_user_information_by_name", "customer_name"),
    _lookup("get_user_information_by_email", "email"),
    _of_user(_CARD_ACCOUNTS, CARD_ACCOUNT, texts.accounts, "cards"),
    _of_user(ALL_ACCOUNTS, CARD_ACCOUNT, texts.accounts, "cards"),
    _of_user(ALL_ACCOUNTS, ACCOUNT, texts.accounts, "bank"),
    Read(tool=ALL_ACCOUNTS, to=PORTFOLIO, parameters=_USER, parse=texts.accounts, records=_which),
    Read(
        tool=CARDS_OF,
        to=DEBIT_CARD,
        parameters=("account_id",),
        parse=_debit_cards,
        records=_items,
        merge=True,
    ),
    Read(
        tool=CARDS_OF,
        to=DEBIT_CARDS,
        parameters=("account_id",),
        parse=_debit_cards,
        records=_cards,
    ),
    Read(
        tool=TRANSACTIONS_OF,
        to=TRANSACTION,
        parameters=("account_id",),
        parse=texts.bank_transactions,
        records=_items,
    ),
    Read(
        tool=TRANSACTIONS_OF,
        to=ACTIVITY,
        parameters=("account_id",),
        parse=texts.bank_transactions,
        records=_activity,
    ),
    Read(
        tool="get_credit_card_transactions_by_user",
        to=PURCHASE,
        parameters=_USER,
        parse=texts.purchases,
        records=_items,
    ),
    _rows("get_referrals_by_user", REFERRALS, "user_id"),
    _rows("get_user_dispute_history_7291", CARD_DISPUTES, "user_id"),
    _rows("get_debit_dispute_status_7483", DEBIT_DISPUTES, "user_id"),
    _rows("get_pending_replacement_orders_5765", ORDERS, "credit_card_account_id"),
    _rows("get_credit_limit_increase_history_4829", LIMIT_REQUESTS, "credit_card_account_id"),
    _rows("get_closure_reason_history_8293", CLOSURE_REASONS, "credit_card_account_id"),
    _words("get_payment_history_6183", PAYMENTS, "credit_card_account_id", "months"),
    _words("get_atm_deposit_images_8473", DEPOSIT_IMAGES, "transaction_id"),
)
"""Every read, by its route."""
