"""What the proxy counts and tells: verdicts, results that cannot be read, names it reads as others."""

from __future__ import annotations

import asyncio
import urllib.request
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="mcp is not installed")

from ledgeragent.adapters.common import Policy
from ledgeragent.demo.shop.shop import Shop
from ledgeragent.mcp.relay import Relay
from ledgeragent.mcp.serverrecord import ServerRecord
from ledgeragent.session.toolnames import ToolNames
from tests.mcp.serverforks import forked
from tests.mcp.test_proxy import PROXY, free_port, listening
from tests.mcp.test_relay import called, request, response


def listed(relay: Relay, *names: str) -> None:
    """The server lists its tools."""
    relay.from_client(request("tools/list", 90))
    relay.from_server(response(90, tools=[{"name": name} for name in names]))


def test_verdicts_and_unread_results_are_counted() -> None:
    policy = Policy("shop")
    record = ServerRecord.under(policy)
    relay = Relay(policy, record=record)
    with Shop() as shop:
        called(relay, shop, 1, "cancel_order", order_id="G-1010")
        called(relay, shop, 2, "get_order", order_id="G-1010")
        called(relay, shop, 3, "delete_everything")
    relay.from_client(request("tools/call", 4, name="get_order", arguments={"order_id": "G-1011"}))
    relay.from_server(response(4, content=[{"type": "text", "text": "The order is on its way."}]))
    assert list(record.counters.lines()) == [
        "# TYPE ledgeragent_decisions_total counter",
        'ledgeragent_decisions_total{tool="cancel_order",decision="REVISE"} 1',
        'ledgeragent_decisions_total{tool="get_order",decision="ALLOW"} 2',
        'ledgeragent_decisions_total{tool="other",decision="REVISE"} 1',
        "# TYPE ledgeragent_unread_results_total counter",
        'ledgeragent_unread_results_total{tool="get_order",reason="unreadable"} 1',
    ]


def test_what_one_connection_has_seen_listed_another_knows() -> None:
    policy = Policy("shop")
    record = ServerRecord.under(policy)
    listed(Relay(policy, record=record), "shop_find_customer", "shop_get_order")
    later = Relay(policy, record=record)
    step = later.from_client(request("tools/call", 1, name="shop_get_order", arguments={}))
    assert step.to_server[0].params["name"] == "shop_get_order"


@pytest.mark.parametrize(("prefixes", "passes"), [((), False), (("x_",), True)])
def test_before_anything_is_listed_only_the_operators_word_counts(
    prefixes: tuple[str, ...], passes: bool
) -> None:
    relay = Relay(Policy("shop", names=ToolNames(prefixes=prefixes)))
    step = relay.from_client(request("tools/call", 1, name="x_get_order", arguments={}))
    assert bool(step.to_server) is passes


def test_tools_that_the_pack_does_not_cover_are_told(caplog: pytest.LogCaptureFixture) -> None:
    listed(Relay(Policy("shop")), "shop_get_order", "shop_find_customer", "water_plants")
    assert "does not cover the tools water_plants" in caplog.text


def test_over_http_the_counters_are_at_metrics(tmp_path: Path) -> None:
    from mcp import Client

    port = free_port()
    server = forked("tests.conformance.shop_server", str(tmp_path / "executed"))
    names = ["--neutral", "water", "--tool-alias", "stop=cancel_order"]
    command = [*PROXY, *names, "--transport", "http", "--port", str(port), "--", *server]

    async def talk() -> Any:
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            return await client.call_tool("stop", {"order_id": "G-1010"})

    with listening(command, port):
        assert asyncio.run(talk()).is_error
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
            text = answer.read().decode()
    assert 'ledgeragent_decisions_total{tool="cancel_order",decision="REVISE"} 1' in text
