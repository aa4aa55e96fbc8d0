"""Rules on money: between accounts, to pay what is owed, and credits."""

from __future__ import annotations

from ledgeragent.packs.banking_knowledge import paths
from ledgeragent.packs.banking_knowledge.arguments import (
    Credit,
    InterestReport,
    PayCard,
    TransferFunds,
)
from ledgeragent.packs.banking_knowledge.rules.known import (
    CHECKING,
    SAVINGS,
    bank_account,
    card_account,
    dollars,
    named,
)
from ledgeragent.predicates import Broken, Private, View, predicate, violation

_BUSY = ("OPEN", "ACTIVE")


@predicate("banking_knowledge/transfer-accounts", guards=paths.TRANSFER)
def transfer_accounts(call: TransferFunds, ledger: View) -> Broken | None:
    """Money moves between two open accounts."""
    if call["source_account_id"] == call["destination_account_id"]:
        return violation(
            "money moves between two different accounts, and both are {id}{arguments}",
            id=call["source_account_id"],
            arguments=Private("; mend source_account_id or destination_account_id", ""),
        )
    ids = {name: call[name] for name in ("source_account_id", "destination_account_id")}
    for argument, account_id in ids.items():
        status = bank_account(account_id, ledger)["status"]
        if status not in _BUSY:
            return violation(
                "{account} is {status}; money moves between open accounts",
                account=named(argument, account_id),
                status=status,
            )
    return None


@predicate("banking_knowledge/transfer-covered", guards=paths.TRANSFER)
def transfer_covered(call: TransferFunds, ledger: View) -> Broken | None:
    """What moves is more than nothing, and the source account has it."""
    holds = bank_account(call["source_account_id"], ledger)["current_holdings"]
    if call["amount"] <= 0:
        return violation(
            "{amount} cannot be moved; it has to be more than nothing",
            amount=named("amount", dollars(call["amount"])),
        )
    if call["amount"] <= holds:
        return None
    return violation(
        "{amount} cannot be moved: account {id} holds {holds}",
        amount=named("amount", dollars(call["amount"])),
        id=call["source_account_id"],
        holds=dollars(holds),
    )


@predicate("banking_knowledge/payment-covered", guards=paths.PAY_CARD)
def payment_covered(call: PayCard, ledger: View) -> Broken | None:
    """A payment is more than nothing, at most what is owed, and the checking account has it."""
    owed = card_account(call["credit_card_account_id"], ledger)["current_balance"]
    holds = bank_account(call["checking_account_id"], ledger)["current_holdings"]
    if 0 < call["amount"] <= min(owed, holds):
        return None
    return violation(
        "{amount} cannot be paid: {owed} is owed, the checking account holds {holds}, and a "
        "payment is more than nothing",
        amount=named("amount", dollars(call["amount"])),
        owed=dollars(owed),
        holds=dollars(holds),
    )


@predicate("banking_knowledge/credit-account", guards=(paths.CREDIT_CHECKING, paths.CREDIT_SAVINGS))
def credit_account(call: Credit, ledger: View) -> Broken | None:
    """A credit for checking accounts goes to one, a credit for savings accounts to one of those."""
    kind = bank_account(call["account_id"], ledger)["class"]
    credit_types = {
        "rebate_credit": CHECKING,
        "interest_correction": SAVINGS,
        "goodwill_credit": SAVINGS,
        "fee_refund": (*CHECKING, *SAVINGS),
    }
    if kind in credit_types.get(call["credit_type"], ()):
        return None
    fitting = [name for name, kinds in credit_types.items() if kind in kinds]
    return violation(
        "{type} is no credit for {id}, a {kind} account{fitting}",
        type=named("credit_type", call["credit_type"]),
        id=call["account_id"],
        kind=kind,
        fitting=Private(f"; of these, {' or '.join(fitting)} is" if fitting else "", ""),
    )


@predicate("banking_knowledge/credit-once", guards=paths.CREDIT_CHECKING)
def credit_once(call: Credit, ledger: View) -> Broken | None:
    """A checking account gets one credit in a conversation, of more than nothing."""
    if call["amount"] <= 0:
        return violation(
            "{amount} is no credit; it has to be more than nothing",
            amount=named("amount", dollars(call["amount"])),
        )
    for write in ledger.writes:
        if (
            write.name == paths.CREDIT_CHECKING
            and write.arguments.get("account_id") == call["account_id"]
        ):
            return violation(
                "account {id} has had a credit in this conversation already, and gets one at most",
                id=call["account_id"],
            )
    return None


@predicate("banking_knowledge/report-after-credit", guards=paths.REPORT)
def report_after_credit(call: InterestReport, ledger: View) -> Broken | None:
    """An interest discrepancy is reported once the account has had its credit."""
    for write in ledger.writes:
        if (
            write.name == paths.CREDIT_SAVINGS
            and write.arguments.get("account_id") == call["account_id"]
        ):
            return None
    return violation(
        "account {id} has had no credit yet; {credit} comes first",
        id=call["account_id"],
        credit=Private(paths.CREDIT_SAVINGS, instead="the credit"),
    )
