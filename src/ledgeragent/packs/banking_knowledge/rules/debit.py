"""Rules on debit cards: orders, activation, status, PIN and limits."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from ledgeragent.packs.banking_knowledge import paths
from ledgeragent.packs.banking_knowledge.arguments import (
    ActivateCard,
    CloseCard,
    OrderCard,
    RaiseLimit,
)
from ledgeragent.packs.banking_knowledge.paths import CUSTOMER, DEBIT_CARD, DEBIT_CARDS
from ledgeragent.packs.banking_knowledge.rules.known import (
    TIERS,
    bank_account,
    days_since,
    debit_card,
    dollars,
    named,
)
from ledgeragent.packs.wording import argument as in_words
from ledgeragent.predicates import Broken, Predicate, Private, View, predicate, violation

_LEAST = 25
_READ_IT = "{argument} is not that of card {id}; have the customer read it from the card"
_READ_THEM = "{argument} are not those of card {id}; have the customer read them from the card"
_URGENT = ("lost", "stolen", "fraud_suspected")
_LEAST_AGE = 14
_DELIVERY = {
    "entry": {"STANDARD": 0, "EXPEDITED": 15, "RUSH": 35},
    "mid": {"STANDARD": 0, "EXPEDITED": 15, "RUSH": 35},
    "premium": {"STANDARD": 0, "EXPEDITED": 0, "RUSH": 35},
    "elite": {"STANDARD": 0, "EXPEDITED": 0, "RUSH": 0},
}
_DESIGN = {
    "entry": {"CLASSIC": 0, "PREMIUM": 10, "CUSTOM": 25},
    "mid": {"CLASSIC": 0, "PREMIUM": 10, "CUSTOM": 25},
    "premium": {"CLASSIC": 0, "PREMIUM": 0, "CUSTOM": 15},
    "elite": {"CLASSIC": 0, "PREMIUM": 0, "CUSTOM": 0},
}


@predicate("banking_knowledge/card-account", guards=paths.ORDER_CARD)
def card_account_fits(call: OrderCard, ledger: View) -> Broken | None:
    """A debit card is ordered for an open checking account that holds $25."""
    account = bank_account(call["account_id"], ledger)
    if "checking" not in account["class"]:
        return violation(
            "{id} is a {kind} account; debit cards are for checking accounts",
            id=call["account_id"],
            kind=account["class"],
        )
    if account["status"] != "OPEN":
        return violation(
            "account {id} is {status}, not OPEN", id=call["account_id"], status=account["status"]
        )
    if account["current_holdings"] < _LEAST:
        return violation(
            "account {id} holds {holds}, and {least} is the least",
            id=call["account_id"],
            holds=dollars(account["current_holdings"]),
            least=dollars(_LEAST),
        )
    return None


@predicate("banking_knowledge/card-pending", guards=paths.ORDER_CARD)
def card_pending(call: OrderCard, ledger: View) -> Broken | None:
    """No card is ordered while another one is on its way, or two are active."""
    cards = [debit_card(one, ledger) for one in ledger[DEBIT_CARDS(call["account_id"])]["card_ids"]]
    statuses = [card["status"] for card in cards]
    if "PENDING" in statuses:
        return violation(
            "a card for account {id} is pending; another is ordered once that one is in use",
            id=call["account_id"],
        )
    if statuses.count("ACTIVE") > 1:
        return violation(
            "account {id} has two active cards, and two are the most", id=call["account_id"]
        )
    return None


@predicate("banking_knowledge/card-fees", guards=paths.ORDER_CARD)
def card_fees(call: OrderCard, ledger: View) -> Broken | None:
    """The fees for delivery and design are those of the account's tier, where that is known."""
    tier = TIERS.get(bank_account(call["account_id"], ledger)["level"])
    if tier is None:
        return None
    for argument, fee, choice in (
        ("delivery_fee", call["delivery_fee"], _DELIVERY[tier].get(call["delivery_option"])),
        ("design_fee", call["design_fee"], _DESIGN[tier].get(call["card_design"])),
    ):
        if choice is not None and fee != choice:
            return violation(
                "{argument} for an account of the {tier} tier is {right}, not {fee}",
                argument=in_words(argument),
                tier=tier,
                right=dollars(choice),
                fee=dollars(fee),
            )
    return None


_REASONS = {
    paths.ACTIVATE_NEW: ("new_account", "first_card"),
    paths.ACTIVATE_REPLACEMENT: ("lost", "stolen", "fraud"),
    paths.ACTIVATE_REISSUED: ("expired", "damaged", "upgrade", "bank_reissue"),
}
"""Why a card was issued that each tool activates."""
_TOOL_FOR = {reason: tool for tool, reasons in _REASONS.items() for reason in reasons}


def _issued_for(name: str, tool: str) -> Predicate:
    """The rule on why a card was issued that one of the activation tools is for."""

    @predicate(f"banking_knowledge/{name}", guards=tool, clause="banking_knowledge/activation-tool")
    def check(call: ActivateCard, ledger: View) -> Broken | None:
        """The activation tool is the one for the reason that the card was issued for."""
        reason = debit_card(call["card_id"], ledger)["issue_reason"]
        if reason in _REASONS[tool]:
            return None
        right = _TOOL_FOR.get(reason)
        return violation(
            "card {id} was issued for {reason}{tool}",
            id=call["card_id"],
            reason=reason,
            tool=Private(f"; {right} activates it" if right else "; another tool activates it", ""),
        )

    return check


ACTIVATION_TOOLS = (
    _issued_for("activation-new", paths.ACTIVATE_NEW),
    _issued_for("activation-replacement", paths.ACTIVATE_REPLACEMENT),
    _issued_for("activation-reissued", paths.ACTIVATE_REISSUED),
)
"""A rule for each of the three tools: a rule is not told which tool it judges."""


