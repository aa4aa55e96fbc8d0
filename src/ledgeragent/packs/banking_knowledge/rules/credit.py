"""Rules on credit card accounts: closing, limits, replacements and credits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ledgeragent.packs.banking_knowledge import paths
from ledgeragent.packs.banking_knowledge.arguments import (
    ApproveLimit,
    Flag,
    OfCardAccount,
    StatementCredit,
)
from ledgeragent.packs.banking_knowledge.paths import CARD_DISPUTES, LIMIT_REQUESTS, ORDERS
from ledgeragent.packs.banking_knowledge.rules.known import (
    card_account,
    day,
    days_since,
    dollars,
    named,
    today,
)
from ledgeragent.packs.wording import argument as in_words
from ledgeragent.predicates import Broken, Private, View, predicate, violation

_FINAL_ORDERS = ("DELIVERED", "CANCELLED", "ACTIVATED")
_FINAL_DISPUTES = ("RESOLVED", "CLOSED", "DENIED", "APPROVED", "REJECTED")
_LEAST_AGE = 60


@predicate("banking_knowledge/closure-balance", guards=paths.CLOSE_CREDIT)
def closure_balance(call: OfCardAccount, ledger: View) -> Broken | None:
    """A credit card account that is closed owes nothing, and is 60 days old."""
    account = card_account(call["credit_card_account_id"], ledger)
    if account["current_balance"] != 0:
        return violation(
            "{owed} is owed on {id}; it has to be paid first",
            owed=dollars(account["current_balance"]),
            id=call["credit_card_account_id"],
        )
    days = days_since(account["date_of_account_open"], ledger)
    if days >= _LEAST_AGE:
        return None
    return violation(
        "account {id} was opened {days} days ago, and is closed after {least} at the earliest",
        id=call["credit_card_account_id"],
        days=days,
        least=_LEAST_AGE,
    )


@predicate("banking_knowledge/closure-disputes", guards=(paths.CLOSE_CREDIT, paths.APPROVE_LIMIT))
def closure_disputes(call: OfCardAccount, ledger: View) -> Broken | None:
    """No account is closed, and no limit raised, while a dispute of the customer is undecided."""
    for row in ledger[CARD_DISPUTES(call["user_id"])]["rows"]:
        if not row.get("status", "").startswith(_FINAL_DISPUTES):
            return violation(
                "dispute {id} is {status}; this can be done once it is decided",
                id=row.get("dispute_id", ""),
                status=row.get("status", ""),
            )
    return None


@predicate(
    "banking_knowledge/closure-orders",
    guards=(paths.CLOSE_CREDIT, paths.APPROVE_LIMIT, paths.REPLACE_CREDIT),
)
def closure_orders(call: OfCardAccount, ledger: View) -> Broken | None:
    """No account is closed, raised, or sent another card while a new card is on its way."""
    for row in ledger[ORDERS(call["credit_card_account_id"])]["rows"]:
        if row.get("status", "") not in _FINAL_ORDERS:
            return violation(
                "replacement order {id} is {status}; this can be done once the card has come",
                id=row.get("order_id", ""),
                status=row.get("status", ""),
            )
    return None


@predicate("banking_knowledge/limit-request", guards=(paths.APPROVE_LIMIT, paths.DENY_LIMIT))
def limit_request(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """A limit is raised, or refused, after the request was written down."""
    rows = ledger[LIMIT_REQUESTS(call["credit_card_account_id"])]["rows"]
    if any(row.get("status") == "PENDING" for row in rows):
        return None
    return violation(
        "no request for {id} is pending; {submit} comes first",
        id=call["credit_card_account_id"],
        submit=Private(paths.REQUEST_LIMIT, instead="the request"),
    )


@predicate("banking_knowledge/limit-amount", guards=paths.APPROVE_LIMIT)
def limit_amount(call: ApproveLimit, ledger: View) -> Broken | None:
    """The new limit is the old one and what was asked for, half as much more at most.

    Where the account's limit was not told, this says nothing.
    """
    account = card_account(call["credit_card_account_id"], ledger)
    limit = account.get("credit_limit")
    if limit is None or limit < call["new_credit_limit"] <= 1.5 * limit:
        return None
    return violation(
        "{new} is no limit for this account: it has to be more than the {old} of now, and {most} "
        "at most",
        new=named("new_credit_limit", dollars(call["new_credit_limit"])),
        old=dollars(limit),
        most=dollars(1.5 * limit),
    )


@predicate("banking_knowledge/credit-positive", guards=paths.STATEMENT_CREDIT)
def credit_positive(call: StatementCredit, ledger: View) -> Broken | None:
    """A statement credit is more than nothing."""
    if call["amount"] > 0:
        return None
    return violation(
        "{amount} is no credit; it has to be more than nothing",
        amount=named("amount", dollars(call["amount"])),
    )


@predicate("banking_knowledge/waiver-year", guards=paths.FLAG)
def waiver_year(call: Flag, ledger: View) -> Broken | None:
    """A waived annual fee is waived for a year from today."""
    if call["flag_type"] != "annual_fee_waived":
        return None
    now = today(ledger)
    end = day(call["expiration_date"])
    if (end.year, end.month, end.day) == (now.year + 1, now.month, now.day):
        return None
    return violation(
        "{argument} has to be a year from {today}, not {given}",
        argument=in_words("expiration_date"),
        today=now.strftime("%m/%d/%Y"),
        given=call["expiration_date"],
    )
