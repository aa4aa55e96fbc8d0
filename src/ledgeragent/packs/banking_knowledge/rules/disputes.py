"""Rules on disputes of purchases with debit and credit cards."""

from __future__ import annotations

from ledgeragent.packs.banking_knowledge import paths
from ledgeragent.packs.banking_knowledge.arguments import CardDispute, DebitDispute, UpdateRewards
from ledgeragent.packs.banking_knowledge.paths import CUSTOMER, PURCHASE
from ledgeragent.packs.banking_knowledge.rules.known import (
    bank_account,
    days_since,
    debit_card,
    dollars,
    named,
    transaction,
)
from ledgeragent.packs.wording import argument as in_words
from ledgeragent.predicates import Broken, View, predicate, violation

_MOST_DAYS = 60
_ACTIONS = {
    "card_present_fraud": "close_and_reissue",
    "card_not_present_fraud": "close_and_reissue",
    "unauthorized_transaction": "freeze_pending_investigation",
    "atm_cash_discrepancy": "keep_active",
    "atm_deposit_not_credited": "keep_active",
    "duplicate_charge": "keep_active",
    "incorrect_amount": "keep_active",
    "goods_services_not_received": "keep_active",
    "recurring_charge_after_cancellation": "keep_active",
}
_CONTACT = {"full_name": "name", "phone": "phone_number", "email": "email", "address": "address"}


@predicate("banking_knowledge/dispute-transaction", guards=paths.DEBIT_DISPUTE)
def dispute_transaction(call: DebitDispute, ledger: View) -> Broken | None:
    """The disputed transaction is one of the account, of that day, and of $1 or more."""
    entry = transaction(call["transaction_id"], call["account_id"], ledger)
    if entry["account_id"] != call["account_id"]:
        return violation(
            "{transaction} is none of account {account}; name one that its activity lists",
            transaction=named("transaction_id", call["transaction_id"]),
            account=call["account_id"],
        )
    if entry["date"][:10] != call["transaction_date"][:10]:
        return violation(
            "transaction {id} was on {date}, not on {given}",
            id=call["transaction_id"],
            date=entry["date"],
            given=named("transaction_date", call["transaction_date"]),
        )
    if abs(entry["amount"]) < 1 or call["disputed_amount"] <= 0:
        return violation(
            "less than $1 is not disputed: transaction {id} is {amount}, and {part} of it is meant",
            id=call["transaction_id"],
            amount=dollars(abs(entry["amount"])),
            part=named("disputed_amount", dollars(call["disputed_amount"])),
        )
    return None


@predicate("banking_knowledge/dispute-age", guards=paths.DEBIT_DISPUTE)
def dispute_age(call: DebitDispute, ledger: View) -> Broken | None:
    """A transaction is disputed within 60 days."""
    entry = transaction(call["transaction_id"], call["account_id"], ledger)
    days = days_since(entry["date"], ledger)
    if days <= _MOST_DAYS:
        return None
    return violation(
        "transaction {id} is {days} days old, and {most} is the most",
        id=call["transaction_id"],
        days=days,
        most=_MOST_DAYS,
    )


@predicate("banking_knowledge/dispute-account", guards=paths.DEBIT_DISPUTE)
def dispute_account(call: DebitDispute, ledger: View) -> Broken | None:
    """The debit card of a dispute is one of the account, which is open."""
    if debit_card(call["card_id"], ledger)["account_id"] != call["account_id"]:
        return violation(
            "{card} is none of account {account}; name the card that the purchase was made with",
            card=named("card_id", call["card_id"]),
            account=call["account_id"],
        )
    status = bank_account(call["account_id"], ledger)["status"]
    if status == "OPEN":
        return None
    return violation(
        "{account} is {status}; disputes are filed for accounts that are OPEN",
        account=named("account_id", call["account_id"]),
        status=status,
    )


@predicate("banking_knowledge/dispute-action", guards=paths.DEBIT_DISPUTE)
def dispute_action(call: DebitDispute, ledger: View) -> Broken | None:
    """What is done with the card follows from the category of the dispute."""
    category = call["dispute_category"]
    if category not in _ACTIONS:
        return violation(
            "{argument} must be {categories}",
            argument=in_words("dispute_category"),
            categories=list(_ACTIONS),
        )
    if call["card_action"] == _ACTIONS[category]:
        return None
    return violation(
        "{argument} for {category} is {action}, not {given}",
        argument=in_words("card_action"),
        category=category,
        action=_ACTIONS[category],
        given=call["card_action"],
    )


@predicate("banking_knowledge/dispute-purchase", guards=paths.CARD_DISPUTE)
def dispute_purchase(call: CardDispute, ledger: View) -> Broken | None:
    """A purchase is disputed with the day on which it was made, and a part of it by its amount."""
    purchase = ledger[PURCHASE(call["transaction_id"])]
    if purchase["transaction_date"] != call["purchase_date"]:
        return violation(
            "the purchase was on {date}, not on {given}",
            date=purchase["transaction_date"],
            given=named("purchase_date", call["purchase_date"]),
        )
    part = call.get("partial_refund_amount")
    if call["resolution_requested"] != "partial_refund":
        return None
    if part is not None and 0 < part <= purchase["transaction_amount"]:
        return None
    return violation(
        "{argument} must be more than nothing, and up to {amount}",
        argument=in_words("partial_refund_amount"),
        amount=dollars(purchase["transaction_amount"]),
    )


@predicate("banking_knowledge/dispute-contact", guards=paths.CARD_DISPUTE)
def dispute_contact(call: CardDispute, ledger: View) -> Broken | None:
    """Name and address of a dispute are those that the bank has of the customer."""
    profile = ledger[CUSTOMER(call["user_id"])]
    for argument, field in _CONTACT.items():
        if profile[field] != call[argument]:  # type: ignore[literal-required]
            return violation(
                "{argument} is {right} in the profile, not {given}",
                argument=in_words(argument),
                right=profile[field],  # type: ignore[literal-required]
                given=call[argument],  # type: ignore[literal-required]
            )
    return None


@predicate("banking_knowledge/rewards-form", guards=paths.REWARDS)
def rewards_form(call: UpdateRewards, ledger: View) -> Broken | None:
    """Rewards are written as a whole number of points."""
    number, _, unit = call["new_rewards_earned"].partition(" ")
    if unit == "points" and number.isascii() and number.isdigit():
        return None
    return violation(
        '{argument} has to be written "6300 points", not {given}',
        argument=in_words("new_rewards_earned"),
        given=f'"{call["new_rewards_earned"]}"',
    )
