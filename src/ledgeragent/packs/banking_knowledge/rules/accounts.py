"""Rules on checking and savings accounts: opening and closing."""

from __future__ import annotations

from collections.abc import Callable

from ledgeragent.packs.banking_knowledge import paths
from ledgeragent.packs.banking_knowledge.arguments import (
    OfAccount,
    OpenAccount,
)
from ledgeragent.packs.banking_knowledge.paths import ACTIVITY, CUSTOMER
from ledgeragent.packs.banking_knowledge.records import BankAccount
from ledgeragent.packs.banking_knowledge.rules.known import (
    bank_account,
    bank_accounts,
    day,
    days_since,
    dollars,
    named,
    today,
)
from ledgeragent.packs.wording import argument as in_words
from ledgeragent.predicates import Broken, View, predicate, violation
from ledgeragent.verdict import Decision

_BUSY = ("OPEN", "ACTIVE")
_YEARS = 18
_MOST = {"checking": 4, "savings": 5, "business_checking": 6, "business_savings": 4}
_KINDS = {
    "checking": ("checking",),
    "savings": ("saving", "savings"),
    "business_checking": ("business_checking",),
    "business_savings": ("business_saving", "business_savings"),
}
_FEES = {
    "Light Blue Account": (15, 30),
    "Light Green Account": (15, 30),
    "Green Fee-Free Account": (15, 30),
    "Blue Account": (25, 60),
    "Green Account": (25, 60),
    "Green Account (checking)": (25, 60),
    "Evergreen Account": (50, 90),
    "Bluest Account": (100, 180),
    "Bronze Account": (20, 60),
    "Silver Account": (35, 90),
    "Silver Plus Account": (35, 90),
    "Gold Account": (75, 180),
    "Gold Plus Account": (75, 180),
    "Gold Years Account": (75, 180),
    "Platinum Account": (150, 270),
    "Platinum Plus Account": (150, 270),
    "Diamond Elite Account": (150, 270),
    "Navy Blue": (50, 60),
    "True Blue": (100, 90),
    "Sky Blue": (100, 90),
    "Cobalt Blue": (200, 180),
    "Bronze Saver Account": (75, 90),
    "Silver Saver Account": (125, 120),
    "Gold Saver Account": (250, 180),
    "Platinum Reserve Account": (500, 270),
}
"""What closing an account costs, in dollars, and within how many days of its opening."""


@predicate("banking_knowledge/open-most", guards=paths.OPEN)
def open_most(call: OpenAccount, ledger: View) -> Broken | None:
    """A customer has at most so many open accounts of a kind."""
    kind = call["account_type"]
    if kind not in _MOST:
        return violation(
            "{argument} must be {kinds}, not {kind}",
            argument=in_words("account_type"),
            kinds=list(_MOST),
            kind=kind,
        )
    own = _open(call["user_id"], _KINDS[kind], ledger)
    if len(own) < _MOST[kind]:
        return None
    return violation(
        "the customer has {count} open {kind} accounts, and {most} is the most",
        count=len(own),
        kind=kind,
        most=_MOST[kind],
    )


def _open(user_id: str, kinds: tuple[str, ...], ledger: View) -> list[BankAccount]:
    own = [account for account in bank_accounts(user_id, ledger) if account["class"] in kinds]
    return [account for account in own if account["status"] in _BUSY]


@predicate("banking_knowledge/open-basis", guards=paths.OPEN)
def open_basis(call: OpenAccount, ledger: View) -> Broken | None:
    """An account that builds on another needs one that is open, old enough and not too empty."""
    user = call["user_id"]
    match call["account_type"]:
        case "savings":
            return _based(user, "checking", lambda one: _days(one, ledger) >= 14, "14 days", ledger)
        case "business_checking":
            return _based(user, "checking", lambda one: _holds(one, 500), "$500", ledger)
        case "business_savings":
            return _based(
                user,
                "business_checking",
                lambda one: _days(one, ledger) >= 30 and _holds(one, 2500),
                "30 days and $2500",
                ledger,
            )
    return None


