"""Sessions that several connections share: what one reads the other may rely on, and nothing runs twice."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="mcp is not installed")

import anyio
from mcp.shared.message import SessionMessage

from ledgeragent.adapters.common import Policy
from ledgeragent.demo.shop.shop import Shop
from ledgeragent.errors import UsageError
from ledgeragent.mcp import pump
from ledgeragent.mcp.pump import Pump
from ledgeragent.mcp.sessions import SessionPer, Sessions, UnnamedSessionError
from ledgeragent.stores.errors import SessionStoreError
from ledgeragent.stores.sqlite import SqliteSessions
from ledgeragent.types import ToolCall
from tests.mcp.test_relay import request, response

REFUND = {
    "order_id": "G-1012",
    "parcel_id": "P-33",
    "sku": "secateurs",
    "quantity": 2,
    "amount": 49.0,
}
READS = (
    ("find_customer", {"email": "elena.ricci@example.net"}),
    ("get_order", {"order_id": "G-1012"}),
    ("get_parcel", {"parcel_id": "P-33"}),
)


class Wire:
    """Both ends of one connection, as a test holds them: the client's, and the server's."""

    def __init__(self) -> None:
        self.to_proxy, self._client_in = anyio.create_memory_object_stream[Any](inf)
        self._client_out, self.from_proxy = anyio.create_memory_object_stream[Any](inf)
        self._server_out, self.at_server = anyio.create_memory_object_stream[Any](inf)
        self.from_server, self._server_in = anyio.create_memory_object_stream[Any](inf)
        self.number = 0

    def close(self) -> None:
        """Closes what is left open."""
        for stream in vars(self).values():
            if hasattr(stream, "close"):
                stream.close()

    def pump(self, sessions: Sessions, headers: dict[str, str]) -> Pump:
        return Pump(
            sessions,
            sessions.of_connection(headers),
            (self._client_in, self._client_out),
            (self._server_in, self._server_out),
        )

    def ask(self, name: str, **arguments: Any) -> int:
        """Sends a call; its id."""
        self.number += 1
        message = request("tools/call", self.number, name=name, arguments=arguments)
        self.to_proxy.send_nowait(SessionMessage(message))
        return self.number

    async def serve(self, shop: Shop) -> str:
        """The server takes its next call, and answers it."""
        with anyio.fail_after(5):
            message = (await self.at_server.receive()).message
        self.answer(shop, message)
        return str(message.params["name"])

    def answer(self, shop: Shop, message: Any) -> None:
        call = ToolCall(name=message.params["name"], arguments=message.params["arguments"])
        answer = shop.execute(call)
        content = [{"type": "text", "text": str(answer.content)}]
        result = response(message.id, content=content, isError=answer.error)
        self.from_server.send_nowait(SessionMessage(result))

    async def answered(self) -> Any:
        """The next answer to the client."""
        with anyio.fail_after(5):
            return (await self.from_proxy.receive()).message


@asynccontextmanager
async def connected(sessions: Sessions, **headers: str) -> AsyncIterator[Wire]:
    wire = Wire()
    async with anyio.create_task_group() as group:
        group.start_soon(wire.pump(sessions, headers).run)
        yield wire
        wire.to_proxy.close()
    wire.close()


async def read(wire: Wire, shop: Shop) -> None:
    for name, arguments in READS:
        wire.ask(name, **arguments)
        await wire.serve(shop)
        await wire.answered()


def run(scenario: Callable[[Shop], Awaitable[None]]) -> None:
    async def bounded() -> None:
        with Shop() as shop, anyio.fail_after(30):
            await scenario(shop)

    anyio.run(bounded)


def per(text: str, store: Any = None) -> Sessions:
    return Sessions(Policy("shop"), SessionPer.parse(text), store)


def test_a_write_in_flight_on_one_connection_holds_its_twin_on_another() -> None:
    async def scenario(shop: Shop) -> None:
        sessions = per("process")
        async with connected(sessions) as one, connected(sessions) as other:
            await read(one, shop)
            one.ask("refund_item", **REFUND)
            first = (await one.at_server.receive()).message
            other.ask("refund_item", **REFUND)
            await anyio.wait_all_tasks_blocked()
            assert not other.at_server.statistics().current_buffer_used, "it waits"
            one.answer(shop, first)
            assert not (await one.answered()).result["isError"]
            refused = await other.answered()
            assert refused.result["isError"]
            assert "changed by refund_item" in refused.result["content"][0]["text"]
            assert not other.at_server.statistics().current_buffer_used

    run(scenario)


def test_a_call_that_waits_for_one_that_never_ends_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pump, "PATIENCE", 0.05)

    async def scenario(shop: Shop) -> None:
        async with connected(per("client")) as wire:
            await read(wire, shop)
            wire.ask("refund_item", **REFUND)
            twin = wire.ask("refund_item", **REFUND)
            refused = await wire.answered()
            assert refused.id == twin and refused.result["isError"]

    run(scenario)


def test_a_connection_that_is_lost_leaves_its_write_in_doubt_for_the_next() -> None:
    async def scenario(shop: Shop) -> None:
        sessions = per("process")
        async with connected(sessions) as one:
            await read(one, shop)
            one.ask("refund_item", **REFUND)
            await one.at_server.receive()
        async with connected(sessions) as other:
            other.ask("refund_item", **REFUND)
            refused = (await other.answered()).result
            assert refused["isError"] and "refund_item" in refused["content"][0]["text"]
            await read(other, shop)
            other.ask("refund_item", **REFUND)
            assert await other.serve(shop) == "refund_item", "it was not done, as a read has shown"

    run(scenario)


def test_two_proxies_on_one_store_never_let_both_calls_pass(tmp_path: Path) -> None:
    async def scenario(shop: Shop) -> None:
        proxies = [per("name:x", SqliteSessions(str(tmp_path / "s.db"))) for _ in range(2)]
        for sessions in proxies:
            await sessions.open()
        async with connected(proxies[0]) as one, connected(proxies[1]) as other:
            await read(one, shop)
            one.ask("refund_item", **REFUND)
            first = (await one.at_server.receive()).message
            other.ask("refund_item", **REFUND)
            refused = await other.answered()
            assert refused.result["isError"] and not other.at_server.statistics().tasks_waiting_send
            assert not other.at_server.statistics().current_buffer_used
            one.answer(shop, first)
            assert not (await one.answered()).result["isError"]
            other.ask("show_ledger")
            assert "refund_item" in (await other.answered()).result["content"][0]["text"]
        for sessions in proxies:
            await sessions.close()

    run(scenario)


class Raced(SqliteSessions):
    """A store in which somebody else is faster, once."""

    lost = False

    async def save(self, name: str, saved: Any) -> None:
        if saved.memory.state.pending and not self.lost:
            self.lost = True
            await super().save(name, saved)
        await super().save(name, saved)


def test_a_call_whose_state_somebody_else_has_moved_is_not_passed_on(tmp_path: Path) -> None:
    async def scenario(shop: Shop) -> None:
        store = Raced(str(tmp_path / "s.db"))
        store.lost = True
        sessions = per("name:x", store)
        await sessions.open()
        async with connected(sessions) as wire:
            await read(wire, shop)
            store.lost = False
            wire.ask("refund_item", **REFUND)
            refused = (await wire.answered()).result
            assert refused["isError"] and "send this one again" in refused["content"][0]["text"]
            assert not wire.at_server.statistics().current_buffer_used
        await sessions.close()

    run(scenario)


class Gone(SqliteSessions):
    """A store that cannot be reached."""

    async def load(self, name: str) -> Any:
        raise SessionStoreError("the session store cannot be reached")


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_without_its_store_a_proxy_lets_nothing_pass_unless_it_only_listens(
    mode: Any, tmp_path: Path
) -> None:
    async def scenario(shop: Shop) -> None:
        store = Gone(str(tmp_path / "s.db"))
        sessions = Sessions(Policy("shop", mode=mode), SessionPer.parse("name:x"), store)
        async with connected(sessions) as wire:
            wire.ask("get_order", order_id="G-1012")
            if mode == "shadow":
                assert await wire.serve(shop) == "get_order"
            else:
                text = (await wire.answered()).result["content"][0]["text"]
                assert "cannot be reached" in text

    run(scenario)


def test_names_of_sessions_are_not_kept_in_clear() -> None:
    sessions = per("header:Authorization")
    session = sessions.of_connection({"authorization": "Bearer secret"})
    assert session is not None and "secret" not in session.key
    assert session is sessions.of_connection({"authorization": "Bearer secret"})
    assert session is not sessions.of_connection({"authorization": "Bearer other"})
    with pytest.raises(UnnamedSessionError, match="authorization"):
        sessions.of_connection({})


@pytest.mark.parametrize(
    "text", ["", "user", "header", "header:", "meta:", "client:x", "process:x"]
)
def test_an_option_that_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="should be client, process"):
        SessionPer.parse(text)
