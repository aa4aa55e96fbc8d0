"""Rules on whom the bank has before it, and whose records a call is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ledgeragent.packs.banking_knowledge import paths
from ledgeragent.packs.banking_knowledge.arguments import GiveTool, LogVerification
from ledgeragent.packs.banking_knowledge.paths import CLOCK, CUSTOMER, KNOWLEDGE, PURCHASE
from ledgeragent.packs.banking_knowledge.rules.known import (
    bank_account,
    by_code,
    card_account,
    debit_card,
    of_user,
    verified,
)
from ledgeragent.packs.wording import argument as in_words
from ledgeragent.predicates import Broken, MissingEvidence, Private, View, predicate, violation
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision

PERSONAL = ("name", "address", "email", "phone_number", "date_of_birth")
OF_CUSTOMERS = (
    paths.EMAIL,
    paths.OPEN,
    paths.TRANSFER,
    paths.PAY_CARD,
    paths.CARD_DISPUTE,
    paths.REWARDS,
    *paths.ON_ACCOUNTS,
    *paths.ON_DEBIT_CARDS,
    *paths.ON_CARD_ACCOUNTS,
)
_CODES = ToolCall(name="KB_search", arguments={"query": "Account Recovery Bypass Code"})


@predicate("banking_knowledge/verified", guards=OF_CUSTOMERS, identity=True)
def is_verified(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """Somebody's identity was logged as verified before their records change."""
    if verified(ledger):
        return None
    return violation(
        "nobody's identity has been verified in this conversation; two of birth date, email, phone "
        "number and address have to be right{then}",
        then=Private(", and log_verification comes then", instead=" first"),
    )


@predicate(
    "banking_knowledge/own-records",
    guards=OF_CUSTOMERS,
    identity=True,
    decision=Decision.BLOCK,
)
def own_records(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """What a call changes belongs to a customer who was verified.

    Says nothing where a code stood for the customer.
    """
    if not (customers := verified(ledger)) or by_code(ledger):
        return None
    for argument, owner in _owners(call, ledger):
        if owner not in customers:
            return violation(
                "{argument} {value} belongs to another customer than the one who was verified",
                argument=in_words(argument),
                value=str(call[argument]),
            )
    return None


def _owners(call: Mapping[str, Any], ledger: View) -> Iterator[tuple[str, str]]:
    if "user_id" in call:
        yield "user_id", call["user_id"]
    for argument in (
        "account_id",
        "source_account_id",
        "destination_account_id",
        "checking_account_id",
    ):
        if argument in call:
            yield argument, bank_account(call[argument], ledger)["user_id"]
    if "credit_card_account_id" in call:
        name = "credit_card_account_id"
        yield name, card_account(call[name], ledger)["user_id"]
    if "card_id" in call:
        yield "card_id", debit_card(call["card_id"], ledger)["user_id"]
    if "transaction_id" in call and "account_id" not in call:
        try:
            yield "transaction_id", ledger[PURCHASE(call["transaction_id"])]["user_id"]
        except MissingEvidence as missing:
            missing.reads = of_user("get_credit_card_transactions_by_user", ledger)
            raise


@predicate(
    "banking_knowledge/user-tool-arguments",
    guards=paths.GIVE,
    clause="banking_knowledge/user-tools",
)
def user_tool_arguments(call: GiveTool, ledger: View) -> Broken | None:
    """A customer is given a tool by its name, with arguments that are a JSON object."""
    name, arguments = call["discoverable_tool_name"], call.get("arguments") or "{}"
    if name and ToolCall.parse(name=name, arguments=arguments).malformed is None:
        return None
    return violation("a tool is given by its name, and arguments as the text of a JSON object")


@predicate("banking_knowledge/verification-true", guards=paths.VERIFY)
def verification_true(call: LogVerification, ledger: View) -> Broken | None:
    """What is logged of a verified customer is what the bank has of them.

    Allows: a code in place of everything, where an article that was read says so.
    """
    texts = {call[name] for name in (*PERSONAL, "user_id")}  # type: ignore[literal-required]
    if len(texts) == 1:
        return _is_code(texts.pop(), ledger)
    profile = ledger[CUSTOMER(call["user_id"])]
    wrong = [n for n in PERSONAL if profile[n] != call[n]]  # type: ignore[literal-required]
    if not wrong:
        return None
    name = wrong[0]
    return violation(
        "{argument} {logged} is not what the bank has of {customer}; log the profile as it is",
        argument=in_words(name),
        logged=call[name],  # type: ignore[literal-required]
        customer=call["user_id"],
    )


def _is_code(code: str, ledger: View) -> Broken | None:
    articles = [article for _, article in ledger.glob(KNOWLEDGE)]
    if any(code in article for article in articles):
        return None
    if articles and ledger.entry(KNOWLEDGE(_CODES.arguments["query"])) is not None:
        return violation("{code} stands in no article that was read", code=code)
    raise MissingEvidence(KNOWLEDGE(_CODES.arguments["query"]), reads=(_CODES,))


@predicate(
    "banking_knowledge/verification-time",
    guards=paths.VERIFY,
    clause="banking_knowledge/time",
)
def verification_time(call: LogVerification, ledger: View) -> Broken | None:
    """The time of a verification is the time that was read, not one made up."""
    if call["time_verified"] == ledger[CLOCK()]:
        return None
    return violation(
        "{argument} {logged} is not the time of the clock, {time}",
        argument=in_words("time_verified"),
        logged=call["time_verified"],
        time=ledger[CLOCK()],
    )
