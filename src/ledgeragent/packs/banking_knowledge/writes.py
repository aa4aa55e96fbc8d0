"""The bank's writes: what they make unknown, and what their answers show; the tools that do neither."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ledgeragent.effects import Neutral, ReturnRoute, Touches, Write, touch
from ledgeragent.ledger import Ledger, Touch
from ledgeragent.packs.banking_knowledge import arguments as taken_by
from ledgeragent.packs.banking_knowledge import paths, texts
from ledgeragent.packs.banking_knowledge.paths import ACCOUNT, CARD_ACCOUNT, DEBIT_CARD
from ledgeragent.paths import PathTemplate
from ledgeragent.types import Arguments, Json

_DEPOSIT = "deposit_check"


def named(template: PathTemplate[Any], argument: str, *fields: str) -> Touches:
    """The marks on the record that an argument names."""

    def marks(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
        if argument in arguments:
            path = template(str(arguments[argument]))
            yield from (Touch(path, (name,)) for name in fields) if fields else (Touch(path),)

    return marks


def on_account(argument: str) -> tuple[Touches, ...]:
    """The marks of money that moves in or out of the bank account that an argument names."""
    return (
        named(ACCOUNT, argument, "current_holdings"),
        named(paths.ACTIVITY, argument),
    )


def every_card(arguments: Arguments, ledger: Ledger) -> Iterable[Touch]:
    """An activated card takes the place of the account's others."""
    card = ledger.get(DEBIT_CARD(str(arguments.get("card_id", ""))))
    account = card.value.get("account_id") if card is not None and card.typed else None
    for entry in ledger.glob(DEBIT_CARD):
        if entry.typed and entry.value.get("account_id") == account:
            yield Touch(entry.path, ("status",))


def by_the_customer(ledger: Ledger) -> Iterable[Touch]:
    """What the customer may change on a turn: a check, once they were shown how to deposit one."""
    if any(
        call.name == paths.GIVE
        and str(call.arguments.get("discoverable_tool_name", "")).startswith(_DEPOSIT)
        for call in ledger.writes
    ):
        yield from (Touch(entry.path, ("current_holdings",)) for entry in ledger.glob(ACCOUNT))


def _with_call(value: Json, arguments: Arguments) -> Iterable[Json]:
    """The card that was ordered, and for whose account."""
    return ({**value, **{name: arguments[name] for name in ("account_id", "user_id")}},)


def _card(tool: str, arguments: type[Any], *touches: Touches) -> Write:
    return Write(tool=tool, arguments=arguments, touches=touches or (touch(DEBIT_CARD, "status"),))


def _of_card_account(tool: str, arguments: type[Any], *touches: Touches) -> Write:
    return Write(tool=tool, arguments=arguments, touches=touches)


_ORDERED = (
    *on_account("account_id"),
    named(paths.DEBIT_CARDS, "account_id"),
)
_ACCOUNT_OF_CARD = "credit_card_account_id"