@predicate("banking_knowledge/activation-details", guards=paths.ACTIVATE)
def activation_details(call: ActivateCard, ledger: View) -> Broken | None:
    """What the customer reads from the card is what the bank has of it."""
    card = debit_card(call["card_id"], ledger)
    if card["card_number_last_4"] != call["last_4_digits"]:
        return violation(_READ_THEM, argument=in_words("last_4_digits"), id=call["card_id"])
    if "cvv" in card and card["cvv"] != call["cvv"]:
        return violation(_READ_IT, argument=in_words("cvv"), id=call["card_id"])
    return None


def _in_status(name: str, tools: tuple[str, ...], *statuses: str) -> Predicate:
    """The rule on the status that a card has to have for some tools."""

    @predicate(f"banking_knowledge/{name}", guards=tools, clause="banking_knowledge/card-status")
    def check(call: Mapping[str, Any], ledger: View) -> Broken | None:
        """The card is in a status in which this can be done."""
        status = debit_card(call["card_id"], ledger)["status"]
        if status in statuses:
            return None
        return violation(
            "{card} is {status}; for this it has to be {statuses}",
            card=named("card_id", call["card_id"]),
            status=status,
            statuses=list(statuses),
        )

    return check


_WHILE_ACTIVE = (paths.FREEZE, paths.RESET_PIN, paths.CHANGE_PIN, paths.RAISE)
CARD_STATUS = (
    _in_status("status-pending", paths.ACTIVATE, "PENDING"),
    _in_status("status-active", _WHILE_ACTIVE, "ACTIVE"),
    _in_status("status-frozen", (paths.UNFREEZE,), "FROZEN"),
    _in_status("status-closable", (paths.CLOSE_CARD,), "ACTIVE", "PENDING"),
)
"""A rule for each status, since a rule is not told which tool it judges."""


@predicate(
    "banking_knowledge/card-account-open", guards=(paths.UNFREEZE, *paths.ACTIVATE, paths.RAISE)
)
def card_account_open(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """A card is put to use only while its checking account is open."""
    account_id = debit_card(call["card_id"], ledger)["account_id"]
    status = bank_account(account_id, ledger)["status"]
    if status == "OPEN":
        return None
    return violation(
        "account {id} of card {card} is {status}; for this it has to be OPEN",
        id=account_id,
        card=call["card_id"],
        status=status,
    )


@predicate("banking_knowledge/close-card-age", guards=paths.CLOSE_CARD)
def close_card_age(call: CloseCard, ledger: View) -> Broken | None:
    """A card is closed 14 days after it was issued, unless it is lost, stolen or misused."""
    if call["reason"] in _URGENT:
        return None
    days = days_since(debit_card(call["card_id"], ledger)["date_issued"], ledger)
    if days >= _LEAST_AGE:
        return None
    return violation(
        "card {id} was issued {days} days ago, and is closed after {least} at the earliest",
        id=call["card_id"],
        days=days,
        least=_LEAST_AGE,
    )


@predicate("banking_knowledge/pin", guards=(paths.RESET_PIN, paths.CHANGE_PIN, *paths.ACTIVATE))
def pin_is_safe(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """A PIN has four digits, neither all the same nor in a row, and is no birth date of the customer."""
    pin = str(call.get("new_pin", call.get("pin")))
    name = "new_pin" if "new_pin" in call else "pin"
    if len(pin) != 4 or not (pin.isascii() and pin.isdigit()):
        return violation("{argument} must be four digits", argument=in_words(name))
    steps = {int(b) - int(a) for a, b in pairwise(pin)}
    if steps in ({0}, {1}, {-1}):
        return violation(
            "{argument} must not be the same digit, or digits in a row", argument=in_words(name)
        )
    born = ledger[CUSTOMER(debit_card(call["card_id"], ledger)["user_id"])]["date_of_birth"]
    if pin in (born[-4:], born[:2] + born[3:5]):
        return violation(
            "{argument} must not be the customer's birth date", argument=in_words(name)
        )
    return None


@predicate("banking_knowledge/pin-card", guards=paths.RESET_PIN)
def pin_card(call: Mapping[str, Any], ledger: View) -> Broken | None:
    """Whoever resets a PIN knows the last digits of the card."""
    if debit_card(call["card_id"], ledger)["card_number_last_4"] == call["last_4_digits"]:
        return None
    return violation(_READ_THEM, argument=in_words("last_4_digits"), id=call["card_id"])


@predicate("banking_knowledge/limit-increase", guards=paths.RAISE)
def limit_increase(call: RaiseLimit, ledger: View) -> Broken | None:
    """A limit is raised by half at most, for accounts of 60 days, and once in a conversation."""
    card = debit_card(call["card_id"], ledger)
    account = bank_account(card["account_id"], ledger)
    if (days := days_since(account["date_opened"], ledger)) < 60:
        return violation(
            "account {id} was opened {days} days ago, and limits are raised after 60 at the earliest",
            id=card["account_id"],
            days=days,
        )
    for write in ledger.writes:
        if write.name == paths.RAISE and write.arguments.get("card_id") == call["card_id"]:
            return violation(
                "card {id} has had an increase in this conversation already, and gets one at most",
                id=call["card_id"],
            )
    field = "daily_atm_limit" if call["limit_type"] == "atm" else "daily_purchase_limit"
    limit: Any = ledger[DEBIT_CARD(call["card_id"])].get(field)
    if limit is not None and call["new_limit"] > 1.5 * limit:
        return violation(
            "{new} is too much: the limit is {old}, and can be raised to {most} at most",
            new=named("new_limit", dollars(call["new_limit"])),
            old=dollars(limit),
            most=dollars(1.5 * limit),
        )
    return None
