"""What pays, where a refund goes, and the paper's second running example."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ledgeragent import (
    Decision,
    Gate,
    LedgerAgent,
    Path,
    Reply,
    ToolCall,
    ToolReturn,
    UserMessage,
)
from ledgeragent.testing import ScriptedModel, assert_allows, judge
from tests.packs.retail.talk import (
    CARD,
    FRIEND,
    GIFT,
    HATS,
    ME,
    NEW_ADDRESS,
    PAYPAL,
    RETAIL,
    SECOND,
    SHOE,
    SHOE_BLACK,
    asked_for,
    by_email,
    exchange,
    give_back,
    item,
    known,
    look,
    order,
    payment,
    read,
    shoes,
    talk,
    user,
    verdict_of,
)
from tests.packs.talk import asked, violated


def test_amounts_and_ids_of_another_type_are_no_evidence() -> None:
    call = exchange([SHOE], [SHOE_BLACK], GIFT)
    right = known(order("delivered"), user(balance=15), shoes(price=65))
    assert_allows(RETAIL, right, call.name, **call.arguments)
    for odd in (
        user(balance="15.00"),
        shoes(price="65"),
        order("delivered", item(SHOE, price="5")),
    ):
        verdict = judge(RETAIL, {**right, **known(odd)}, call.name, **call.arguments)
        assert verdict.decision is Decision.REVISE
        assert violated(verdict) == set()
        assert "should be a number" in verdict.feedback
    verdict = judge(RETAIL, right, call.name, **exchange([int(SHOE)], ["9002"]).arguments)
    assert violated(verdict) == {"gate/arguments"}


@pytest.mark.parametrize("source", ["giftcard", "GIFT_CARD", "", None])
def test_a_method_of_an_unknown_kind_is_no_evidence(source: Any) -> None:
    profile = user()
    profile["payment_methods"][GIFT]["source"] = source
    call = give_back([SHOE], GIFT)
    verdict = judge(RETAIL, known(order("delivered"), profile), call.name, **call.arguments)
    assert violated(verdict) == set()
    assert asked(verdict) == PROFILE_READ


PROFILE_READ = {f'get_user_details(user_id="{ME}")'}


def test_a_method_of_the_order_needs_no_profile() -> None:
    delivered = order("delivered")
    assert asked_for(give_back([SHOE], CARD), delivered) == set()
    assert asked_for(give_back([SHOE], GIFT), delivered) == PROFILE_READ
    assert asked_for(exchange([SHOE], [SHOE_BLACK], CARD), delivered, shoes()) == set()
    assert asked_for(exchange([SHOE], [SHOE_BLACK], PAYPAL), delivered, shoes()) == PROFILE_READ


def test_a_gift_card_needs_its_balance_only_where_there_is_something_to_pay() -> None:
    paid_by_gift = order("delivered", paid_with=GIFT)
    cheaper = shoes(price=49.99)
    assert asked_for(exchange([SHOE], [SHOE_BLACK], GIFT), paid_by_gift, cheaper) == set()
    assert asked_for(exchange([SHOE], [SHOE_BLACK], GIFT), paid_by_gift, shoes()) == PROFILE_READ


@pytest.mark.parametrize(
    ("method", "balance", "rules"),
    [
        (GIFT, 70.0, set()),
        (GIFT, 69.99, {"retail/payment-balance"}),
        (PAYPAL, 0.0, set()),
        (CARD, 70.0, {"retail/payment-different"}),
        ("paypal_00", 70.0, {"retail/payment-in-profile"}),
    ],
)
def test_a_new_payment_method(method: str, balance: float, rules: set[str]) -> None:
    records = known(order(), user(balance=balance))
    call = payment(method)
    verdict = judge(RETAIL, records, call.name, **call.arguments)
    assert violated(verdict) == rules
    assert verdict.missing == ()


@pytest.mark.parametrize(
    ("price", "history", "allowed"),
    [
        (60.0, [("payment", 60.0, CARD)], True),
        (80.0, [("payment", 60.0, CARD), ("payment", 20.0, PAYPAL)], False),
        (
            60.0,
            [("payment", 60.0, CARD), ("payment", 20.0, PAYPAL), ("refund", 20.0, PAYPAL)],
            True,
        ),
        (80.0, [("payment", 80.0, CARD), ("refund", 80.0, CARD)], False),
    ],
)
def test_a_gift_card_pays_for_all_that_an_order_costs_however_it_was_paid(
    price: float, history: list[tuple[str, float, str]], allowed: bool
) -> None:
    names = ("transaction_type", "amount", "payment_method_id")
    paid = {"payment_history": [dict(zip(names, row, strict=True)) for row in history]}
    call = payment(GIFT)
    records = known({**order("pending", item(SHOE, price=price)), **paid}, user(balance=60.0))
    verdict = judge(RETAIL, records, call.name, **call.arguments)
    assert violated(verdict) == (set() if allowed else {"retail/payment-balance"})


@pytest.mark.parametrize(
    ("method", "allowed"), [(CARD, True), (GIFT, True), (PAYPAL, False), ("gift_card_99", False)]
)
def test_where_a_refund_may_go(method: str, allowed: bool) -> None:
    records = {**known(order("delivered"), user()), f"users.{FRIEND}": user(FRIEND)}
    call = give_back([SHOE], method)
    verdict = judge(RETAIL, records, call.name, **call.arguments)
    assert verdict.allowed is allowed
    if not allowed:
        assert violated(verdict) == {"retail/refund-destination"}
        assert f"{method} cannot take the refund" in verdict.feedback
        assert f"choose {CARD} or {GIFT}" in verdict.feedback


def test_a_method_the_order_was_changed_to_later_is_not_its_original_one() -> None:
    paid = [(CARD, "payment"), (PAYPAL, "payment"), (CARD, "refund")]
    history = [
        {"transaction_type": kind, "amount": 100.0, "payment_method_id": method}
        for method, kind in paid
    ]
    records = known({**order("delivered"), "payment_history": history}, user())
    call = give_back([SHOE], PAYPAL)
    assert violated(judge(RETAIL, records, call.name, **call.arguments)) == {
        "retail/refund-destination"
    }
    call = give_back([SHOE], CARD)
    assert judge(RETAIL, records, call.name, **call.arguments).allowed


def test_a_gift_card_that_paid_has_to_be_looked_at_before_it_pays_again() -> None:
    second = order(order_id=SECOND)
    session = talk(
        (by_email(), ME),
        look(user(balance=100.0)),
        look(order()),
        look(second),
        (payment(GIFT), "{}"),
    )
    assert asked(verdict_of(session, payment(GIFT, SECOND))) == PROFILE_READ
    assert verdict_of(session, payment(PAYPAL, SECOND)).allowed
    session.state = session.state.observe(Reply(calls=(look(user())[0],)), RETAIL)
    session.observe(ToolReturn(call_id="1", content=json.dumps(user(balance=30.0))))
    assert violated(verdict_of(session, payment(GIFT, SECOND))) == {"retail/payment-balance"}


# The paper's second running example


CHEN, TABLET_ORDER, TABLET = "chen_silva_7485", "#W9571698", "6065192424"
CHENS_GIFT, MASTERCARD = "gift_card_7250692", "credit_card_1565124"


def chen() -> dict[str, Any]:
    return {
        "user_id": CHEN,
        "name": {"first_name": "Chen", "last_name": "Silva"},
        "address": {**NEW_ADDRESS, "zip": "46281"},
        "email": "someone@example.com",
        "payment_methods": {
            CHENS_GIFT: {"id": CHENS_GIFT, "source": "gift_card", "balance": 59.0},
            MASTERCARD: {
                "id": MASTERCARD,
                "source": "credit_card",
                "brand": "mastercard",
                "last_four": "2732",
            },
        },
        "orders": [TABLET_ORDER],
    }


def tablets() -> dict[str, Any]:
    """A delivered order of four items, paid by gift card; the paper prints the tablet only."""
    tablet = {
        "name": "Tablet",
        "product_id": "8024098596",
        "item_id": TABLET,
        "price": 989.7,
        "options": {"color": "gold", "storage": "128GB"},
    }
    rest = [item(one, HATS, 10.0) for one in ("1", "2", "3")]
    return {
        **order("delivered", tablet, *rest, order_id=TABLET_ORDER, owner=CHEN),
        "payment_history": [
            {
                "transaction_type": "payment",
                "amount": 1019.7,
                "payment_method_id": CHENS_GIFT,
            }
        ],
    }


def refund_to(method: str, id: str) -> ToolCall:
    arguments = {
        "order_id": TABLET_ORDER,
        "item_ids": [TABLET],
        "payment_method_id": method,
    }
    return ToolCall(name="return_delivered_order_items", arguments=arguments, id=id)


def test_the_papers_refund_is_redirected_to_the_gift_card() -> None:
    lookup = read(
        "find_user_id_by_name_zip", "1", first_name="Chen", last_name="Silva", zip="46281"
    )
    refused, accepted = refund_to(MASTERCARD, "4"), refund_to(CHENS_GIFT, "5")
    model = ScriptedModel(
        [
            Reply(calls=(lookup,)),
            Reply(calls=(look(chen(), "2")[0],)),
            Reply(calls=(look(tablets(), "3")[0],)),
            Reply(text="I'll refund $989.70 to your Mastercard ending 2732. Do you confirm?"),
            Reply(calls=(refused,)),
            Reply(text="It can only go to the gift card that paid for it. Is that fine?"),
            Reply(calls=(accepted,)),
            Reply(text="The return is under way."),
        ]
    )
    agent = LedgerAgent(gate=Gate(domain=RETAIL), model=model)
    agent.step(UserMessage(text="I'm Chen Silva, zip 46281. Return the dearer tablet, please."))
    agent.step(ToolReturn(call_id="1", content=CHEN))
    agent.step(ToolReturn(call_id="2", content=json.dumps(chen())))
    agent.step(ToolReturn(call_id="3", content=json.dumps(tablets())))

    said = agent.step(UserMessage(text="Yes, refund $989.70 to my Mastercard ending 2732."))
    [verdict] = agent.verdicts[-2].verdicts
    assert verdict.call == refused
    assert verdict.decision is Decision.REVISE
    [finding] = verdict.findings
    assert finding.predicate == "retail/refund-destination"
    facts = {fact.path: fact.value for fact in finding.evidence}
    assert facts[f"orders.{TABLET_ORDER}.payment_history"] == tablets()["payment_history"]
    assert facts[f"users.{CHEN}.payment_methods"] == chen()["payment_methods"]
    assert finding.reason == (
        f"payment_method_id {MASTERCARD} cannot take the refund for order {TABLET_ORDER}: it goes "
        f"back to the original payment method or to a gift card of the customer, so choose "
        f"{CHENS_GIFT}"
    )
    assert model.prompts[5][2] == f"{refused.name} was not executed: {finding.reason}"
    assert said.calls == ()
    assert agent.generations == 6

    sent = agent.step(UserMessage(text="Fine, to the gift card on file then."))
    assert sent.calls == (accepted,)
    after = {**tablets(), "status": "return requested"}
    agent.step(ToolReturn(call_id="5", content=json.dumps(after)))
    assert agent.state.ledger.writes == (accepted,)
    assert agent.generations == 8
    entry = agent.state.ledger.get(Path(("orders", TABLET_ORDER)))
    assert entry is not None
    assert (entry.source, entry.stale) == (accepted, ())
