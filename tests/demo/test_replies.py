"""Replies of several writes: however they are run, the shop pays once."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import pytest

from ledgeragent import Gate, LedgerAgent, Reply, Session, ToolCall, load_domain
from ledgeragent.demo.shop.shop import Shop
from ledgeragent.testing import ScriptedModel
from ledgeragent.types import Json, ToolReturn, UserMessage

SHOP = load_domain("shop")


def call(tool: str, id: str = "", **arguments: Json) -> ToolCall:
    return ToolCall(name=tool, arguments=arguments, id=id or tool)


def refund(id: str, quantity: int = 2, amount: float = 49.0) -> ToolCall:
    what = {"order_id": "G-1012", "parcel_id": "P-33", "sku": "secateurs"}
    return call("refund_item", id, **what, quantity=quantity, amount=amount)


ELENA = (
    call("find_customer", email="elena.ricci@example.net"),
    call("get_order", order_id="G-1012"),
    call("get_parcel", parcel_id="P-33"),
)
NOOR = (
    call("find_customer", email="noor.haddad@example.com"),
    call("get_order", order_id="G-1020"),
    call("get_voucher", code="WREN-80"),
    call("get_product", sku="lavender"),
)
PAID = "orders.G-1012.refunded"

REPLIES: list[tuple[tuple[ToolCall, ...], tuple[ToolCall, ...], str, list[Json]]] = [
    (ELENA, (refund("a"), refund("b")), PAID, [49.0]),
    (ELENA, (refund("a", 1, 24.5), refund("b")), PAID, [24.5]),
    (ELENA, (refund("a", 1, 24.5), refund("b", 1, 24.5), refund("c")), PAID, [24.5]),
    (
        NOOR,
        (
            call("apply_voucher", "a", order_id="G-1020", code="WREN-80", amount=69.0),
            call("apply_voucher", "b", order_id="G-1020", code="WREN-80", amount=11.0),
        ),
        "orders.G-1020.due",
        [0.0],
    ),
    (
        NOOR,
        (
            call("cancel_order", "a", order_id="G-1020"),
            call("apply_voucher", "b", order_id="G-1020", code="WREN-80", amount=69.0),
        ),
        "orders.G-1020.status",
        ["cancelled"],
    ),
    (
        NOOR,
        (
            call("change_quantity", "a", order_id="G-1020", sku="lavender", quantity=0),
            call("change_quantity", "b", order_id="G-1020", sku="stone-trough", quantity=0),
        ),
        "orders.G-1020.lines.lavender.quantity",
        [None],
    ),
]


def prepared(shop: Shop, reads: tuple[ToolCall, ...]) -> Session:
    session = Session(SHOP)
    session.heard("hello")
    for read in reads:
        assert session.filter(Reply(calls=(read,))).execute
        session.observe(shop.execute(read))
    return session


@pytest.mark.parametrize(("reads", "calls", "path", "values"), REPLIES)
def test_a_session_lets_through_only_what_no_order_can_break(
    reads: tuple[ToolCall, ...], calls: tuple[ToolCall, ...], path: str, values: list[Json]
) -> None:
    for order in permutations(range(len(calls))):
        with Shop() as shop:
            session = prepared(shop, reads)
            filtered = session.filter(Reply(calls=calls))
            assert filtered.execute == calls[:1]
            for verdict in filtered.verdicts[1:]:
                assert verdict.waits_for
                assert all(waited is calls[0] for waited in verdict.waits_for)
            for number in (n for n in order if calls[n] in filtered.execute):
                session.observe(shop.execute(calls[number]))
            assert [change.after for change in shop.diff() if change.path == path] == values


@pytest.mark.parametrize(
    "answer",
    [
        lambda shop, sent: None,
        lambda shop, sent: ToolReturn(call_id=sent.id, content="Error: timed out", error=True),
        lambda shop, sent: ToolReturn(call_id=sent.id, content="504 Gateway Timeout"),
        lambda shop, sent: ToolReturn(call_id=sent.id, content="", lost=True),
        lambda shop, sent: shop.execute(sent),
    ],
    ids=["never", "timeout", "gateway", "lost", "late"],
)
def test_a_refund_whose_result_does_not_come_is_not_paid_again(
    answer: Callable[[Shop, ToolCall], ToolReturn | None],
) -> None:
    with Shop() as shop:
        session = prepared(shop, ELENA)
        assert session.filter(Reply(calls=(refund("a"),))).execute
        returned = answer(shop, refund("a"))
        if returned is not None:
            session.observe(returned)
        again = session.filter(Reply(calls=(refund("b"),)))
        assert again.execute == ()
        assert not again.verdicts[0].violations
        assert session.filter(Reply(calls=(ELENA[2],))).execute
        session.observe(shop.execute(ELENA[2]))
        paid = {change.path: change.after for change in shop.diff()}.get(PAID, 0.0)
        once_more = session.filter(Reply(calls=(refund("c"),)))
        assert bool(once_more.execute) is (paid == 0.0)


def test_the_agent_pays_once_and_says_so() -> None:
    model = ScriptedModel(
        [
            *(Reply(calls=(read,)) for read in ELENA),
            Reply(calls=(refund("a"), refund("b"))),
            Reply(calls=(refund("c"),)),
            Reply(calls=(ELENA[2],)),
            Reply(calls=(refund("d"),)),
            Reply(text="Your 49.00 are on the way back."),
        ]
    )
    agent = LedgerAgent(gate=Gate(domain=SHOP), model=model)
    with Shop() as shop:
        reply = agent.step(UserMessage(text="elena.ricci@example.net, refund both, please."))
        while reply.calls:
            reply = agent.step(*[shop.execute(sent) for sent in reply.calls])
        assert {change.path: change.after for change in shop.diff()}[PAID] == 49.0
    assert reply.text == "Your 49.00 are on the way back."
    told = [filtered.feedback for filtered in agent.verdicts]
    assert "wait for the result of refund_item(" in told[3]
    assert 'call get_parcel(parcel_id="P-33") first' in told[4]
    assert "none of those in parcel P-33 can be" in told[6]
