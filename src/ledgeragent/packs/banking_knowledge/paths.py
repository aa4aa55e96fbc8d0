"""Where the bank's records are kept in the ledger, and the names of its tools."""

from __future__ import annotations

from ledgeragent.packs.banking_knowledge.records import (
    Activity,
    BankAccount,
    BankTransaction,
    CardAccount,
    CardList,
    CardTransaction,
    Customer,
    DebitCard,
    Portfolio,
    Rows,
)
from ledgeragent.paths import PathTemplate

CLOCK = PathTemplate("clock", str)
KNOWLEDGE = PathTemplate("knowledge.{query}", str)
MATCHES = PathTemplate("matches.{pattern}", str)
CUSTOMER = PathTemplate("customers.{user_id}", Customer)
PORTFOLIO = PathTemplate("portfolios.{user_id}", Portfolio)
ACCOUNT = PathTemplate("accounts.{account_id}", BankAccount)
CARD_ACCOUNT = PathTemplate("card_accounts.{account_id}", CardAccount)
DEBIT_CARD = PathTemplate("debit_cards.{card_id}", DebitCard)
DEBIT_CARDS = PathTemplate("debit_card_lists.{account_id}", CardList)
TRANSACTION = PathTemplate("transactions.{transaction_id}", BankTransaction)
ACTIVITY = PathTemplate("activity.{account_id}", Activity)
PURCHASE = PathTemplate("purchases.{transaction_id}", CardTransaction)
REFERRALS = PathTemplate("referrals.{user_id}", Rows)
ORDERS = PathTemplate("replacement_orders.{credit_card_account_id}", Rows)
CARD_DISPUTES = PathTemplate("card_disputes.{user_id}", Rows)
DEBIT_DISPUTES = PathTemplate("debit_disputes.{user_id}", Rows)
LIMIT_REQUESTS = PathTemplate("limit_requests.{credit_card_account_id}", Rows)
CLOSURE_REASONS = PathTemplate("closure_reasons.{credit_card_account_id}", Rows)
PAYMENTS = PathTemplate("payments.{credit_card_account_id}.{months}", str)
DEPOSIT_IMAGES = PathTemplate("deposit_images.{transaction_id}", str)

VERIFY = "log_verification"
EMAIL = "change_user_email"
GIVE = "give_discoverable_user_tool"

ALL_ACCOUNTS = "get_all_user_accounts_by_user_id_3847"
CARDS_OF = "get_debit_cards_by_account_id_7823"
TRANSACTIONS_OF = "get_bank_account_transactions_9173"

OPEN = "open_bank_account_4821"
CLOSE = "close_bank_account_7392"
TRANSFER = "transfer_funds_between_bank_accounts_7291"
PAY_CARD = "pay_credit_card_from_checking_9182"
CREDIT_CHECKING = "apply_checking_account_credit_5829"
CREDIT_SAVINGS = "apply_savings_account_credit_6831"
REPORT = "submit_interest_discrepancy_report_7294"

ORDER_CARD = "order_debit_card_5739"
ACTIVATE_NEW = "activate_debit_card_8291"
ACTIVATE_REPLACEMENT = "activate_debit_card_8292"
ACTIVATE_REISSUED = "activate_debit_card_8293"
CLOSE_CARD = "close_debit_card_4721"
FREEZE = "freeze_debit_card_3892"
UNFREEZE = "unfreeze_debit_card_3893"
RESET_PIN = "reset_debit_card_pin_6284"
CHANGE_PIN = "change_debit_card_pin_6285"
RAISE = "request_temporary_debit_card_limit_increase_8374"
CLEAR = "clear_debit_card_fraud_alert_4892"
BLOCK = "set_debit_card_recurring_block_7382"
DEBIT_DISPUTE = "file_debit_card_transaction_dispute_6281"

CARD_DISPUTE = "file_credit_card_transaction_dispute_4829"
CLOSE_CREDIT = "close_credit_card_account_7834"
LOG_CLOSURE = "log_credit_card_closure_reason_4521"
FLAG = "apply_credit_card_account_flag_6147"
STATEMENT_CREDIT = "apply_statement_credit_8472"
REQUEST_LIMIT = "submit_credit_limit_increase_request_7392"
APPROVE_LIMIT = "approve_credit_limit_increase_5847"
DENY_LIMIT = "deny_credit_limit_increase_5848"
REPLACE_CREDIT = "order_replacement_credit_card_7291"
REWARDS = "update_transaction_rewards_3847"

ACTIVATE = (ACTIVATE_NEW, ACTIVATE_REPLACEMENT, ACTIVATE_REISSUED)
ON_DEBIT_CARDS = (
    *ACTIVATE,
    CLOSE_CARD,
    FREEZE,
    UNFREEZE,
    RESET_PIN,
    CHANGE_PIN,
    RAISE,
    CLEAR,
    BLOCK,
)
ON_CARD_ACCOUNTS = (
    CLOSE_CREDIT,
    LOG_CLOSURE,
    FLAG,
    STATEMENT_CREDIT,
    REQUEST_LIMIT,
    APPROVE_LIMIT,
    DENY_LIMIT,
    REPLACE_CREDIT,
)
ON_ACCOUNTS = (CLOSE, CREDIT_CHECKING, CREDIT_SAVINGS, REPORT, ORDER_CARD, DEBIT_DISPUTE)
