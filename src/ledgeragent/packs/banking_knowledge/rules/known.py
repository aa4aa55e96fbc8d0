"""The ledger's knowledge of whom the bank has verified, and the reads that would tell more."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from ledgeragent.packs.banking_knowledge.paths import (
    ACCOUNT,
    ALL_ACCOUNTS,
    CARD_ACCOUNT,
    CARDS_OF,
    CLOCK,
    DEBIT_CARD,
    DEBIT_CARDS,
    PORTFOLIO,
    TRANSACTION,
    TRANSACTIONS_OF,
    VERIFY,
)
from ledgeragent.packs.banking_knowledge.records import BankAccount, CardAccount, DebitCard
from ledgeragent.packs.wording import cents
from ledgeragent.paths import Path
from ledgeragent.predicates import MissingEvidence, Private, View
from ledgeragent.types import ToolCall

CHECKING = ("checking", "business_checking")
SAVINGS = ("saving", "savings", "business_saving", "business_savings")
TIERS = {
    "Light Blue Account": "entry",
    "Light Green Account": "entry",
    "Green Fee-Free Account": "entry",
    "Blue Account": "mid",
    "Green Account": "mid",
    "Green Account (checking)": "mid",
    "Evergreen Account": "premium",
    "Bluest Account": "elite",
}
"""The tiers of the personal checking accounts that the knowledge base names."""


def verified(ledger: View) -> tuple[str, ...]:
    """The customers whose identity was logged as verified, in that order."""
    calls = (call for call in ledger.writes if call.name == VERIFY)
    return tuple(dict.fromkeys(str(call.arguments.get("user_id")) for call in calls))


def by_code(ledger: View) -> bool:
    """True if a verification was logged with a code in place of the customer: whose it was is not known."""
    calls = (call for call in ledger.writes if call.name == VERIFY)
    return any(call.arguments.get("user_id") == call.arguments.get("name") for call in calls)


def of_user(tool: str, ledger: View) -> tuple[ToolCall, ...]:
    """A read about each verified customer."""
    return tuple(ToolCall(name=tool, arguments={"user_id": user}) for user in verified(ledger))


def bank_account(account_id: str, ledger: View) -> BankAccount:
    """A bank account; asks for those of the verified customer."""
    account: BankAccount = _record(ACCOUNT(account_id), ledger, *of_user(ALL_ACCOUNTS, ledger))
    return account


def card_account(account_id: str, ledger: View) -> CardAccount:
    """A credit card account; asks for those of the verified customer."""
    reads = of_user("get_credit_card_accounts_by_user", ledger)
    account: CardAccount = _record(CARD_ACCOUNT(account_id), ledger, *reads)
    return account


def debit_card(card_id: str, ledger: View) -> DebitCard:
    """A debit card; asks for the cards of each checking account that was read and not yet asked about.

    Without any it asks for the accounts of the verified customer.
    """
    known_accounts = [
        path[1] for path, account in ledger.glob(ACCOUNT) if account["class"] in CHECKING
    ]
    card = ledger.get(DEBIT_CARD(card_id))
    own = [card["account_id"]] if card is not None else known_accounts
    unread = [one for one in own if card is not None or ledger.entry(DEBIT_CARDS(one)) is None]
    reads = tuple(ToolCall(name=CARDS_OF, arguments={"account_id": one}) for one in unread)
    reads = reads or (() if own else of_user(ALL_ACCOUNTS, ledger))
    record: DebitCard = _record(DEBIT_CARD(card_id), ledger, *reads)
    return record


def transaction(transaction_id: str, account_id: str, ledger: View) -> Mapping[str, Any]:
    """A transaction of an account; asks for all of that account."""
    look = ToolCall(name=TRANSACTIONS_OF, arguments={"account_id": account_id})
    record: Mapping[str, Any] = _record(TRANSACTION(transaction_id), ledger, look)
    return record


def bank_accounts(user_id: str, ledger: View) -> list[BankAccount]:
    """All bank accounts of a customer."""
    return [bank_account(one, ledger) for one in ledger[PORTFOLIO(user_id)]["bank_accounts"]]


class _Asking(Mapping[str, Any]):
    """A record whose unknown fields are asked for by reads that the path does not tell."""

    def __init__(self, record: Mapping[str, Any], reads: tuple[ToolCall, ...]) -> None:
        self._record, self._reads = record, reads

    def __getitem__(self, name: str) -> Any:
        try:
            return self._record[name]
        except MissingEvidence as missing:
            missing.reads = self._reads or missing.reads
            raise

    def __contains__(self, name: object) -> bool:
        return name in self._record

    def get(self, name: str, default: Any = None) -> Any:
        """The field, or `default` where the record has none."""
        if name not in self:
            return default
        return self[name]

    def __iter__(self) -> Any:
        return iter(self._record)

    def __len__(self) -> int:
        return len(self._record)


def _record(path: Path[Any], ledger: View, *reads: ToolCall) -> Any:
    try:
        return _Asking(ledger[path], reads)
    except MissingEvidence as missing:
        missing.reads = reads or missing.reads
        raise


def day(printed: str) -> date:
    """A day that the bank prints as MM/DD/YYYY, with a time or without; ValueError for another form."""
    return datetime.strptime(printed[:10], "%m/%d/%Y").date()


def today(ledger: View) -> date:
    """The day that the clock told; asks for it."""
    return date.fromisoformat(ledger[CLOCK()][:10])


def days_since(printed: str, ledger: View) -> int:
    """How many days ago a printed day was."""
    return (today(ledger) - day(printed)).days


def named(argument: str, id: str) -> Private:
    """An id as the model has to find it among its arguments; a customer is told the id."""
    return Private(f"{argument} {id}", instead=id)


def dollars(amount: float) -> str:
    """A sum of money in words."""
    return f"${cents(amount)}"
