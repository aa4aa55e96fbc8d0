"""A server that answers anything at all, and listings that change: nothing is lost, nothing passes."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("mcp", reason="mcp is not installed")

from mcp_types import JSONRPCNotification

from ledgeragent.adapters.common import Policy
from ledgeragent.demo.shop.shop import Shop
from ledgeragent.gate import Gate
from ledgeragent.mcp.relay import Relay
from ledgeragent.packs import load_domain
from ledgeragent.verdict import Decision
from tests.mcp.test_attacks import ORDER, cancelling, read
from tests.mcp.test_relay import initialized, request, response

ODD: tuple[Any, ...] = (
    None,
    5,
    "x",
    True,
    float("nan"),
    "\ud800",
    {},
    {"a": 1},
    [1],
    [None],
    ["x"],
    [[]],
    [{"name": 5}],
    [{"name": ["cancel_order"]}],
    [{"type": ["text"]}],
    [{"type": "text", "text": 5}],
    [{"type": "resource", "resource": "x"}],
    [{"type": "resource", "resource": {"text": {}}}],
)
FIELDS = ("content", "structuredContent", "isError", "_meta", "task", "resultType")


def calling(relay: Relay, number: int) -> bool:
    """Asks for the cancellation of an order; True if the call goes to the server."""
    return bool(relay.from_client(cancelling(number)).to_server)


@pytest.fixture
def relay() -> Relay:
    """A connection on which the order was read, and its cancellation is under way."""
    relay = initialized(tools={})
    with Shop() as shop:
        read(relay, shop)
    assert calling(relay, 4)
    return relay


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("field", FIELDS)
def test_an_answer_of_any_form_leaves_the_call_done_or_in_doubt(
    relay: Relay, field: str, odd: Any
) -> None:
    """A write that the ledger did not know of could be made again."""
    relay.from_server(response(4, **{field: odd}))
    assert not calling(relay, 5)


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("field", ["tools", "nextCursor", "capabilities", "resources", "status"])
def test_a_listing_of_any_form_passes_and_ends_nothing(field: str, odd: Any) -> None:
    relay = Relay(Policy("shop"))
    relay.from_client(request("initialize"))
    for value in ({field: odd}, {"capabilities": {field: odd}}):
        relay.from_client(request("initialize", 9))
        relay.from_server(response(9, protocolVersion="1", **value))
    for number, method in enumerate(("tools/list", "resources/list", "tasks/get"), start=10):
        relay.from_client(request(method, number, cursor=odd, taskId=odd))
        assert relay.from_server(response(number, **{field: odd})).to_client
    for params in ({"taskId": odd, "status": odd}, {"progressToken": odd}, {"_meta": odd}):
        relay.from_server(
            JSONRPCNotification(jsonrpc="2.0", method="notifications/x", params=params)
        )
    relay.from_client(
        JSONRPCNotification(
            jsonrpc="2.0", method="notifications/cancelled", params={"requestId": odd}
        )
    )
    step = relay.from_client(request("tools/call", 20, name="cancel_order", arguments={}))
    assert not step.to_server and step.to_client


@pytest.mark.parametrize(
    "name", [None, 5, True, ["cancel_order"], {"cancel_order": 1}, [["cancel_order"]]], ids=repr
)
def test_a_name_that_is_no_text_is_refused_even_where_unknown_tools_may_run(name: Any) -> None:
    """A server in another language may take a list of one name for the name."""
    relay = Relay(Policy(Gate(domain=load_domain("shop"), unknown=Decision.ALLOW)))
    step = relay.from_client(request("tools/call", 4, name=name, arguments=ORDER))
    assert not step.to_server and step.to_client[0].error.code == -32602


@pytest.mark.parametrize(
    "name",
    [
        "Cancel_Order",
        "CANCEL_ORDER",
        "cancel_order ",
        "cancel\u200b_order",
        "ｃancel_order",
        "c\u0430ncel_order",
        "cance\u0301l_order",
        "cancel-order",
        "functions.cancel_order",
        "cancel_order\x00",
        "shop__cancel_order",
        "evil__cancel_order",
    ],
)
@pytest.mark.parametrize(
    "listed", [(), ("cancel_order",), ("shop__cancel_order", "evil__cancel_order")]
)
def test_a_look_alike_is_nobody_s_write(name: str, listed: tuple[str, ...]) -> None:
    """Not by its case, its width or its accents; nor where two servers have a tool of one name."""
    relay = initialized(tools={})
    relay.from_client(request("tools/list", 2))
    relay.from_server(response(2, tools=[{"name": n} for n in (name, *listed)]))
    step = relay.from_client(request("tools/call", 3, name=name, arguments=ORDER))
    assert not step.to_server


TOOLS = [{"name": t} for t in ("find_customer", "get_order", "get_parcel", "cancel_order")]


def page(relay: Relay, id: int, tools: list[Any], cursor: Any = None, after: Any = None) -> None:
    relay.from_client(request("tools/list", id, **({"cursor": after} if after else {})))
    more = {"nextCursor": cursor} if cursor else {}
    relay.from_server(response(id, tools=tools, **more))


@pytest.mark.parametrize("order", ["side by side", "begun again", "from the middle"])
def test_half_a_listing_is_never_taken_for_the_whole(order: str) -> None:
    """Else the reads of the other half would count as those that no tool can supply."""
    relay = initialized(tools={})
    if order == "side by side":
        page(relay, 2, TOOLS[:2], "a")
        relay.from_client(request("tools/list", 3))
        page(relay, 4, TOOLS[2:], None, "a")
    elif order == "begun again":
        page(relay, 2, TOOLS, None)
        page(relay, 3, TOOLS[:2], "a")
    else:
        page(relay, 4, TOOLS[2:], None, "never seen")
    available = relay.calls.bound.gate.domain.available
    assert available is None or available >= {tool["name"] for tool in TOOLS}


def test_a_listing_that_changes_while_a_call_is_open_leaves_its_write_known(relay: Relay) -> None:
    relay.from_server(JSONRPCNotification(jsonrpc="2.0", method="notifications/tools/list_changed"))
    page(relay, 5, [{"name": "get_order"}])
    relay.from_server(response(4, content=[{"type": "text", "text": "null"}]))
    page(relay, 6, TOOLS)
    assert not calling(relay, 7)


def test_listings_without_end_take_no_memory_without_end() -> None:
    policy = Policy("shop")
    relay = Relay(policy)
    for number in range(1_000):
        page(relay, number, [{"name": f"get_order_{number}"}], f"{number}" if number % 2 else None)
    assert len(policy._bound) < 200
    assert len(relay._offer._pages) < 200
