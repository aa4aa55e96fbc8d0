"""Items that are returned, exchanged or modified."""

from __future__ import annotations

import json

import pytest

from ledgeragent import (
    Decision,
    Kind,
    Reply,
    ToolCall,
    ToolReturn,
    load_domain,
)
from ledgeragent.testing import assert_revises, judge
from ledgeragent.types import Json
from tests.packs.retail.talk import (
    GIFT,
    HAT,
    HATS,
    ME,
    ORDER,
    RETAIL,
    SECOND,
    SHOE,
    SHOE_BLACK,
    SHOE_GONE,
    SHOES,
    asked_for,
    by_email,
    exchange,
    give_back,
    item,
    known,
    look,
    modify,
    order,
    shoes,
    talk,
    user,
    verdict_of,
)
from tests.packs.talk import asked, violated


def test_two_of_one_kind_are_in_the_order_twice_and_not_three_times() -> None:
    records = known(order("delivered", item(SHOE), item(SHOE)))
    for count, decision in ((1, Decision.ALLOW), (2, Decision.ALLOW), (3, Decision.REVISE)):
        call = give_back([SHOE] * count)
        assert judge(RETAIL, records, call.name, **call.arguments).decision is decision


@pytest.mark.parametrize("items", [SHOE, None, [{"item_id": SHOE}], [None], 7])
def test_items_of_the_wrong_shape_are_sent_back(items: Json) -> None:
    call = give_back(items)
    verdict = assert_revises(RETAIL, known(order("delivered")), call.name, **call.arguments)
    assert [finding.predicate for finding in verdict.findings] == ["gate/arguments"]


def test_lists_that_do_not_pair_are_answered_by_their_own_rule() -> None:
    call = modify([SHOE, HAT], [SHOE_BLACK])
    verdict = judge(RETAIL, known(order(), shoes()), call.name, **call.arguments)
    assert {finding.predicate for finding in verdict.findings} == {"retail/item-pairs"}


def test_pairs_in_the_wrong_order_are_of_another_product() -> None:
    call = modify([HAT, SHOE], [SHOE_BLACK, HAT])
    hats = {"name": "Sun Hat", "product_id": HATS, "variants": {HAT: shoes()["variants"][SHOE]}}
    verdict = judge(RETAIL, known(order(), shoes(), hats), call.name, **call.arguments)
    assert violated(verdict) == {"retail/item-same-product"}


@pytest.mark.parametrize(
    "change",
    [
        {"items": None},
        {"items": [None]},
        {"items": [{**item(SHOE), "item_id": 9001}]},
        {"items": [{**item(SHOE), "price": "50.0"}]},
        {"payment_history": {}},
        {"user_id": 7},
    ],
    ids=str,
)
def test_a_record_of_another_shape_is_no_evidence(change: Json) -> None:
    session = talk((by_email(), ME), look({**order("delivered"), **change}), look(shoes()))
    for call in (give_back([SHOE]), exchange([SHOE], [SHOE_BLACK])):
        verdict = verdict_of(session, call)
        assert verdict.decision is Decision.REVISE
        assert violated(verdict) == set()
        assert asked(verdict) == {f'get_order_details(order_id="{ORDER}")'}


@pytest.mark.parametrize("call", [give_back([]), modify([], []), exchange([], [])])
def test_a_call_on_no_item_is_sent_back_with_the_items_there_are(call: ToolCall) -> None:
    status = "pending" if call.name.startswith("modify") else "delivered"
    verdict = judge(RETAIL, known(order(status), user()), call.name, **call.arguments)
    assert violated(verdict) == {"retail/items-in-order"}
    assert "item_ids is empty" in verdict.feedback
    assert f"{SHOE} (Running Shoe) or {HAT} (Sun Hat)" in verdict.feedback


@pytest.mark.parametrize(
    ("items", "told"),
    [
        (
            [SHOE, SHOE],
            f"item {SHOE} in item_ids is named 2 times, but order {ORDER} holds it once",
        ),
        (["9"], f"item 9 in item_ids is not in order {ORDER}; choose from its items"),
        ([f"{SHOE} "], "is not in order"),
        ([""], "is not in order"),
    ],
)
def test_it_is_told_which_item_is_wrong_and_how(items: list[str], told: str) -> None:
    call = give_back(items)
    verdict = judge(RETAIL, known(order("delivered")), call.name, **call.arguments)
    assert violated(verdict) == {"retail/items-in-order"}
    assert told in verdict.feedback