def _based(
    user: str, kind: str, fits: Callable[[BankAccount], bool], needs: str, ledger: View
) -> Broken | None:
    own = _open(user, _KINDS[kind], ledger)
    if any(fits(account) for account in own):
        return None
    return violation(
        "no open {kind} account of the customer is enough for this: one with {needs} is needed",
        kind=kind,
        needs=needs,
    )


def _days(account: BankAccount, ledger: View) -> int:
    return days_since(account["date_opened"], ledger)


def _holds(account: BankAccount, amount: float) -> bool:
    return account["current_holdings"] >= amount


@predicate("banking_knowledge/open-standing", guards=paths.OPEN)
def open_standing(call: OpenAccount, ledger: View) -> Broken | None:
    """No savings account is opened beside a negative balance, no business account beside a closed one."""
    for account in bank_accounts(call["user_id"], ledger):
        if "savings" in call["account_type"] and account["current_holdings"] < 0:
            return violation(
                "account {id} is overdrawn; a savings account is opened once it is not",
                id=account["account_id"],
            )
        if call["account_type"] == "business_checking" and account["status"] == "CLOSED":
            return violation(
                "account {id} was closed; no business checking account is opened beside a closed one",
                id=account["account_id"],
            )
    return None


@predicate(
    "banking_knowledge/open-age", guards=(paths.OPEN, paths.ORDER_CARD), decision=Decision.BLOCK
)
def open_age(call: OpenAccount, ledger: View) -> Broken | None:
    """Checking accounts and debit cards are for people of 18 and older."""
    if call.get("account_type", "checking") != "checking":
        return None
    born = day(ledger[CUSTOMER(call["user_id"])]["date_of_birth"])
    now = today(ledger)
    years = now.year - born.year - ((now.month, now.day) < (born.month, born.day))
    if years >= _YEARS:
        return None
    return violation(
        "the customer is {years} years old, and has to be {least} for this",
        years=years,
        least=_YEARS,
    )


@predicate("banking_knowledge/close-status", guards=paths.CLOSE)
def close_status(call: OfAccount, ledger: View) -> Broken | None:
    """Only an open account is closed."""
    status = bank_account(call["account_id"], ledger)["status"]
    if status == "OPEN":
        return None
    return violation(
        "{account} is {status}; only an account that is OPEN can be closed",
        account=named("account_id", call["account_id"]),
        status=status,
    )


@predicate("banking_knowledge/close-balance", guards=paths.CLOSE)
def close_balance(call: OfAccount, ledger: View) -> Broken | None:
    """An account that is closed is empty, or holds the fee for closing it early.

    Where the account's name has no fee that is known, this says nothing.
    """
    account = bank_account(call["account_id"], ledger)
    if account["level"] not in _FEES:
        return None
    fee, days = _FEES[account["level"]]
    holds = account["current_holdings"]
    if holds == 0 and _days(account, ledger) > days:
        return None
    if _days(account, ledger) <= days:
        if holds >= fee:
            return None
        return violation(
            "account {id} was opened within {days} days, so that closing it costs {fee}, and it "
            "holds {holds}",
            id=call["account_id"],
            days=days,
            fee=dollars(fee),
            holds=dollars(holds),
        )
    return violation(
        "account {id} holds {holds}; move that away first",
        id=call["account_id"],
        holds=dollars(holds),
    )


@predicate("banking_knowledge/close-pending", guards=paths.CLOSE)
def close_pending(call: OfAccount, ledger: View) -> Broken | None:
    """An account with pending transactions stays open."""
    pending = ledger[ACTIVITY(call["account_id"])]["pending"]
    if not pending:
        return None
    return violation(
        "account {id} has pending transactions: {pending}; it can be closed once they are done",
        id=call["account_id"],
        pending=pending,
    )


@predicate("banking_knowledge/close-linked", guards=paths.CLOSE)
def close_linked(call: OfAccount, ledger: View) -> Broken | None:
    """The last open business checking account is closed after the business savings accounts."""
    account = bank_account(call["account_id"], ledger)
    if account["class"] != "business_checking":
        return None
    savings = _open(account["user_id"], _KINDS["business_savings"], ledger)
    if not savings:
        return None
    return violation(
        "business savings account {savings} is open; close it first",
        savings=savings[0]["account_id"],
    )
