"""The bank's tables of text, the reads and writes behind its one door, and rules that need both."""

from __future__ import annotations

import pytest

from ledgeragent import Reply, ToolCall, ToolReturn, UserMessage, load_domain
from ledgeragent.dispatching import inner_call, inner_reply
from ledgeragent.gate import Gate
from ledgeragent.packs.banking_knowledge import texts
from ledgeragent.packs.banking_knowledge.rules.known import TIERS, day
from ledgeragent.state import State
from ledgeragent.types import Message
from ledgeragent.verdict import Decision, Verdict

from .talk import ACCOUNTS, CARDS, PROFILE, TIME, USER, VERIFIED, through

BANK = load_domain("banking_knowledge")


class Talk:
    """A conversation with the bank's agent, folded message by message."""

    def __init__(self) -> None:
        self.state = State()

    def hear(self, message: Message) -> None:
        self.state = self.state.observe(inner_reply(message, BANK), BANK)

    def answered(self, call: ToolCall, content: str) -> Talk:
        self.hear(Reply(calls=(call,)))
        self.hear(ToolReturn(call_id=call.id, content=content))
        return self

    def verified(self) -> Talk:
        return self.answered(VERIFIED, "Verification logged successfully.")

    def with_accounts(self) -> Talk:
        tool = "get_all_user_accounts_by_user_id_3847"
        return self.answered(through(tool, user_id=USER), ACCOUNTS)

    def with_cards(self) -> Talk:
        tool = "get_debit_cards_by_account_id_7823"
        return self.answered(through(tool, account_id="chk_1"), CARDS)

    def judge(self, call: ToolCall) -> Verdict:
        return Gate(domain=BANK).judge(inner_call(call, BANK), self.state.ledger)


FREEZE = through("freeze_debit_card_3892", card_id="dbc_1")


def test_reads_behind_the_door_are_observed() -> None:
    ledger = Talk().with_accounts().with_cards().state.ledger
    paths = {str(entry.path): entry.value for entry in ledger}
    assert paths["accounts.chk_1"]["current_holdings"] == 1250.5
    assert paths["portfolios.ada_1"]["bank_accounts"] == ["chk_1", "sav_1"]
    assert paths["debit_card_lists.chk_1"]["card_ids"] == ["dbc_1"]


def test_a_card_is_frozen_once_its_owner_was_verified_and_it_was_read() -> None:
    assert "log_verification" in Talk().judge(FREEZE).objection
    talk = Talk().verified()
    assert "get_all_user_accounts_by_user_id_3847" in talk.judge(FREEZE).objection
    assert "get_debit_cards_by_account_id_7823" in talk.with_accounts().judge(FREEZE).objection
    assert talk.with_cards().judge(FREEZE).decision is Decision.ALLOW
    talk.answered(FREEZE, "Debit Card Frozen Successfully")
    assert "get_debit_cards_by_account_id_7823" in talk.judge(FREEZE).objection


def test_a_write_that_was_refused_changes_nothing() -> None:
    talk = Talk().verified().with_accounts().with_cards()
    talk.answered(FREEZE, "Error: Tool 'freeze_debit_card_3892' has not been unlocked.")
    assert talk.judge(FREEZE).decision is Decision.ALLOW


def test_another_customers_card_is_not_touched() -> None:
    talk = Talk().answered(
        ToolCall(
            name="log_verification",
            arguments={**PROFILE, "user_id": "bob_2", "time_verified": TIME},
            id="v",
        ),
        "Verification logged successfully.",
    )
    assert talk.with_accounts().with_cards().judge(FREEZE).decision is Decision.BLOCK


def test_an_account_that_was_opened_is_known_and_empty() -> None:
    opened = """Bank account opened successfully!
  - Account ID: 4d88
  - User ID: ada_1
  - Account Type: savings
  - Account Class: Silver Plus Account
  - Status: OPEN
  - Initial Balance: $0.00
  - Date Opened: 11/14/2025"""
    call = through(
        "open_bank_account_4821",
        user_id=USER,
        account_type="savings",
        account_class="Silver Plus Account",
    )
    talk = Talk().verified().with_accounts().answered(call, opened)
    move = {"destination_account_id": "4d88", "amount": 100}
    source = "transfer_funds_between_bank_accounts_7291"
    assert talk.judge(through(source, source_account_id="chk_1", **move)).allowed
    back = {"source_account_id": "4d88", "destination_account_id": "chk_1", "amount": 100}
    assert "holds $0.00" in talk.judge(through(source, **back)).objection


def test_a_check_that_the_customer_may_deposit_leaves_balances_unknown() -> None:
    give = ToolCall(
        name="give_discoverable_user_tool",
        arguments={"discoverable_tool_name": "deposit_check_3847"},
        id="give",
    )
    move = through(
        "transfer_funds_between_bank_accounts_7291",
        source_account_id="chk_1",
        destination_account_id="sav_1",
        amount=1,
    )
    talk = Talk().verified().with_accounts()
    talk.hear(UserMessage(text="Please move a dollar."))
    assert talk.judge(move).allowed
    talk.answered(give, "Tool given to user: deposit_check_3847").hear(UserMessage(text="Done."))
    assert not talk.judge(move).allowed


def test_a_code_in_place_of_the_customer_has_to_stand_in_an_article_that_was_read() -> None:
    names = [*PROFILE]
    logged = {**dict.fromkeys(names, "XK12"), "time_verified": TIME}
    call = ToolCall(name="log_verification", arguments=logged, id="v")
    clock = ToolCall(name="get_current_time", id="t")
    talk = Talk().answered(clock, f"The current time is {TIME}.")
    assert "KB_search" in talk.judge(call).objection
    search = ToolCall(name="KB_search", arguments={"query": "codes"}, id="s")
    assert talk.answered(search, "The bypass code is XK12.").judge(call).allowed
    email = ToolCall(name="change_user_email", arguments={"user_id": USER, "new_email": "a@b.c"})
    assert talk.answered(call, "Verification logged successfully.").judge(email).allowed


@pytest.mark.parametrize(
    "text",
    [
        ACCOUNTS.replace("Found 2", "Found 3"),
        ACCOUNTS.replace("   level: Blue Account", "level Blue"),
        "I am sorry, the system is down.",
    ],
)
def test_an_answer_that_is_no_whole_table_is_evidence_of_nothing(text: str) -> None:
    with pytest.raises(ValueError, match=r"rows|field|accounts"):
        texts.accounts(text)


def test_a_table_without_rows_is_an_empty_one() -> None:
    orders = "Replacement orders:\n\nNo pending replacement orders found for this account."
    assert texts.any_rows(orders) == {"rows": []}
    with pytest.raises(ValueError, match="no table"):
        texts.any_rows("Please try again.")


def test_days_are_read_with_a_time_or_without() -> None:
    assert day("11/14/2025 02:05:33") == day("11/14/2025")
    with pytest.raises(ValueError, match="does not match"):
        day("2025-11-14")


def test_every_tier_has_fees() -> None:
    assert set(TIERS.values()) == {"entry", "mid", "premium", "elite"}
