"""The bank of SOPBench."""

from __future__ import annotations

from typing import Any, TypedDict

from benchmarks.oracle.answers import each, flag, neutral, read, write
from benchmarks.oracle.pack import Pack
from benchmarks.oracle.rules import (
    AUTHENTICATE,
    LOGIN,
    LOGOUT,
    USER,
    Rules,
    authenticated_admin_password,
    exists,
    logged_in_user,
)
from ledgeragent import Domain, PathTemplate, violation
from ledgeragent.effects import touch
from ledgeragent.predicates import Broken, View


class Card(TypedDict):
    """A credit card."""

    card_number: str
    credit_limit: float
    credit_balance: float


SCORE = PathTemplate("credit_scores.{username}", float)
BALANCE = PathTemplate("balances.{username}", float)
OWED = PathTemplate("owed_balances.{username}", float)
CARD = PathTemplate("cards.{username}.{card_number}", Card)
CARDS = PathTemplate("card_lists.{username}", list[Card])
CURRENCY = PathTemplate("currencies.{foreign_currency_type}", bool)

OPEN, CLOSE = "open_account", "close_account"
SET_PASSWORD, SET_INFORMATION = "set_admin_password", "set_account_information"
SET_BOX, DEPOSIT, EXCHANGE = "set_safety_box", "deposit_funds", "exchange_foreign_currency"
TRANSFER, PAY_BILL, PAY_BY_CARD = "transfer_funds", "pay_bill", "pay_bill_with_credit_card"
APPLY_CARD, CANCEL_CARD = "apply_credit_card", "cancel_credit_card"
GET_LOAN, PAY_LOAN = "get_loan", "pay_loan"
OF_USERS = (
    *(LOGOUT, TRANSFER, DEPOSIT, PAY_BILL, PAY_BY_CARD, APPLY_CARD, CANCEL_CARD),
    *(GET_LOAN, PAY_LOAN, SET_BOX),
)

SECRET = ("get_credit_cards", "get_safety_box")

rule = Rules("bank")
rule(AUTHENTICATE, SET_INFORMATION, CLOSE, *OF_USERS[1:])(logged_in_user)
rule(SET_PASSWORD, SET_INFORMATION, CLOSE, TRANSFER, CANCEL_CARD, SET_BOX)(
    authenticated_admin_password
)
look = Rules("bank")
look("get_account_balance", "get_account_owed_balance", "get_credit_card_info", *SECRET)(
    logged_in_user
)
look(*SECRET)(authenticated_admin_password)

_RECORDS = (SCORE, BALANCE, OWED)


@rule(*OF_USERS)
def internal_check_username_exist(call: Any, ledger: View) -> Broken | None:
    """The user has an account."""
    return exists(call["username"], ledger, *_RECORDS)


@rule(TRANSFER)
def internal_check_username_exist_of_destination_username(call: Any, ledger: View) -> Broken | None:
    """The one who is sent money has an account."""
    return exists(call["destination_username"], ledger, *_RECORDS)


@rule(OPEN)
def not_internal_check_username_exist(call: Any, ledger: View) -> Broken | None:
    """A new user has no account yet."""
    taken = ledger[USER(call["username"])]
    return violation("{user} has an account", user=call["username"]) if taken else None


@rule(OPEN)
def no_owed_balance(call: Any, ledger: View) -> Broken | None:
    """A new user owes nothing: one without an account cannot."""
    user = call["username"]
    if not ledger[USER(user)] or ledger[OWED(user)] == 0:
        return None
    return violation("{user} owes {owed}", user=user, owed=ledger[OWED(user)])


@rule(OPEN)
def no_credit_card_balance(call: Any, ledger: View) -> Broken | None:
    """A new user owes nothing on a card: one without an account has none."""
    user = call["username"]
    if not ledger[USER(user)]:
        return None
    due = [card["card_number"] for card in ledger[CARDS(user)] if card["credit_balance"] != 0]
    return violation("money is owed on {due}", due=due) if due else None


@rule(TRANSFER, PAY_BILL)
def sufficient_account_balance(call: Any, ledger: View) -> Broken | None:
    """The account has more than is paid."""
    balance, amount = ledger[BALANCE(call["username"])], call["amount"]
    if balance > amount:
        return None
    return violation("the account has {balance} of {amount}", balance=balance, amount=amount)


def _at_least(balance: float, amount: float) -> Broken | None:
    if balance >= amount:
        return None
    return violation("the account has {balance} of {amount}", balance=balance, amount=amount)


@rule(DEPOSIT)
def maximum_deposit_limit(call: Any, ledger: View) -> Broken | None:
    """A deposit is no larger than the most that is accepted."""
    return _at_most(call["amount"], ledger.parameters["maximum_deposit"])