WRITES: tuple[Write, ...] = (
    Write(tool=paths.VERIFY, arguments=taken_by.LogVerification),
    Write(
        tool=paths.EMAIL,
        arguments=taken_by.ChangeEmail,
        touches=(touch(paths.CUSTOMER, "email"),),
    ),
    Write(tool=paths.GIVE, arguments=taken_by.GiveTool),
    Write(
        tool=paths.OPEN,
        arguments=taken_by.OpenAccount,
        touches=(touch(paths.PORTFOLIO),),
        returns=(ReturnRoute(to=ACCOUNT, parse=texts.opened),),
    ),
    Write(
        tool=paths.CLOSE,
        arguments=taken_by.OfAccount,
        touches=(touch(ACCOUNT, "status"), *on_account("account_id")),
    ),
    Write(
        tool=paths.TRANSFER,
        arguments=taken_by.TransferFunds,
        touches=(*on_account("source_account_id"), *on_account("destination_account_id")),
    ),
    Write(
        tool=paths.PAY_CARD,
        arguments=taken_by.PayCard,
        touches=(
            *on_account("checking_account_id"),
            named(CARD_ACCOUNT, _ACCOUNT_OF_CARD, "current_balance"),
        ),
    ),
    Write(tool=paths.CREDIT_CHECKING, arguments=taken_by.Credit, touches=on_account("account_id")),
    Write(tool=paths.CREDIT_SAVINGS, arguments=taken_by.Credit, touches=on_account("account_id")),
    Write(tool=paths.REPORT, arguments=taken_by.InterestReport),
    Write(
        tool=paths.ORDER_CARD,
        arguments=taken_by.OrderCard,
        touches=_ORDERED,
        returns=(ReturnRoute(to=DEBIT_CARD, parse=texts.ordered, records=_with_call, merge=True),),
    ),
    *(_card(tool, taken_by.ActivateCard, every_card) for tool in paths.ACTIVATE),
    _card(paths.CLOSE_CARD, taken_by.CloseCard),
    _card(paths.FREEZE, taken_by.OfCard),
    _card(paths.UNFREEZE, taken_by.OfCard),
    _card(paths.RESET_PIN, taken_by.ResetPin),
    _card(paths.CHANGE_PIN, taken_by.ChangePin),
    _card(
        paths.RAISE,
        taken_by.RaiseLimit,
        touch(DEBIT_CARD, "daily_atm_limit", "daily_purchase_limit"),
    ),
    _card(paths.CLEAR, taken_by.CloseCard),
    _card(paths.BLOCK, taken_by.BlockRecurring, touch(DEBIT_CARD, "recurring_blocked")),
    Write(
        tool=paths.DEBIT_DISPUTE,
        arguments=taken_by.DebitDispute,
        touches=(touch(paths.DEBIT_DISPUTES), named(paths.ACTIVITY, "account_id")),
    ),
    Write(
        tool=paths.CARD_DISPUTE,
        arguments=taken_by.CardDispute,
        touches=(touch(paths.CARD_DISPUTES),),
    ),
    _of_card_account(
        paths.CLOSE_CREDIT,
        taken_by.OfCardAccount,
        named(CARD_ACCOUNT, _ACCOUNT_OF_CARD),
    ),
    _of_card_account(paths.LOG_CLOSURE, taken_by.LogClosure, touch(paths.CLOSURE_REASONS)),
    _of_card_account(paths.FLAG, taken_by.Flag),
    _of_card_account(
        paths.STATEMENT_CREDIT,
        taken_by.StatementCredit,
        named(CARD_ACCOUNT, _ACCOUNT_OF_CARD, "current_balance"),
    ),
    _of_card_account(paths.REQUEST_LIMIT, taken_by.RequestLimit, touch(paths.LIMIT_REQUESTS)),
    _of_card_account(
        paths.APPROVE_LIMIT,
        taken_by.ApproveLimit,
        touch(paths.LIMIT_REQUESTS),
        named(CARD_ACCOUNT, _ACCOUNT_OF_CARD, "credit_limit"),
    ),
    _of_card_account(paths.DENY_LIMIT, taken_by.DenyLimit, touch(paths.LIMIT_REQUESTS)),
    _of_card_account(paths.REPLACE_CREDIT, taken_by.OrderReplacement, touch(paths.ORDERS)),
    Write(
        tool=paths.REWARDS,
        arguments=taken_by.UpdateRewards,
        touches=(touch(paths.PURCHASE, "rewards_earned"),),
    ),
)
"""Every tool that changes a record, or writes one down."""

NEUTRALS: tuple[Neutral, ...] = tuple(
    Neutral(tool=tool)
    for tool in (
        "transfer_to_human_agents",
        "unlock_discoverable_agent_tool",
        "list_discoverable_agent_tools",
        "initial_transfer_to_human_agent_0218",
        "initial_transfer_to_human_agent_1822",
        "emergency_credit_bureau_incident_transfer_1114",
    )
)
"""The tools that hand a conversation over, and those that only prepare another call."""
