"""The relay, message by message: what is not its business passes as the very same object."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgeragent.demo.shop.shop import Shop, tool_schemas
from ledgeragent.journal import Journal, open_store, read
from ledgeragent.packs import load_domain
from ledgeragent.types import ToolCall

pytest.importorskip("mcp", reason="mcp is not installed")

from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from ledgeragent.adapters.common import Policy
from ledgeragent.mcp.messages import content_of
from ledgeragent.mcp.offer import SHOW_LEDGER, STATE_URI
from ledgeragent.mcp.relay import Relay

TOUCHED = {
    "initialize",
    "server/discover",
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "notifications/cancelled",
}
METHODS = st.text(max_size=20).filter(lambda name: name not in TOUCHED)
PARAMS = st.none() | st.dictionaries(st.text(max_size=5), st.text() | st.integers(), max_size=3)


def request(method: str, id: int = 1, **params: Any) -> JSONRPCRequest:
    return JSONRPCRequest(jsonrpc="2.0", id=id, method=method, params=params)


def response(id: int = 1, **result: Any) -> JSONRPCResponse:
    return JSONRPCResponse(jsonrpc="2.0", id=id, result=result)


def initialized(**capabilities: Any) -> Relay:
    relay = Relay(Policy("shop"))
    relay.from_client(request("initialize"))
    relay.from_server(response(protocolVersion="2025-06-18", capabilities=capabilities))
    return relay


def called(relay: Relay, shop: Shop, id: int, name: str, **arguments: Any) -> Any:
    """The result that the client gets for a call; the shop answers where the call goes through."""
    step = relay.from_client(request("tools/call", id, name=name, arguments=arguments))
    if not step.to_server:
        return step.to_client[0].result
    answer = shop.execute(ToolCall(name=name, arguments=arguments))
    block = {"type": "text", "text": answer.content}
    passed = relay.from_server(response(id, content=[block], isError=answer.error))
    return passed.to_client[0].result


@given(METHODS, PARAMS)
def test_what_is_not_its_business_passes(method: str, params: Any) -> None:
    relay = Relay(Policy("shop"))
    asked = JSONRPCRequest(jsonrpc="2.0", id=1, method=method, params=params)
    told = JSONRPCNotification(jsonrpc="2.0", method=method, params=params)
    answered = JSONRPCResponse(jsonrpc="2.0", id=7, result=params or {})
    for message in (asked, told, answered):
        assert relay.from_client(message).to_server == (message,)
        assert relay.from_server(message).to_client[0] is message


def test_a_rejected_call_never_reaches_the_server() -> None:
    with Shop() as shop:
        result = called(initialized(), shop, 2, "cancel_order", order_id="G-1010")
    assert result["isError"]
    assert "find_customer" in result["content"][0]["text"]


def test_reads_are_absorbed_and_the_ledger_is_a_tool_and_a_resource() -> None:
    relay = initialized(tools={})
    with Shop() as shop:
        called(relay, shop, 2, "get_order", order_id="G-1010")
        shown = called(relay, shop, 3, SHOW_LEDGER)["content"][0]["text"]
        assert "orders.G-1010" in shown
        read = relay.from_client(request("resources/read", 4, uri=STATE_URI)).to_client[0]
        assert read.result["contents"][0]["text"] == shown


def test_the_ledger_is_announced_even_where_the_server_has_no_resources() -> None:
    relay = Relay(Policy("shop"))
    relay.from_client(request("initialize"))
    answer = relay.from_server(response(protocolVersion="2025-06-18", capabilities={"logging": {}}))
    capabilities = answer.to_client[0].result["capabilities"]
    assert capabilities == {"logging": {}, "resources": {"subscribe": True}, "tools": {}}
    listed = relay.from_client(request("resources/list", 2)).to_client[0]
    assert [resource["uri"] for resource in listed.result["resources"]] == [STATE_URI]


def test_listings_gain_the_ledger_on_their_last_page_only() -> None:
    relay = initialized(resources={}, tools={})
    relay.from_client(request("tools/list", 2))
    first = relay.from_server(response(2, tools=[{"name": "get_order"}], nextCursor="x"))
    assert [tool["name"] for tool in first.to_client[0].result["tools"]] == ["get_order"]
    relay.from_client(request("tools/list", 3, cursor="x"))
    last = relay.from_server(response(3, tools=[{"name": "cancel_order", "annotations": {"a": 1}}]))
    tools = last.to_client[0].result["tools"]
    assert [tool["name"] for tool in tools] == ["cancel_order", SHOW_LEDGER]
    assert tools[0] == {"name": "cancel_order", "annotations": {"a": 1}}
    assert relay.conversation.gate.domain.available == {"get_order", "cancel_order"}


def test_a_tool_of_the_server_with_the_ledgers_name_is_left_alone() -> None:
    relay = initialized(tools={})
    relay.from_client(request("tools/list", 2))
    listed = relay.from_server(response(2, tools=[{"name": SHOW_LEDGER}]))
    assert len(listed.to_client[0].result["tools"]) == 1
    answered = relay.from_client(request("tools/call", 3, name=SHOW_LEDGER)).to_client[0]
    assert answered.result["isError"], "the domain doesn't know it, so it is no read of ours"


def test_a_subscriber_hears_of_changes() -> None:
    relay = initialized(tools={})
    assert (
        relay.from_client(request("resources/subscribe", 2, uri=STATE_URI)).to_client[0].result
        == {}
    )
    relay.from_client(request("tools/call", 3, name="get_order", arguments={"order_id": "G-1010"}))
    with Shop() as shop:
        text = shop.execute(ToolCall(name="get_order", arguments={"order_id": "G-1010"})).content
    step = relay.from_server(response(3, content=[{"type": "text", "text": text}]))
    assert [getattr(m, "method", "answer") for m in step.to_client] == [
        "answer",
        "notifications/resources/updated",
    ]


def test_a_cancelled_write_may_have_happened() -> None:
    relay = initialized(tools={})
    with Shop() as shop:
        called(relay, shop, 2, "find_customer", email="joris@peeters.example")
        called(relay, shop, 3, "get_order", order_id="G-1010")
        asked = request("tools/call", 4, name="cancel_order", arguments={"order_id": "G-1010"})
        assert relay.from_client(asked).to_server == (asked,)
        cancelled = JSONRPCNotification(
            jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 4}
        )
        assert relay.from_client(cancelled).to_server == (cancelled,)
        again = called(relay, shop, 5, "cancel_order", order_id="G-1010")
    assert "changed by cancel_order" in again["content"][0]["text"]


@pytest.mark.parametrize(
    ("code", "lost"), [(-32602, False), (-32601, False), (-32603, True), (-32000, True), (1, True)]
)
def test_a_protocol_error_tells_whether_a_write_was_ever_begun(code: int, lost: bool) -> None:
    relay = initialized(tools={})
    with Shop() as shop:
        called(relay, shop, 2, "find_customer", email="joris@peeters.example")
        called(relay, shop, 3, "get_order", order_id="G-1010")
        relay.from_client(
            request("tools/call", 4, name="cancel_order", arguments={"order_id": "G-1010"})
        )
        error = JSONRPCError(jsonrpc="2.0", id=4, error={"code": code, "message": "broken"})
        assert relay.from_server(error).to_client == (error,)
        again = called(relay, shop, 5, "cancel_order", order_id="G-1010")
    assert bool(again.get("isError")) is lost


def cancelling(relay: Relay, shop: Shop, *ids: int) -> list[JSONRPCRequest]:
    """The same cancellation under several ids, once customer and order were read."""
    called(relay, shop, 2, "find_customer", email="joris@peeters.example")
    called(relay, shop, 3, "get_order", order_id="G-1010")
    arguments = {"order_id": "G-1010"}
    return [
        request("tools/call", number, name="cancel_order", arguments=arguments) for number in ids
    ]


def test_a_call_waits_for_the_one_in_flight_and_is_judged_after_it() -> None:
    relay = initialized(tools={})
    with Shop() as shop:
        first, second = cancelling(relay, shop, 4, 5)
    assert relay.from_client(first).to_server == (first,)
    waiting = relay.from_client(second)
    assert not waiting.to_server and not waiting.to_client
    step = relay.from_server(response(4, content=[{"type": "text", "text": "null"}]))
    assert not step.to_server
    answered, refused = step.to_client
    assert answered.id == 4 and refused.id == 5 and refused.result["isError"]
    assert "changed by cancel_order" in refused.result["content"][0]["text"]


@pytest.mark.parametrize("tool", ["cancel_order", "get_order", "show_ledger"])
@pytest.mark.parametrize("held", [False, True])
def test_a_call_under_the_id_of_one_still_open_goes_nowhere(tool: str, held: bool) -> None:
    relay = initialized(tools={})
    with Shop() as shop:
        first, second = cancelling(relay, shop, 4, 5)
    relay.from_client(first)
    if held:
        relay.from_client(second)
    again = request("tools/call", 5 if held else 4, name=tool, arguments={"order_id": "G-1002"})
    step = relay.from_client(again)
    assert not step.to_server
    [error] = step.to_client
    assert error.error.code == -32600 and "still open" in error.error.message
    relay.from_server(response(4, content=[{"type": "text", "text": "null"}]))
    assert [call.name for call in relay.conversation.ledger.writes] == ["cancel_order"]


def test_a_call_that_waited_goes_on_once_the_other_was_refused_by_its_tool() -> None:
    relay = initialized(tools={})
    with Shop() as shop:
        first, second = cancelling(relay, shop, 4, 5)
    relay.from_client(first)
    relay.from_client(second)
    failed = response(4, content=[{"type": "text", "text": "Error: busy"}], isError=True)
    assert relay.from_server(failed).to_server == (second,)


def test_a_call_that_is_given_up_while_it_waits_never_reaches_the_server() -> None:
    relay = initialized(tools={})
    with Shop() as shop:
        first, second = cancelling(relay, shop, 4, 5)
    relay.from_client(first)
    relay.from_client(second)
    cancelled = JSONRPCNotification(
        jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 5}
    )
    assert not relay.from_client(cancelled).to_server
    step = relay.from_server(response(4, content=[{"type": "text", "text": "null"}]))
    assert [message.id for message in step.to_client] == [4] and not step.to_server


def test_a_connection_that_is_lost_leaves_open_what_was_done() -> None:
    relay = initialized(tools={})
    with Shop() as shop:
        (asked,) = cancelling(relay, shop, 4)
    relay.from_client(asked)
    relay.closed()
    assert [doubt.call.name for doubt in relay.conversation.ledger.unconfirmed] == ["cancel_order"]


def test_a_modern_probe_is_turned_down_so_that_a_handshake_follows() -> None:
    step = initialized().from_client(request("server/discover", 9))
    assert not step.to_server
    assert step.to_client[0].error.code == -32601


@pytest.mark.parametrize(
    ("result", "content"),
    [
        ({"content": [{"type": "text", "text": '{"a": 1}'}]}, '{"a": 1}'),
        ({"content": [], "structuredContent": {"a": 1}}, {"a": 1}),
        ({"content": [], "structuredContent": {"result": [1, 2]}}, {"result": [1, 2]}),
        (
            {"content": [{"type": "text", "text": "C-1"}], "structuredContent": {"result": "C-1"}},
            {"result": "C-1"},
        ),
        (
            {
                "content": [{"type": "text", "text": "{}"}],
                "structuredContent": {"result": {"a": 1}},
            },
            {"result": {"a": 1}},
        ),
        ({"content": [{"type": "image", "data": ""}]}, ""),
    ],
)
def test_what_a_tool_answered(result: Any, content: Any) -> None:
    assert content_of(result) == content


def test_every_tool_of_the_shop_is_judged_or_read() -> None:
    relay = initialized(tools={})
    for n, schema in enumerate(tool_schemas()):
        name = schema["function"]["name"]
        step = relay.from_client(request("tools/call", 10 + n, name=name, arguments={}))
        assert bool(step.to_server) == name.startswith(("get_", "find_", "search_", "hand_"))


SHADOWED = (
    request("initialize"),
    request("tools/list"),
    request("tools/call", name=SHOW_LEDGER),
    request("tools/call", name="cancel_order", arguments={"order_id": "G-1010"}),
    request("tools/call", name="no such tool", arguments="no object"),
    request("resources/list"),
    request("resources/read", uri=STATE_URI),
    request("resources/subscribe", uri=STATE_URI),
)


@pytest.mark.parametrize("asked", SHADOWED, ids=lambda m: f"{m.method} {m.params}")
def test_in_shadow_mode_everything_passes_as_it_is(asked: Any) -> None:
    relay = Relay(Policy("shop", mode="shadow"))
    result = {"protocolVersion": "2025-06-18", "capabilities": {}, "tools": [], "content": []}
    answered = response(1, **result)
    assert relay.from_client(asked).to_server == (asked,)
    (passed,) = relay.from_server(answered).to_client
    assert passed is answered


def test_in_shadow_mode_calls_are_judged_and_told(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal.db", load_domain("shop")) as journal, Shop() as shop:
        relay = Relay(Policy("shop", journal=journal, mode="shadow"))
        assert not called(relay, shop, 1, "cancel_order", order_id="G-1010").get("isError")
    judged, executed = told(tmp_path / "journal.db")
    assert judged == ["REVISE"] and executed == ["cancel_order"]


def test_what_a_proxy_judges_is_told(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal.db", load_domain("shop")) as journal, Shop() as shop:
        relay = Relay(Policy("shop", journal=journal))
        for number, (name, arguments) in enumerate(
            [
                ("cancel_order", {"order_id": "G-1010"}),
                ("find_customer", {"email": "joris@peeters.example"}),
                ("get_order", {"order_id": "G-1010"}),
                ("cancel_order", {"order_id": "G-1010"}),
            ]
        ):
            called(relay, shop, number, name, **arguments)
    judged, executed = told(tmp_path / "journal.db")
    assert judged == ["REVISE", "ALLOW", "ALLOW", "ALLOW"]
    assert executed == ["cancel_order"]


def test_a_call_that_is_cancelled_is_told_without_an_answer(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal.db", load_domain("shop")) as journal, Shop() as shop:
        relay = Relay(Policy("shop", journal=journal))
        called(relay, shop, 1, "find_customer", email="joris@peeters.example")
        called(relay, shop, 2, "get_order", order_id="G-1010")
        relay.from_client(request("tools/call", 3, name="cancel_order", arguments=G_1010))
        cancelled = {"requestId": 3}
        relay.from_client(
            JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params=cancelled)
        )
    assert told(tmp_path / "journal.db")[1] == ["cancel_order"]


G_1010 = {"order_id": "G-1010"}


def told(file: Path) -> tuple[list[str], list[str]]:
    """The decisions in a journal, and the calls other than reads that ran."""
    store = open_store(file)
    records = list(read(store))
    store.close()
    judged = [v["decision"] for r in records if r["event"] == "judged" for v in r["verdicts"]]
    return judged, [r["call"]["name"] for r in records if r["event"] == "executed"]
