"""What one request can take from the others: time, places, memory."""

from __future__ import annotations

import asyncio
import gc
import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from ledgeragent.gateway.dialects.chat import ChatDialect
from ledgeragent.gateway.dialects.messages import MessagesDialect
from ledgeragent.gateway.dialects.responses import ResponsesDialect
from ledgeragent.gateway.server import SESSION_HEADER, Gateway, Settings, serve
from ledgeragent.gateway.sse import EventParser
from ledgeragent.stores.base import ProcessStore
from ledgeragent.stores.sqlite import SqliteSessions
from ledgeragent.types import Reply
from tests.gateway.conftest import Client
from tests.gateway.test_passage import Full
from tests.gateway.upstream import Upstream, stepwise
from tests.gateway.wires import CHAT, Wire
from tests.gateway.world import HELLO, KNOWN, SAY, TOOLS, read_sse, run, served, world
from tests.lending.domain import LIBRARY, call

DIALECTS = {"chat": ChatDialect(), "messages": MessagesDialect(), "responses": ResponsesDialect()}


async def stalled(port: int, count: int) -> list[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """Connections whose requests never get past their headers."""
    connections = []
    for _ in range(count):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(
            b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"
        )
        await writer.drain()
        connections.append((reader, writer))
    return connections


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_bodies_that_never_come_take_no_place_and_end(mode: str) -> None:
    async def scenario() -> None:
        async with world(SAY, mode=mode, max_concurrent=5, body_timeout=1.0) as w:
            connections = await stalled(int(w.url.rpartition(":")[2]), 12)
            assert (await w.ask(CHAT, KNOWN)).reply == SAY
            for reader, writer in connections:
                assert b" 408 " in await asyncio.wait_for(reader.readline(), 10)
                writer.close()
            assert w.gateway.metrics.requests[CHAT.path, 408] == 12
            assert w.gateway.metrics.active == 0

    run(scenario())


def test_headers_that_never_end_end_the_connection_and_no_other() -> None:
    async def scenario() -> None:
        upstream, ready, stop = Upstream(), asyncio.Queue[int](), asyncio.Event()
        steps = asyncio.Semaphore(0)
        upstream.script.extend([SAY, stepwise(SAY, steps)])
        async with served(upstream.app()) as behind, aiohttp.ClientSession() as http:
            gateway = Gateway(LIBRARY, Settings(upstream=behind))
            serving = asyncio.create_task(
                serve(gateway, "127.0.0.1", 0, ready.put_nowait, stop, silence=1.0)
            )
            port = await ready.get()
            url = f"http://127.0.0.1:{port}{CHAT.path}"
            body = json.dumps(CHAT.request(KNOWN, TOOLS, False))
            async with http.post(url, data=body) as answer:  # and its connection stays
                assert answer.status == 200
            streams = json.dumps(CHAT.request(KNOWN, TOOLS, True))
            waits = asyncio.create_task(http.post(url, data=streams))
            half = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
            for _, writer in half:
                writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nx-slow: ")
            for reader, writer in half:
                async with asyncio.timeout(20):
                    with suppress(ConnectionError):
                        assert await reader.read() == b""
                writer.close()
            for _ in range(20):
                steps.release()
            async with await waits as answer:
                events, _ = read_sse(await answer.read())
                assert CHAT.read_events(events) == SAY
            stop.set()
            await serving

    run(scenario())


def test_a_session_file_that_another_process_holds_stops_nobody_else(tmp_path: Path) -> None:
    file = tmp_path / "sessions.db"

    async def scenario() -> None:
        async with world(SAY, SAY, store=SqliteSessions(str(file))) as w:
            holder = sqlite3.connect(file, isolation_level=None)
            holder.execute("BEGIN IMMEDIATE")
            headers = {SESSION_HEADER: "mine"}
            waits = asyncio.create_task(w.ask(CHAT, KNOWN, headers=headers))
            while not w.upstream.asked:
                await asyncio.sleep(0.01)
            began = time.perf_counter()
            async with w.http.get(f"{w.url}/healthz") as response:
                assert response.status == 200
            assert (await w.ask(CHAT, KNOWN)).reply == SAY
            assert time.perf_counter() - began < 2.5
            assert not waits.done()
            holder.execute("COMMIT")
            holder.close()
            assert (await waits).reply == SAY

    run(scenario())


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_a_journal_that_another_process_holds_stops_nobody_else(tmp_path: Path, mode: str) -> None:
    from ledgeragent.gateway.journaling import GatewayJournal

    file = tmp_path / "journal.db"

    async def scenario() -> None:
        with GatewayJournal.open(file, LIBRARY) as journal:
            async with world(SAY, SAY, journal=journal, mode=mode) as w:
                holder = sqlite3.connect(file, isolation_level=None)
                holder.execute("BEGIN IMMEDIATE")
                waits = asyncio.create_task(w.ask(CHAT, KNOWN))
                while not w.upstream.asked:
                    await asyncio.sleep(0.01)
                began = time.perf_counter()
                for _ in range(20):
                    async with w.http.get(f"{w.url}/livez") as response:
                        assert response.status == 200
                assert time.perf_counter() - began < 2.5
                assert not waits.done()
                holder.execute("COMMIT")
                holder.close()
                assert (await waits).reply == SAY
            assert w.gateway.metrics.unjudged == 0

    run(scenario())
    base = sqlite3.connect(file)
    assert base.execute("SELECT count(*) FROM journal").fetchone() == (len(KNOWN) + 2,)
    base.close()


class Broken(ProcessStore):
    async def load(self, name: str) -> Any:
        raise ZeroDivisionError("a fault of ours")


def test_a_fault_of_ours_is_told_as_an_error(client: Client) -> None:
    async def scenario() -> None:
        async with world(SAY, store=Broken()) as w:
            got = await client.ask(w, *KNOWN, headers={SESSION_HEADER: "mine"})
            assert got.status == 500
            assert got.headers["content-type"].startswith("application/json")
            assert got.body["error"]["message"]
            assert "Zero" not in str(got.body)
            assert w.gateway.metrics.requests[client.wire.path, 500] == 1
            assert (client.wire.path, 499) not in w.gateway.metrics.requests

    run(scenario())


@pytest.mark.parametrize("after", range(4))
def test_a_journal_that_cannot_be_written_lets_nothing_through(client: Client, after: int) -> None:
    from ledgeragent.gateway.journaling import GatewayJournal

    async def scenario() -> None:
        journal = GatewayJournal(Full(after), LIBRARY)
        async with world(SAY, journal=journal) as w:
            got = await client.ask(w, HELLO)
            if after == 3:
                assert got.reply == SAY
            elif got.status == 200:
                assert "journal" in str(got.events[-1])
            else:
                assert (got.status, "journal" in str(got.body)) == (503, True)

    run(scenario())


@pytest.mark.parametrize("size", [1, 7, 1400])
def test_a_long_event_in_small_pieces_takes_time_in_proportion(size: int) -> None:
    length = 2_000_000 if size > 100 else 100_000 * size

    def seconds(length: int) -> float:
        data = b"data: " + json.dumps("x" * length).encode() + b"\n\n"
        parser, began = EventParser(), time.process_time()
        events = [e for n in range(0, len(data), size) for e in parser.feed(data[n : n + size])]
        assert len(events) == 1
        return time.process_time() - began

    assert seconds(4 * length) < 8 * max(seconds(length), 0.02)


def _grows(seconds: Callable[[int], float], count: int) -> float:
    """How many times as long four times the work takes; the best of three each, on a noisy machine.

    It is four where time grows in proportion, sixteen where it grows with the square.
    """
    least, most = (min(seconds(n) for _ in range(3)) for n in (count, 4 * count))
    return most / least


def test_many_events_in_one_piece_take_time_in_proportion() -> None:
    def seconds(count: int) -> float:
        data = b"data: 1\n\n" * count
        parser, began = EventParser(), time.process_time()
        assert sum(1 for _ in parser.feed(data)) == count
        return time.process_time() - began

    assert _grows(seconds, 40_000) < 9


MIXTURES = {
    "reads": lambda n: call("get_book", f"c{n}", book_id=f"B{n}"),
    "writes-first": lambda n: call(*(("burn_book", f"c{n}") if n % 2 else ("get_book", f"c{n}"))),
    "one-id": lambda n: call("get_book", "same", book_id=f"B{n}"),
}


@pytest.mark.parametrize("mixture", MIXTURES)
def test_thousands_of_calls_in_a_stream_take_time_in_proportion(wire: Wire, mixture: str) -> None:
    """Those that pass, those that are held, and those of which each could repeat a held one's id."""

    def seconds(count: int) -> float:
        calls = tuple(map(MIXTURES[mixture], range(count)))
        pieces = b"".join(wire.events(Reply(calls=calls), "r"))
        events = [e for e in EventParser().feed(pieces) if e.data is not None]
        stream = DIALECTS[wire.name].stream(frozenset({"get_book"}))
        began = time.process_time()
        for event in events:
            for _ in stream.feed(event):
                pass
        return time.process_time() - began

    gc.disable()
    try:
        assert _grows(seconds, 1_500) < 7
    finally:
        gc.enable()
