"""The shop's tools against its database: what they answer, change and refuse."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator

import pytest

from ledgeragent.demo.shop.shop import TOOLS, Shop, policy, tool_schemas
from ledgeragent.packs import load_domain
from ledgeragent.types import Json, ToolCall


@pytest.fixture
def shop() -> Iterator[Shop]:
    with Shop() as opened:
        yield opened


def ask(shop: Shop, tool: str, **arguments: Json) -> Json:
    """The decoded answer of a call that succeeds."""
    returned = shop.execute(ToolCall(name=tool, arguments=arguments, id="1"))
    assert not returned.failed, returned.content
    return json.loads(returned.content)


def refused(shop: Shop, tool: str, **arguments: Json) -> str:
    """The text of a call that fails, which must leave the database as it was."""
    before = shop.snapshot()
    returned = shop.execute(ToolCall(name=tool, arguments=arguments, id="1"))
    assert returned.failed and returned.error
    assert returned.call_id == "1"
    assert shop.snapshot() == before
    return str(returned.content)


def changed(shop: Shop) -> dict[str, tuple[Json, Json]]:
    return {change.path: (change.before, change.after) for change in shop.diff()}


def test_a_new_shop_has_no_changes_and_reads_make_none(shop: Shop) -> None:
    for order_id in shop.snapshot()["orders"]:
        ask(shop, "get_order", order_id=order_id)
    assert shop.diff() == ()


def test_shops_do_not_share_a_database(shop: Shop) -> None:
    with Shop() as other:
        ask(other, "end_box", box_id="B-3")
        assert shop.diff() == ()
        assert other.diff() != ()


def test_find_customer_ignores_case_and_space(shop: Shop) -> None:
    assert ask(shop, "find_customer", email=" Noor.Haddad@example.com ") == "C-13"
    assert refused(shop, "find_customer", email="nobody@example.com").startswith(
        "Error: no account"
    )


def test_a_customer_lists_what_is_on_the_account(shop: Shop) -> None:
    customer = ask(shop, "get_customer", customer_id="C-11")
    assert customer["order_ids"] == ["G-1007", "G-1008"]
    assert customer["voucher_codes"] == ["ROBIN-25"]
    assert customer["box_ids"] == ["B-3"]


def test_an_order_adds_up(shop: Shop) -> None:
    order = ask(shop, "get_order", order_id="G-1017")
    assert order["total"] == 66.0
    assert order["due"] == 56.0
    assert order["vouchers"] == {"MAY-10": {"kind": "promotion", "amount": 10.0}}


def test_nothing_is_due_once_an_order_is_packed(shop: Shop) -> None:
    assert ask(shop, "get_order", order_id="G-1007")["due"] == 0.0


@pytest.mark.parametrize(
    ("text", "found"),
    [("olive", ["olive-tree"]), ("Pots", ["stone-trough", "terracotta-pot"]), ("tractor", [])],
)
def test_search_goes_by_name_and_kind(shop: Shop, text: str, found: list[str]) -> None:
    products = ask(shop, "search_products", text=text)
    assert [product["sku"] for product in products] == found
    assert all("stock" not in product for product in products)


def test_search_takes_wildcards_and_quotes_literally(shop: Shop) -> None:
    assert ask(shop, "search_products", text="%") == []
    assert ask(shop, "search_products", text="'; DROP TABLE orders; --") == []


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("get_customer", {"customer_id": "C-99"}, "Error: there is no customer C-99"),
        ("get_order", {"order_id": "G-1"}, "Error: there is no order G-1"),
        ("get_parcel", {"parcel_id": "P-1"}, "Error: there is no parcel P-1"),
        ("get_product", {"sku": "tractor"}, "Error: there is no product tractor"),
        ("get_voucher", {"code": "NOPE"}, "Error: there is no voucher NOPE"),
        ("get_box", {"box_id": "B-99"}, "Error: there is no box B-99"),
        ("get_order", {}, "Error: get_order needs order_id"),
        ("get_order", {"order_id": "G-1007", "x": 1}, "Error: get_order takes no x"),
        ("get_order", {"order_id": 1007}, "Error: order_id must be of type str"),
        ("pause_box", {"box_id": "B-3", "months": True}, "Error: months must be of type int"),
        ("open_the_safe", {}, "Error: there is no tool open_the_safe"),
    ],
)
def test_what_cannot_be_done_is_an_error(
    shop: Shop, tool: str, arguments: dict[str, Json], message: str
) -> None:
    assert refused(shop, tool, **arguments) == message


@pytest.mark.parametrize("amount", [float("nan"), float("inf")])
def test_an_amount_is_a_number(shop: Shop, amount: float) -> None:
    assert "must be a number" in refused(
        shop, "apply_voucher", order_id="G-1020", code="WREN-80", amount=amount
    )


@pytest.mark.parametrize("sku", ["\ud800", "a\x00b", "\u202e" * 50])
def test_odd_text_is_no_crash(shop: Shop, sku: str) -> None:
    assert refused(shop, "get_product", sku=sku).startswith("Error: ")


def test_a_number_too_large_for_the_database_is_an_error(shop: Shop) -> None:
    message = refused(
        shop, "change_quantity", order_id="G-1013", sku="tomato-seed", quantity=10**30
    )
    assert message == "Error: only 200 of tomato-seed in stock"


def test_malformed_arguments_are_an_error(shop: Shop) -> None:
    returned = shop.execute(ToolCall.parse(name="get_order", arguments="{", id="7"))
    assert returned.failed and returned.call_id == "7"


def test_cancelling_an_open_order_gives_vouchers_and_stock_back(shop: Shop) -> None:
    ask(shop, "apply_voucher", order_id="G-1017", code="SWIFT-30", amount=30.0)
    ask(shop, "cancel_order", order_id="G-1017")
    after = changed(shop)
    assert after["orders.G-1017.status"] == ("open", "cancelled")
    assert after["products.climbing-rose.stock"] == (6, 9)
    assert after["orders.G-1017.due"] == (56.0, 0.0)
    assert "vouchers.SWIFT-30.balance" not in after
    assert "orders.G-1017.refunded" not in after


def test_the_tool_cancels_a_packed_order_and_refunds_it(shop: Shop) -> None:
    ask(shop, "cancel_order", order_id="G-1007")
    assert changed(shop)["orders.G-1007.refunded"] == (0.0, 64.0)
    assert refused(shop, "cancel_order", order_id="G-1007").endswith("cancelled already")


def test_changing_the_address(shop: Shop) -> None:
    address = {"street": "Kade 3", "postcode": "9000", "city": "Gent", "country": "BE"}
    ask(shop, "change_address", order_id="G-1020", **address)
    assert ask(shop, "get_order", order_id="G-1020")["delivery"]["address"] == address


def test_a_quantity_moves_stock_and_total(shop: Shop) -> None:
    ask(shop, "change_quantity", order_id="G-1020", sku="lavender", quantity=5)
    after = changed(shop)
    assert after["products.lavender.stock"] == (40, 38)
    assert after["orders.G-1020.total"] == (69.0, 88.0)


def test_a_product_is_added_at_todays_price_and_kept_at_the_agreed_one(shop: Shop) -> None:
    ask(shop, "change_quantity", order_id="G-1020", sku="secateurs", quantity=1)
    line = ask(shop, "get_order", order_id="G-1020")["lines"]["secateurs"]
    assert line["unit_price"] == 29.0
    assert refused(shop, "change_quantity", order_id="G-1020", sku="secateurs", quantity=1)


@pytest.mark.parametrize(("sku", "quantity"), [("fig-tree", 1), ("lavender", 44), ("lavender", -1)])
def test_stock_never_goes_below_zero(shop: Shop, sku: str, quantity: int) -> None:
    refused(shop, "change_quantity", order_id="G-1020", sku=sku, quantity=quantity)


def test_a_gift_voucher_is_used_up_and_a_promotion_is_not(shop: Shop) -> None:
    ask(shop, "apply_voucher", order_id="G-1020", code="WREN-80", amount=20.0)
    ask(shop, "apply_voucher", order_id="G-1020", code="MAY-10", amount=10.0)
    after = changed(shop)
    assert after["vouchers.WREN-80.balance"] == (80.0, 60.0)
    assert "vouchers.MAY-10.balance" not in after
    assert after["orders.G-1020.due"] == (69.0, 39.0)


@pytest.mark.parametrize("amount", [80.01, 0.0, -5.0])
def test_a_voucher_is_not_overdrawn(shop: Shop, amount: float) -> None:
    refused(shop, "apply_voucher", order_id="G-1020", code="WREN-80", amount=amount)


def test_a_voucher_is_used_once_an_order(shop: Shop) -> None:
    ask(shop, "apply_voucher", order_id="G-1020", code="WREN-80", amount=20.0)
    refused(shop, "apply_voucher", order_id="G-1020", code="WREN-80", amount=20.0)


def test_a_refund_is_paid_and_noted_on_the_parcel(shop: Shop) -> None:
    claim = {"order_id": "G-1012", "parcel_id": "P-33", "sku": "secateurs", "quantity": 1}
    ask(shop, "refund_item", **claim, amount=24.5)
    assert changed(shop) == {
        "orders.G-1012.refunded": (0.0, 24.5),
        "parcels.P-33.items.secateurs.refunded": (0, 1),
    }
    assert refused(shop, "refund_item", **claim, amount=0.0)
    assert refused(shop, "refund_item", **{**claim, "sku": "spade"}, amount=1.0)
    assert refused(shop, "refund_item", **{**claim, "quantity": 0}, amount=1.0)
    assert refused(shop, "refund_item", **{**claim, "order_id": "G-0"}, amount=1.0)


def test_a_replacement_comes_out_of_stock(shop: Shop) -> None:
    claim = {"order_id": "G-1021", "parcel_id": "P-38", "quantity": 1}
    ask(shop, "send_replacement", **claim, sku="terracotta-pot")
    assert changed(shop) == {
        "parcels.P-38.items.terracotta-pot.replaced": (0, 1),
        "products.terracotta-pot.stock": (30, 29),
    }
    assert "only 0 of fig-tree" in refused(shop, "send_replacement", **claim, sku="fig-tree")


def test_a_paused_box_comes_later(shop: Shop) -> None:
    ask(shop, "pause_box", box_id="B-3", months=2)
    assert changed(shop) == {
        "boxes.B-3.next_box_on": ("2026-06-05", "2026-08-05"),
        "boxes.B-3.status": ("active", "paused"),
    }
    refused(shop, "pause_box", box_id="B-7", months=1)
    refused(shop, "pause_box", box_id="B-3", months=0)


def test_an_ended_box_is_not_sent(shop: Shop) -> None:
    ask(shop, "end_box", box_id="B-3")
    assert changed(shop)["boxes.B-3.next_box_on"] == ("2026-06-05", None)


def test_handing_over_changes_nothing(shop: Shop) -> None:
    ask(shop, "hand_over", summary="wants to become a supplier")
    assert shop.diff() == ()


def test_schemas_functions_and_pack_list_the_same_tools() -> None:
    domain = load_domain("shop")
    schemas = {schema["function"]["name"]: schema["function"] for schema in tool_schemas()}
    assert set(schemas) == set(TOOLS) == {tool.tool for tool in domain.tools}


@pytest.mark.parametrize("schema", tool_schemas(), ids=lambda s: s["function"]["name"])
def test_a_schema_describes_its_function(schema: Json) -> None:
    function = schema["function"]
    names = list(inspect.signature(TOOLS[function["name"]]).parameters)[1:]
    assert list(function["parameters"]["properties"]) == names
    assert function["parameters"]["required"] == names
    assert function["description"]


def test_every_clause_stands_in_the_policy_and_nothing_else_does() -> None:
    text = policy()
    domain = load_domain("shop")
    assert [c.id for c in domain.clauses] == [part.split("`")[0] for part in text.split("(`")[1:]]


def test_the_policy_names_the_day_the_rules_go_by() -> None:
    assert load_domain("shop").parameters["today"] == "2026-05-20"
    assert "20 May 2026" in policy()
