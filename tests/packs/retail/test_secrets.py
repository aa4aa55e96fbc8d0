"""Nothing of a stranger's record is told: each of its fields holds a secret, and no refusal repeats it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgeragent import Gate, Reply, Session, ToolCall
from ledgeragent.types import Json
from tests.packs.retail.talk import (
    FRIEND,
    GIFT,
    HAT,
    ME,
    ORDER,
    PAYPAL,
    RETAIL,
    SECOND,
    SHOE,
    SHOE_BLACK,
    address,
    by_email,
    cancel,
    exchange,
    give_back,
    item,
    look,
    modify,
    order,
    payment,
    profile,
    read,
    shoes,
    talk,
    user,
)

STATUSES = ("pending", "delivered", "cancelled", "return requested", "pending (item modified)")
KEYS = {"order_id", "status", "source", "transaction_type", "user_id"}
"""What a secret would turn into something else: ids that the call names, and enumerations."""

WRITES = (
    cancel(SECOND),
    cancel(SECOND, "too dear"),
    address(SECOND),
    payment(PAYPAL, SECOND),
    payment(GIFT, SECOND),
    *(
        ToolCall(name=call.name, arguments={**call.arguments, "order_id": SECOND}, id="w")
        for call in (
            modify([SHOE], [SHOE_BLACK]),
            exchange([SHOE], [SHOE]),
            exchange([SHOE, HAT], [SHOE_BLACK], GIFT),
        )
    ),
    give_back([SHOE], PAYPAL, SECOND),
    give_back([], GIFT, SECOND),
    profile(FRIEND),
)


def hidden(value: Json, secrets: list[str]) -> Json:
    """The record with a secret for each text and number in it."""
    if isinstance(value, dict):
        return {
            name: inner if name in KEYS else hidden(inner, secrets) for name, inner in value.items()
        }
    if isinstance(value, list):
        return [hidden(inner, secrets) for inner in value]
    number = 7_770_001 + len(secrets)
    secrets.append(str(number))
    return float(number) if isinstance(value, int | float) else f"secret{number}"


def strangers(status: str, secrets: list[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    theirs = hidden(order(status, item(SHOE), owner=FRIEND, order_id=SECOND), secrets)
    them = hidden(user(FRIEND), secrets)
    methods = them["payment_methods"]
    them["payment_methods"] = {f"gift_card_{secrets[-1]}": {**methods["gift_card_99"]}}
    return theirs, them


def located_as(served: str | None) -> list[tuple[ToolCall, Json]]:
    return [(by_email(), served), look(user())] if served is not None else []


@settings(max_examples=60, deadline=None)
@given(
    status=st.sampled_from(STATUSES),
    served=st.sampled_from([ME, None]),
    opened=st.booleans(),
    second=st.booleans(),
    calls=st.lists(st.sampled_from(WRITES), min_size=1, max_size=3, unique_by=str),
)
def test_no_refusal_tells_what_a_strangers_record_holds(
    status: str, served: str | None, opened: bool, second: bool, calls: list[ToolCall]
) -> None:
    secrets: list[str] = []
    theirs, them = strangers(status, secrets)
    steps = [*located_as(served), look(theirs), look(shoes())]
    steps += [look(them)] if opened else []
    steps += [(by_email("bo@example.com"), FRIEND)] if second and served else []
    filtered = talk(*steps).filter(Reply(calls=tuple(calls)))
    assert filtered.execute == ()
    told = [filtered.refusal, filtered.feedback, *(r.content for r in filtered.returns)]
    told += [finding.reason for v in filtered.verdicts for finding in (*v.findings, *v.shadow)]
    for secret in secrets:
        assert not any(secret in text for text in told)
    if served is not None:
        assert FRIEND not in filtered.refusal
        assert ME not in filtered.refusal


@pytest.mark.parametrize("call", WRITES, ids=str)
def test_a_strangers_record_is_refused_as_such_and_for_nothing_else(call: ToolCall) -> None:
    theirs, them = strangers("pending", [])
    session = talk((by_email(), ME), look(user()), look(theirs), look(them))
    verdict = session.gate.judge(call, session.ledger)
    assert {finding.clause for finding in verdict.findings} == {"retail/one-user"}


def test_nothing_but_whose_it_is_comes_before_the_customer_is_known() -> None:
    session = Session(RETAIL)
    theirs, them = strangers("delivered", [])
    for call in WRITES:
        verdict = Gate(domain=RETAIL).judge(call, session.ledger)
        rules = {rule.id: rule for rule in RETAIL.predicates}
        assert all(rules[finding.predicate].identity for finding in verdict.findings)
    session = talk(look(theirs), look(them))
    for call in WRITES:
        verdict = session.gate.judge(call, session.ledger)
        assert [finding.predicate for finding in verdict.findings] == ["retail/authenticated"]


def test_a_method_of_somebody_else_is_not_repeated_to_the_customer() -> None:
    theirs = "gift_card_99"
    before = (
        (by_email(), ME),
        look(user()),
        look(user(FRIEND)),
        look(order()),
        look(order("delivered", order_id=SECOND)),
        look(shoes()),
    )
    for call in (
        payment(theirs),
        modify([SHOE], [SHOE_BLACK], theirs),
        give_back([SHOE], theirs, SECOND),
    ):
        filtered = talk(*before).filter(Reply(calls=(call,)))
        assert theirs in filtered.feedback
        assert theirs not in filtered.refusal
        assert "payment_method_id" not in filtered.refusal
        assert GIFT in filtered.refusal


def test_the_customer_hears_no_argument_names() -> None:
    looks = (look(user()), look(order()), look(order("delivered", order_id=SECOND)), look(shoes()))
    wrong = (
        cancel(ORDER, "too dear"),
        payment(GIFT),
        modify([SHOE], [SHOE]),
        modify([], []),
        modify([SHOE, SHOE], [SHOE_BLACK, SHOE_BLACK]),
        modify([SHOE], [SHOE_BLACK, HAT]),
        modify([HAT], [SHOE]),
        give_back([SHOE], PAYPAL, SECOND),
        read("cancel_pending_order", order_id=SECOND, reason="no longer needed"),
    )
    for call in wrong:
        filtered = talk((by_email(), ME), *looks).filter(Reply(calls=(call,)))
        assert filtered.execute == ()
        assert filtered.refusal.startswith("I can't do that: ")
        for name in ("item_ids", "payment_method_id", "order_id", "user_id", "get_"):
            assert name not in filtered.refusal
