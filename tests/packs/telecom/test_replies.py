"""Replies of several writes, in the order they stand and at once; writes whose result is lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from ledgeragent.gate import Filtered, Gate
from ledgeragent.plan import Order
from ledgeragent.types import Reply, ToolCall, ToolReturn
from tests.packs.talk import asked, violated
from tests.packs.telecom.talk import (
    ON_LINE,
    TELECOM,
    TelecomTalk,
    bill,
    customer,
    known,
    line,
    request,
    resume,
)

ORDERS: tuple[Order, ...] = ("any", "listed")


def refuel(amount: Any, line_id: str = "L71") -> ToolCall:
    arguments = {"customer_id": "C7", "line_id": line_id, "gb_amount": amount}
    return ToolCall(name="refuel_data", arguments=arguments)


def payment(bill_id: str) -> ToolCall:
    return ToolCall(
        name="send_payment_request", arguments={"customer_id": "C7", "bill_id": bill_id}
    )


def on_line(tool: str, line_id: str = "L71", **more: Any) -> ToolCall:
    return ToolCall(name=tool, arguments={"customer_id": "C7", "line_id": line_id, **more})


def reply(talk: TelecomTalk, calls: Sequence[ToolCall], order: Order) -> Filtered:
    _, filtered = talk.state.filter(
        Reply(calls=tuple(calls)), Gate(domain=TELECOM, order=order), "drop"
    )
    return filtered


def ready() -> TelecomTalk:
    """A customer with two suspended lines, two overdue bills read."""
    return (
        known().details(line(line_id="L72")).bills(bill("B71", "Overdue"), bill("B72", "Overdue"))
    )


def paid() -> TelecomTalk:
    return known().details(line(line_id="L72")).bills(bill("B71", "Paid"), bill("B72", "Paid"))


CONFLICTS = [
    (ready, [payment("B71"), payment("B72")]),
    (ready, [payment("B71"), payment("B71")]),
    (paid, [refuel(2), refuel(2)]),
    (paid, [refuel(1.5), refuel(1.0)]),
    (paid, [refuel("1.5"), refuel(0.6)]),
    (paid, [on_line("resume_line"), on_line("resume_line")]),
    (paid, [on_line("suspend_line", reason="x"), on_line("resume_line")]),
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("talk", "calls"), CONFLICTS)
def test_what_is_against_the_policy_together_is_not_let_through(
    talk: Any, calls: Sequence[ToolCall], order: Order
) -> None:
    filtered = reply(talk(), calls, order)
    first, second = filtered.verdicts
    assert first.allowed and not second.allowed
    assert not second.violations
    assert second.waits_for == (first.call,)


@pytest.mark.parametrize(("talk", "calls"), CONFLICTS[:1])
def test_the_second_is_asked_to_wait_and_not_accused(talk: Any, calls: Sequence[ToolCall]) -> None:
    feedback = reply(talk(), calls, "listed").feedback
    assert "wait for the result of send_payment_request" in feedback
    assert "is Awaiting Payment" not in feedback


def test_roaming_on_and_off_at_once_depends_on_the_order() -> None:
    calls = [on_line("enable_roaming"), on_line("disable_roaming")]
    assert [v.allowed for v in reply(paid(), calls, "any").verdicts] == [True, False]
    assert [v.allowed for v in reply(paid(), calls, "listed").verdicts] == [True, True]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    "calls",
    [
        [on_line("enable_roaming"), on_line("enable_roaming", "L72")],
        [on_line("resume_line"), on_line("resume_line", "L72")],
        [on_line("enable_roaming"), on_line("resume_line")],
        [refuel(2), refuel(2, "L72")],
    ],
)
def test_what_does_not_disturb_each_other_is_let_through(
    calls: Sequence[ToolCall], order: Order
) -> None:
    draft = paid().details(bill("B72", "Draft"))
    filtered = reply(draft, calls, order)
    first, second = filtered.verdicts
    both_on_one_bill = calls[0].name == "refuel_data" and order == "any"
    assert first.allowed
    assert second.allowed is not both_on_one_bill


@pytest.mark.parametrize(("amounts", "allowed"), [((0.1,) * 20, True), ((0.1,) * 21, False)])
def test_portions_are_added_exactly(amounts: tuple[float, ...], allowed: bool) -> None:
    talk = known()
    for amount in amounts[:-1]:
        talk.tool("refuel_data", {"message": "done"}, **ON_LINE, gb_amount=amount)
    assert talk.judge("refuel_data", **ON_LINE, gb_amount=amounts[-1]).allowed is allowed


def test_portions_of_other_lines_and_refused_ones_do_not_count() -> None:
    talk = known().tool(
        "refuel_data", {"message": "done"}, **{**ON_LINE, "line_id": "L72"}, gb_amount=2
    )
    talk.tool("refuel_data", "Error: Refuel amount must be positive", **ON_LINE, gb_amount=2)
    talk.tool("refuel_data", {"message": "done"}, **ON_LINE, gb_amount="two")
    assert talk.judge("refuel_data", **ON_LINE, gb_amount=2).allowed


def test_the_sentence_tells_what_is_left() -> None:
    talk = known().tool("refuel_data", {"message": "done"}, **ON_LINE, gb_amount=1.5)
    verdict = talk.judge("refuel_data", **ON_LINE, gb_amount=1)
    assert violated(verdict) == {"telecom/refuel-max"}
    assert "1.5 GB were added to line L71 already" in verdict.feedback
    assert "0.5 GB are left" in verdict.feedback


def lost(talk: TelecomTalk, call: ToolCall) -> TelecomTalk:
    state = talk.state.observe(Reply(calls=(replace(call, id="lost"),)), TELECOM)
    answer = ToolReturn(call_id="lost", content="Error: connection lost", error=True)
    talk.state = state.observe(answer, TELECOM)
    return talk


def test_a_lost_request_has_its_bill_read_first() -> None:
    talk = lost(ready(), payment("B71"))
    for bill_id in ("B71", "B72"):
        assert not request(talk, bill_id).violations
        assert 'get_details_by_id(id="B71")' in asked(request(talk, bill_id))
    assert request(talk.details(bill("B71", "Overdue")), "B71").allowed


def test_a_lost_resumption_has_its_line_read_first() -> None:
    talk = lost(paid(), on_line("resume_line"))
    assert asked(resume(talk)) == {'get_details_by_id(id="L71")'}
    assert resume(talk.details(line())).allowed


@pytest.mark.parametrize(("refuelled", "allowed"), [("0.0", True), ("2.0", False)])
def test_a_lost_refuel_has_the_usage_read_first(refuelled: str, allowed: bool) -> None:
    talk = lost(known(), refuel(2))
    assert asked(talk.judge("refuel_data", **ON_LINE, gb_amount=2)) == {
        'get_data_usage(customer_id="C7", line_id="L71")'
    }
    usage = {
        "line_id": "L71",
        "data_used_gb": "1",
        "data_limit_gb": "5",
        "data_refueling_gb": refuelled,
    }
    talk.tool("get_data_usage", usage, **ON_LINE)
    assert talk.judge("refuel_data", **ON_LINE, gb_amount=2).allowed is allowed


def test_a_hand_over_beside_a_refuel_waits_for_nothing_it_needs_not() -> None:
    calls = [
        on_line("enable_roaming"),
        ToolCall(name="transfer_to_human_agents", arguments={"summary": "x"}),
    ]
    assert all(verdict.allowed for verdict in reply(paid(), calls, "any").verdicts)


def test_a_customer_of_nobody_is_known_by_their_record_alone() -> None:
    talk = TelecomTalk().user().tool("get_customer_by_id", customer(), customer_id="C7")
    assert talk.judge("enable_roaming", **ON_LINE).allowed
