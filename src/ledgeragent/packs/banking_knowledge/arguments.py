"""The arguments of the bank's write tools."""

from __future__ import annotations

from typing import NotRequired, TypedDict


class LogVerification(TypedDict):
    """The arguments of log_verification."""

    name: str
    user_id: str
    address: str
    email: str
    phone_number: str
    date_of_birth: str
    time_verified: str


class ChangeEmail(TypedDict):
    """The arguments of change_user_email."""

    user_id: str
    new_email: str


class GiveTool(TypedDict):
    """The arguments of give_discoverable_user_tool."""

    discoverable_tool_name: str
    arguments: NotRequired[str]


class OfAccount(TypedDict):
    """The arguments of close_bank_account."""

    account_id: str
    reason: NotRequired[str]
    waive_early_closure_fee: NotRequired[bool]


class OpenAccount(TypedDict):
    """The arguments of open_bank_account."""

    user_id: str
    account_type: str
    account_class: str


class Credit(TypedDict):
    """The arguments of a credit to a checking or a savings account."""

    account_id: str
    amount: float
    credit_type: str


class InterestReport(TypedDict):
    """The arguments of submit_interest_discrepancy_report."""

    account_id: str
    user_id: str
    expected_apy: float
    actual_apy: float
    amount_difference: float


class TransferFunds(TypedDict):
    """The arguments of transfer_funds_between_bank_accounts."""

    source_account_id: str
    destination_account_id: str
    amount: float


class PayCard(TypedDict):
    """The arguments of pay_credit_card_from_checking."""

    user_id: str
    checking_account_id: str
    credit_card_account_id: str
    amount: float


class OfCard(TypedDict):
    """The arguments of freezing or unfreezing a debit card."""

    card_id: str


class ActivateCard(TypedDict):
    """The arguments of the three tools that activate a debit card."""

    card_id: str
    last_4_digits: str
    expiration_date: str
    cvv: str
    pin: str


class CloseCard(TypedDict):
    """The arguments of close_debit_card, and of clear_debit_card_fraud_alert."""

    card_id: str
    reason: str


class ResetPin(TypedDict):
    """The arguments of reset_debit_card_pin."""

    card_id: str
    last_4_digits: str
    new_pin: str


class ChangePin(TypedDict):
    """The arguments of change_debit_card_pin."""

    card_id: str
    current_pin: str
    new_pin: str


class RaiseLimit(TypedDict):
    """The arguments of request_temporary_debit_card_limit_increase."""

    card_id: str
    limit_type: str
    new_limit: float


class BlockRecurring(TypedDict):
    """The arguments of set_debit_card_recurring_block."""

    card_id: str
    block_recurring: bool


class OrderCard(TypedDict):
    """The arguments of order_debit_card."""

    account_id: str
    user_id: str
    delivery_option: str
    delivery_fee: float
    card_design: str
    design_fee: float
    shipping_address: str
    excess_replacement_fee: NotRequired[float]


class DebitDispute(TypedDict):
    """The arguments of file_debit_card_transaction_dispute."""

    transaction_id: str
    account_id: str
    card_id: str
    user_id: str
    dispute_category: str
    transaction_date: str
    discovery_date: str
    disputed_amount: float
    transaction_type: str
    card_in_possession: bool
    pin_compromised: str
    contacted_merchant: bool
    police_report_filed: bool
    written_statement_provided: bool
    provisional_credit_eligible: bool
    card_action: str
    customer_max_liability_amount: NotRequired[float]


class CardDispute(TypedDict):
    """The arguments of file_credit_card_transaction_dispute."""

    transaction_id: str
    card_action: str
    card_last_4_digits: str
    full_name: str
    user_id: str
    phone: str
    email: str
    address: str
    contacted_merchant: bool
    purchase_date: str
    issue_noticed_date: str
    dispute_reason: str
    resolution_requested: str
    eligible_for_provisional_credit: bool
    partial_refund_amount: NotRequired[float | None]


class OfCardAccount(TypedDict):
    """The arguments of close_credit_card_account."""

    credit_card_account_id: str
    user_id: str


class LogClosure(OfCardAccount):
    """The arguments of log_credit_card_closure_reason."""

    closure_reason: str


class Flag(OfCardAccount):
    """The arguments of apply_credit_card_account_flag."""

    flag_type: str
    expiration_date: str
    reason: str


class StatementCredit(OfCardAccount):
    """The arguments of apply_statement_credit."""

    amount: float
    reason: str


class RequestLimit(OfCardAccount):
    """The arguments of submit_credit_limit_increase_request."""

    requested_increase_amount: int


class ApproveLimit(OfCardAccount):
    """The arguments of approve_credit_limit_increase."""

    new_credit_limit: float


class DenyLimit(OfCardAccount):
    """The arguments of deny_credit_limit_increase."""

    denial_reason: str


class OrderReplacement(OfCardAccount):
    """The arguments of order_replacement_credit_card."""

    shipping_address: str
    reason: str
    expedited_shipping: NotRequired[bool]


class UpdateRewards(TypedDict):
    """The arguments of update_transaction_rewards."""

    transaction_id: str
    new_rewards_earned: str
