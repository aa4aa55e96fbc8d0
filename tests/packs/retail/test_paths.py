"""Where the shop's reads land, and what its writes make unknown, field by field."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from ledgeragent import (
    Decision,
    Path,
    Session,
    ToolCall,
)
from ledgeragent.types import Json
from tests.packs.retail.talk import (
    CARD,
    FRIEND,
    GIFT,
    HAT,
    HATS,
    ME,
    ORDER,
    PAYPAL,
    RETAIL,
    SECOND,
    SHOE,
    SHOE_BLACK,
    SHOES,
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
    verdict_of,
)
from tests.packs.talk import asked, violated

# Routes


@pytest.mark.parametrize(
    ("call", "answer", "path", "value"),
    [
        (by_email(), ME, "auth.user_id", ME),
        (
            read("find_user_id_by_name_zip", first_name="Ada", last_name="Lund", zip="97301"),
            ME,
            "auth.user_id",
            ME,
        ),
        (by_email(), ME, "auth.course", {f"located:{ME}": "email"}),
        (*look(user(FRIEND)), "auth.course", {f"opened:{FRIEND}": "profile"}),
        (*look(order(owner=FRIEND)), "auth.course", {f"handled:{FRIEND}": "order"}),
        (*look(user()), f"users.{ME}", user()),
        (*look(order()), f"orders.{ORDER}", order()),
        (*look(shoes()), f"products.{SHOES}", shoes()),
        (
            *look(shoes()["variants"][SHOE]),
            f"items.{SHOE}",
            shoes()["variants"][SHOE],
        ),
        (read("list_all_product_types"), {"Sun Hat": HATS}, "product_types", {"Sun Hat": HATS}),
    ],
)
def test_each_read_lands_at_its_path(call: ToolCall, answer: Json, path: str, value: Json) -> None:
    entry = talk((call, answer)).ledger.get(Path.parse(path))
    assert entry is not None
    assert entry.value == value
    assert entry.source == call


def test_a_record_is_filed_under_its_own_id() -> None:
    session = talk((read("get_order_details", order_id="w10"), order()))
    assert session.ledger.get(Path(("orders", ORDER))) is not None
    assert session.ledger.get(Path(("orders", "w10"))) is None


@pytest.mark.parametrize(
    ("path", "reads"),
    [
        ("auth.user_id", {"find_user_id_by_email()", "find_user_id_by_name_zip()"}),
        ("orders.#W10", {'get_order_details(order_id="#W10")'}),
        (f"users.{ME}", {f'get_user_details(user_id="{ME}")'}),
        ("products.8001", {'get_product_details(product_id="8001")'}),
        ("items.9001", {'get_item_details(item_id="9001")'}),
    ],
)
def test_each_path_names_the_read_that_supplies_it(path: str, reads: set[str]) -> None:
    assert {str(call) for call in RETAIL.reads_for(Path.parse(path))} == reads


@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: text,
        lambda text: json.dumps(text),
        lambda text: json.dumps({"result": json.loads(text)}),
        lambda text: json.dumps({"result": text}),
        lambda text: repr(json.loads(text)),
    ],
    ids=["plain", "quoted", "wrapped", "wrapped text", "python"],
)
def test_a_record_is_read_out_of_its_wrapping(wrap: Callable[[str], str]) -> None:
    looks = [look(one) for one in (user(), order(), shoes())]
    session = talk((by_email(), ME), *((c, wrap(json.dumps(r))) for c, r in looks))
    for call in (cancel(), address(), modify([SHOE], [SHOE_BLACK]), payment(PAYPAL), profile()):
        assert verdict_of(session, call).allowed
    after = wrap(json.dumps({**order(), "status": "cancelled"}))
    cancelled = talk((by_email(), ME), looks[1], (cancel(), after))
    assert violated(verdict_of(cancelled, address())) == {"retail/modify-pending"}


# Staleness, field by field


def stale_fields(session: Session, path: Path[Json]) -> set[str]:
    entry = session.ledger.get(path)
    assert entry is not None
    return {".".join(mark.fields) for mark in entry.stale}


@pytest.mark.parametrize(
    ("write", "status", "fields", "cards"),
    [
        (address(), "pending", {"address"}, set()),
        (cancel(), "pending", {"status", "cancel_reason", "payment_history"}, {GIFT}),
        (payment(CARD), "pending", {"payment_history"}, {GIFT}),
        (modify([SHOE], [SHOE_BLACK], CARD), "pending", {"status", "items", "payment_history"}, set()),
        (modify([SHOE], [SHOE_BLACK], GIFT), "pending", {"status", "items", "payment_history"}, {GIFT}),
        (
            give_back([SHOE], GIFT),
            "delivered",
            {"status", "return_items", "return_payment_method_id"},
            {GIFT},
        ),
        (
            exchange([SHOE], [SHOE_BLACK], CARD),
            "delivered",
            {
                "status",
                "exchange_items",
                "exchange_new_items",
                "exchange_payment_method_id",
                "exchange_price_difference",
            },
            set(),
        ),
    ],
    ids=lambda value: value.name if isinstance(value, ToolCall) else "",
)  # fmt: skip
def test_a_write_makes_stale_what_it_changes(
    write: ToolCall, status: str, fields: set[str], cards: set[str]
) -> None:
    paid_by_gift = order(status, paid_with=GIFT)
    session = talk((by_email(), ME), look(user()), look(paid_by_gift), (write, "{}"))
    assert stale_fields(session, Path(("orders", ORDER))) == fields
    balances = {f"payment_methods.{card}.balance" for card in cards}
    assert stale_fields(session, Path(("users", ME))) == balances


def test_a_new_profile_address_makes_only_that_stale() -> None:
    session = talk((by_email(), ME), look(user()), look(order()), (profile(), "{}"))
    assert stale_fields(session, Path(("users", ME))) == {"address"}
    assert stale_fields(session, Path(("orders", ORDER))) == set()


def test_a_new_address_leaves_status_and_items_known() -> None:
    session = talk((by_email(), ME), look(order()), look(shoes()), (address(), "{}"))
    for call in (cancel(), address(), modify([SHOE], [SHOE_BLACK])):
        assert verdict_of(session, call).allowed


def test_after_modified_items_the_order_has_to_be_read_again() -> None:
    session = talk(
        (by_email(), ME), look(order()), look(shoes()), (modify([SHOE], [SHOE_BLACK]), "{}")
    )
    for call in (cancel(), address(), modify([SHOE], [SHOE_BLACK])):
        verdict = verdict_of(session, call)
        assert verdict.decision is Decision.REVISE
        assert violated(verdict) == set()
        assert asked(verdict) == {f'get_order_details(order_id="{ORDER}")'}


def test_a_new_payment_leaves_the_status_known_and_the_history_unknown() -> None:
    session = talk((by_email(), ME), look(user()), look(order()), (payment(PAYPAL), "{}"))
    assert verdict_of(session, address()).allowed
    assert verdict_of(session, cancel()).allowed
    assert asked(verdict_of(session, payment(GIFT))) == {f'get_order_details(order_id="{ORDER}")'}


def test_a_cancelled_order_nobody_read_may_have_refunded_any_gift_card() -> None:
    session = talk((by_email(), ME), look(user()), (cancel(), "{}"))
    assert stale_fields(session, Path(("users", ME))) == {f"payment_methods.{GIFT}.balance"}


def test_a_refund_to_a_gift_card_needs_no_balance() -> None:
    second = order("delivered", order_id=SECOND)
    session = talk(
        (by_email(), ME), look(user()), look(order()), look(second), (payment(GIFT), "{}")
    )
    assert verdict_of(session, give_back([SHOE], GIFT, SECOND)).allowed
    assert violated(verdict_of(session, give_back([SHOE], PAYPAL, SECOND))) == {
        "retail/refund-destination"
    }


def test_a_failed_write_makes_nothing_stale() -> None:
    session = talk((by_email(), ME), look(order()), (cancel(), "Error: try again"))
    assert stale_fields(session, Path(("orders", ORDER))) == set()
    assert verdict_of(session, cancel()).allowed


# What writes return

PAID_AGAIN = {"transaction_type": "payment", "amount": 80.0, "payment_method_id": PAYPAL}
SIGNED = [
    (cancel(), "pending", {"status": "cancelled", "cancel_reason": "no longer needed"}),
    (address(), "pending", {}),
    (payment(PAYPAL), "pending", {"payment_history": [*order()["payment_history"], PAID_AGAIN]}),
    (give_back([SHOE]), "delivered", {"status": "return requested", "return_items": [SHOE]}),
    (exchange([SHOE], [SHOE_BLACK]), "delivered", {"status": "exchange requested"}),
]


@pytest.mark.parametrize(
    ("write", "status", "changed"), SIGNED, ids=lambda v: v.name if isinstance(v, ToolCall) else ""
)
def test_the_order_that_a_write_returns_is_an_observation(
    write: ToolCall, status: str, changed: dict[str, Json]
) -> None:
    after = {**order(status), **changed}
    before = ((by_email(), ME), look(user()), look(shoes()), look(order(status)))
    session = talk(*before, (write, after))
    entry = session.ledger.get(Path(("orders", ORDER)))
    assert entry is not None
    assert (entry.value, entry.source, entry.stale) == (after, write, ())
    again = verdict_of(session, write)
    assert asked(again) == set()
    assert again.decision is (Decision.BLOCK if "status" in changed else Decision.ALLOW)


ASKED = [
    *[(write, status) for write, status, _ in SIGNED if write != address()],
    (modify([SHOE], [SHOE_BLACK]), "pending"),
]


@pytest.mark.parametrize(("write", "status"), ASKED, ids=lambda v: getattr(v, "name", ""))
def test_the_order_from_before_tells_nothing_of_what_the_write_was_to_change(
    write: ToolCall, status: str
) -> None:
    before = ((by_email(), ME), look(user()), look(shoes()), look(order(status)))
    path = Path(("orders", ORDER))
    shown, told, lost = (
        stale_fields(talk(*before, (write, answer)), path)
        for answer in (order(status), "done", "Error: 504")
    )
    assert shown == told == lost != set()


def test_the_status_after_a_change_of_items_is_left_for_a_read() -> None:
    held = (item(SHOE_BLACK), item(HAT, HATS, 20.0))
    after = {**order("pending (item modified)", *held), "cancel_reason": "new"}
    before = ((by_email(), ME), look(user()), look(shoes()), look(order("pending")))
    session = talk(*before, (modify([SHOE], [SHOE_BLACK]), after))
    entry = session.ledger.get(Path(("orders", ORDER)))
    assert entry is not None and entry.value["cancel_reason"] == "new"
    assert entry.stale_at(("status",)) is not None
    assert asked(verdict_of(session, address())) == {f'get_order_details(order_id="{ORDER}")'}


@pytest.mark.parametrize(
    "answer", ["done", "{}", '{"success": true}', {"order_id": ORDER, "status": "cancelled"}, "[]"]
)
def test_a_receipt_tells_nothing_of_the_order(answer: Json) -> None:
    session = talk((by_email(), ME), look(order()), (cancel(), answer))
    entry = session.ledger.get(Path(("orders", ORDER)))
    assert entry is not None
    assert entry.value == order()
    verdict = verdict_of(session, address())
    assert violated(verdict) == set()
    assert asked(verdict) == {f'get_order_details(order_id="{ORDER}")'}


def test_the_balance_of_a_card_is_not_in_the_order_that_a_write_returns() -> None:
    paid = order("pending", paid_with=GIFT)
    session = talk(
        (by_email(), ME), look(user()), look(paid), (cancel(), {**paid, "status": "cancelled"})
    )
    assert stale_fields(session, Path(("users", ME))) == {f"payment_methods.{GIFT}.balance"}


def test_the_profile_that_a_write_returns_is_an_observation() -> None:
    moved = {**user(), "address": {**user()["address"], "city": "Bend"}}
    session = talk((by_email(), ME), (profile(), moved))
    entry = session.ledger.get(Path(("users", ME)))
    assert entry is not None
    assert (entry.value, entry.stale) == (moved, ())
    nameless = {name: value for name, value in moved.items() if name != "user_id"}
    entry = talk((by_email(), ME), (profile(), nameless)).ledger.get(Path(("users", ME)))
    assert entry is not None
    assert entry.value == nameless