@rule(EXCHANGE)
def maximum_exchange_amount(call: Any, ledger: View) -> Broken | None:
    """No more is exchanged than the most that may be."""
    return _at_most(call["amount"], ledger.parameters["maximum_exchange"])


def _at_most(amount: float, most: float) -> Broken | None:
    if amount <= most:
        return None
    return violation("{amount} is more than {most}", amount=amount, most=most)


@rule(EXCHANGE)
def internal_check_foreign_currency_available(call: Any, ledger: View) -> Broken | None:
    """The bank has the currency."""
    currency = call["foreign_currency_type"]
    has = ledger[CURRENCY(currency)]
    return None if has else violation("{currency} is not exchanged", currency=currency)


@rule(PAY_BY_CARD)
def not_over_credit_limit(call: Any, ledger: View) -> Broken | None:
    """A bill is no larger than what is left of the card's limit."""
    card = ledger[CARD(call["username"], call["card_number"])]
    return _at_most(call["amount"], card["credit_limit"] - card["credit_balance"])


@rule(CANCEL_CARD)
def no_credit_card_balance_on_card(call: Any, ledger: View) -> Broken | None:
    """Nothing is owed on a card that is cancelled."""
    owed = ledger[CARD(call["username"], call["card_number"])]["credit_balance"]
    return None if owed == 0 else violation("{owed} is owed on the card", owed=owed)


@rule(APPLY_CARD, GET_LOAN, SET_BOX)
def minimal_elgibile_credit_score(call: Any, ledger: View) -> Broken | None:
    """The user's credit score is above the one that is asked for."""
    score, least = ledger[SCORE(call["username"])], ledger.parameters["minimum_credit_score"]
    if score > least:
        return None
    return violation("the credit score is {score} of {least}", score=score, least=least)


@rule(GET_LOAN)
def get_loan_owed_balance_restr(call: Any, ledger: View) -> Broken | None:
    """Who takes a loan owes less than the most that may be owed."""
    owed, most = ledger[OWED(call["username"])], ledger.parameters["maximum_owed_balance"]
    return None if owed < most else violation("{owed} is owed already", owed=owed)


@rule(PAY_LOAN)
def pay_loan_amount_restr(call: Any, ledger: View) -> Broken | None:
    """The account covers what is owed, or what is paid of it."""
    user = call["username"]
    balance = ledger[BALANCE(user)]
    if balance >= call["pay_owed_amount_request"]:
        return None
    return _at_least(balance, ledger[OWED(user)])


@rule(SET_BOX)
def safety_box_eligible(call: Any, ledger: View) -> Broken | None:
    """The account has enough for a safety box."""
    least = ledger.parameters["minimum_account_balance_safety_box"]
    return _at_least(ledger[BALANCE(call["username"])], least)


_USER, _BALANCE, _OWED, _CARDS = touch(USER), touch(BALANCE), touch(OWED), touch(CARDS)

BANK = Pack(
    domain=Domain(
        name="bank",
        version="sopbench",
        tools=(
            flag("internal_check_username_exist", USER, "username"),
            flag("internal_check_foreign_currency_available", CURRENCY, "foreign_currency_type"),
            read("internal_get_credit_score", SCORE, "username"),
            read("get_account_balance", BALANCE, "username"),
            read("get_account_owed_balance", OWED, "username"),
            read("get_credit_card_info", CARD, "username", "card_number"),
            read("get_credit_cards", CARDS, "username"),
            read("get_credit_cards", CARD, "username", records=each),
            *(write(tool) for tool in (LOGIN, LOGOUT, AUTHENTICATE, SET_PASSWORD)),
            *(write(tool) for tool in (SET_INFORMATION, SET_BOX, EXCHANGE)),
            write(OPEN, _USER),
            write(CLOSE, _USER),
            write(
                TRANSFER, _BALANCE, touch(PathTemplate("balances.{destination_username}", float))
            ),
            write(DEPOSIT, _BALANCE),
            write(PAY_BILL, _BALANCE),
            write(PAY_BY_CARD, _CARDS, touch(CARD)),
            write(APPLY_CARD, _CARDS),
            write(CANCEL_CARD, _CARDS, touch(CARD)),
            write(GET_LOAN, _BALANCE, _OWED),
            write(PAY_LOAN, _BALANCE, _OWED),
            *neutral(
                "internal_check_credit_card_exist",
                "get_bank_maximum_loan_amount",
                "get_safety_box",
            ),
        ),
        predicates=rule.all,
    ),
    reads=look.all,
    same={"pay_loan_account_balance_restr": "pay_loan_amount_restr"},
)
"""One rule for each constraint; two that are an either-or are one."""