PRODUCT_READ = {f'get_product_details(product_id="{SHOES}")'}


def test_an_exchange_for_itself_needs_no_product() -> None:
    call = exchange([SHOE], [SHOE])
    verdict = judge(RETAIL, known(order("delivered")), call.name, **call.arguments)
    assert violated(verdict) == {"retail/item-different-option"}
    assert verdict.missing == ()


def test_the_product_is_asked_for_once_and_by_name() -> None:
    call = exchange([SHOE], [SHOE_BLACK])
    verdict = judge(RETAIL, known(order("delivered")), call.name, **call.arguments)
    assert asked(verdict) == PRODUCT_READ
    assert verdict.feedback.count("get_product_details") == 1


def test_a_violation_does_not_hide_behind_a_request() -> None:
    call = exchange([HAT, SHOE], ["9102", SHOE_GONE])
    verdict = judge(RETAIL, known(order("delivered"), shoes()), call.name, **call.arguments)
    assert violated(verdict) == {"retail/item-available"}


def test_an_order_that_lists_the_new_item_tells_its_product_and_nothing_else() -> None:
    other = order("delivered", item(SHOE_BLACK), order_id=SECOND)
    call = modify([SHOE], [SHOE_BLACK])
    both = order("pending", item(SHOE), item(SHOE_BLACK))
    for records in ([order()], [order(), other], [both]):
        assert asked_for(call, *records) == PRODUCT_READ
    verdict = judge(RETAIL, known(order()), call.name, **modify([SHOE], [HAT]).arguments)
    assert violated(verdict) == {"retail/item-same-product"}
    assert verdict.missing == ()
    for price in (40.0, 80.0):
        priced = order("delivered", item(SHOE_BLACK, price=price), order_id=SECOND)
        gift = modify([SHOE], [SHOE_BLACK], GIFT)
        assert asked_for(gift, order(), priced, user()) == PRODUCT_READ
    stock = shoes()["variants"][SHOE_BLACK]
    assert asked_for(call, order(), other, stock) == set()


def test_an_odd_order_elsewhere_is_its_own_affair() -> None:
    odd = {**order(order_id=SECOND), "items": None}
    session = talk((by_email(), ME), look(order()), look(odd))
    assert asked(verdict_of(session, modify([SHOE], [SHOE_BLACK]))) == PRODUCT_READ


def test_items_of_an_order_written_since_tell_nothing() -> None:
    other = order("pending", item(SHOE_BLACK), order_id=SECOND)
    written = ToolCall(
        name="modify_pending_order_items",
        arguments={**modify([SHOE_BLACK], [SHOE]).arguments, "order_id": SECOND},
        id="w",
    )
    session = talk((by_email(), ME), look(order()), look(other), (written, "{}"))
    assert asked(verdict_of(session, modify([SHOE], [SHOE_BLACK]))) == PRODUCT_READ


def test_the_latest_look_at_an_item_counts() -> None:
    gone = {**shoes()["variants"][SHOE_BLACK], "available": False}
    session = talk((by_email(), ME), look(order()), look(shoes()), look(gone))
    assert violated(verdict_of(session, modify([SHOE], [SHOE_BLACK]))) == {"retail/item-available"}
    session.heard("Is it back?")
    session.state = session.state.observe(Reply(calls=(look(shoes())[0],)), RETAIL)
    session.observe(ToolReturn(call_id="1", content=json.dumps(shoes())))
    assert verdict_of(session, modify([SHOE], [SHOE_BLACK])).allowed


def test_a_tool_the_agent_lacks_is_never_asked_for() -> None:
    bound = load_domain(
        "retail", tools=["find_user_id_by_email", "get_order_details", "modify_pending_order_items"]
    )
    call = modify([SHOE], [SHOE_BLACK])
    verdict = judge(bound, known(order()), call.name, **call.arguments)
    assert verdict.decision is Decision.BLOCK
    assert {finding.kind for finding in verdict.findings} == {Kind.UNDECIDED}
    verdict = judge(bound, {f"orders.{ORDER}": order()}, call.name, **call.arguments)
    assert asked(verdict) == {"find_user_id_by_email()"}
