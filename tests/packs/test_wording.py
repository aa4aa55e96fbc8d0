"""Numbers in messages: never so short that what is refused looks like what would be accepted."""

from __future__ import annotations

import re

import pytest

from ledgeragent.packs.wording import cents, exact
from tests.packs.banking_knowledge.talk import through
from tests.packs.banking_knowledge.test_bank import Talk
from tests.packs.retail.talk import (
    GIFT,
    ME,
    SHOE,
    SHOE_BLACK,
    by_email,
    look,
    modify,
    order,
    shoes,
    talk,
    user,
    verdict_of,
)
from tests.packs.telecom.talk import ON_LINE, TelecomTalk, customer, line


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2, "2"),
        (2.0, "2"),
        (0.5, "0.5"),
        (2.0000001, "2.0000001"),
        (1234567.5, "1234567.5"),
        (-0.1, "-0.1"),
    ],
)
def test_a_number_is_short_where_nothing_is_lost(number: float, text: str) -> None:
    assert exact(number) == text


@pytest.mark.parametrize(
    ("amount", "text"),
    [(5, "5.00"), (0.1 + 0.2, "0.30"), (6.635, "6.635"), (-3.0, "-3.00"), (1e-9, "1e-09")],
)
def test_a_sum_of_money_has_two_decimals_or_all_that_it_has(amount: float, text: str) -> None:
    assert cents(amount) == text


@pytest.mark.parametrize("amount", [2.0000001, 2.004, 1e40, -0.0])
def test_what_is_too_much_data_is_told_as_it_was_asked_for(amount: float) -> None:
    talk = TelecomTalk().tool("get_customer_by_id", customer(), customer_id="C7").details(line())
    verdict = talk.judge("refuel_data", **ON_LINE, gb_amount=amount)
    (told,) = re.findall(r"gb_amount: (\S+) GB", verdict.objection)
    assert float(told) == amount


@pytest.mark.parametrize(
    ("balance", "told"), [(14.996, "14.996"), (14.99, "14.99"), (-2.0, "-2.00")]
)
def test_what_a_gift_card_lacks_can_be_seen(balance: float, told: str) -> None:
    session = talk((by_email(), ME), look(user(balance=balance)), look(order()), look(shoes()))
    objection = verdict_of(session, modify([SHOE], [SHOE_BLACK], GIFT)).objection
    assert "the price difference is $15.00" in objection
    assert f"holds ${told};" in objection


@pytest.mark.parametrize("amount", [1250.501, 1250.51, 2000, -3.5, 0])
def test_what_cannot_be_moved_is_told_as_it_was_asked_for(amount: float) -> None:
    talk = Talk().verified().with_accounts()
    move = {"source_account_id": "chk_1", "destination_account_id": "sav_1", "amount": amount}
    objection = talk.judge(through("transfer_funds_between_bank_accounts_7291", **move)).objection
    assert objection.startswith(f"amount ${cents(amount)} cannot be moved")
