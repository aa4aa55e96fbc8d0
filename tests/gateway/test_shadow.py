"""Shadow mode: the same bytes go both ways, and the verdicts are recorded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgeragent.gateway.server import SESSION_HEADER
from ledgeragent.journal import Journal, open_store, read, verify
from ledgeragent.stores.base import ProcessStore
from ledgeragent.stores.errors import SessionStoreError
from tests.gateway.conftest import Client
from tests.gateway.upstream import cut, garbage, status
from tests.gateway.world import HELLO, KNOWN, MIXED, TOOLS, WRITE, run, world
from tests.lending.domain import LIBRARY


def test_every_byte_passes_and_verdicts_are_recorded(client: Client, tmp_path: Path) -> None:
    async def scenario() -> None:
        store = open_store(tmp_path / "journal.jsonl", writable=True)
        journal = Journal(store, LIBRARY)
        async with world(MIXED, mode="shadow", journal=journal) as w:
            body = client.wire.request((HELLO,), TOOLS, client.stream)
            raw = json.dumps(body, indent=2).encode()
            async with w.http.post(f"{w.url}{client.wire.path}", data=raw) as response:
                got = await response.read()
                header = response.headers.get("x-ledgeragent-verdict")
            assert w.upstream.raw == [raw]
            if client.stream:
                assert got == b"".join(client.wire.events(MIXED, "resp_1"))
            else:
                assert json.loads(got) == client.wire.answer(MIXED, "resp_1")
                assert header == "get_member=ALLOW,get_book=ALLOW,lend_book=REVISE"
            decisions = w.gateway.metrics.decisions
            assert decisions["lend_book", "REVISE"] == 1
        assert verify(store).intact
        (judged,) = [r for r in read(store) if r["event"] == "judged"]
        assert judged["shadow"]
        journal.close()

    run(scenario())


def test_what_cannot_be_read_passes_too(client: Client) -> None:
    async def scenario() -> None:
        async with world(WRITE, WRITE, mode="shadow") as w:
            hosted = [{"type": "web_search"}]
            got = await client.ask(w, *KNOWN, tools=(), tools_of_mine=hosted)
            assert got.reply == WRITE
            body = {**client.wire.request(KNOWN, (), False), "tools": hosted}
            got = await w.post(client.wire, json.dumps(body).encode())
            assert got.reply == WRITE
            assert w.gateway.metrics.unjudged == 1

    run(scenario())


def test_failures_pass_as_they_are(client: Client) -> None:
    async def scenario() -> None:
        script = (status(429, {"retry-after": "7"}), garbage())
        async with world(*script, mode="shadow") as w:
            got = await client.ask(w, *KNOWN)
            assert (got.status, got.headers["retry-after"]) == (429, "7")
            body = client.wire.request(KNOWN, TOOLS, client.stream)
            raw = json.dumps(body).encode()
            async with w.http.post(f"{w.url}{client.wire.path}", data=raw) as response:
                got_raw = await response.read()
            assert got_raw == (b"data: {]\n\n" if client.stream else b"\xff<html>")
            assert w.gateway.metrics.unjudged == 1

    run(scenario())


@pytest.mark.parametrize("fails", ["load", "save"])
def test_a_store_that_is_gone_stops_nothing(client: Client, fails: str) -> None:
    async def gone(*_: object) -> None:
        raise SessionStoreError("the session store cannot be reached")

    async def scenario() -> None:
        store = ProcessStore()
        setattr(store, fails, gone)
        async with world(WRITE, mode="shadow", store=store) as w:
            got = await client.ask(w, *KNOWN, headers={SESSION_HEADER: "case-1"})
            assert got.reply == WRITE
            assert w.gateway.metrics.unjudged == 1

    run(scenario())


@pytest.mark.parametrize("fault", ["resets", "stalls"])
def test_an_answer_that_never_comes(client: Client, fault: str) -> None:
    async def scenario() -> None:
        broken = cut(WRITE, keep=0.0, reset=fault == "resets", stall=fault == "stalls")
        async with world(broken, WRITE, mode="shadow", timeout=1.0) as w:
            body = json.dumps(client.wire.request(KNOWN, TOOLS, client.stream))
            async with w.http.post(f"{w.url}{client.wire.path}", data=body) as response:
                assert response.status == (502 if fault == "resets" else 504)
                assert (await response.json())["error"]["message"]
            again = await client.ask(w, *KNOWN)
            assert again.reply == WRITE

    run(scenario())


def test_a_stream_that_breaks_off_does_so_for_the_client(client: Client) -> None:
    import aiohttp

    async def scenario() -> None:
        async with world(cut(WRITE, keep=0.5, reset=True), mode="shadow") as w:
            body = client.wire.request(KNOWN, TOOLS, True)
            raw = json.dumps(body).encode()
            try:
                async with w.http.post(f"{w.url}{client.wire.path}", data=raw) as response:
                    await response.read()
            except aiohttp.ClientPayloadError:
                return
            raise AssertionError("the client was told that the stream was complete")

    if client.stream:
        run(scenario())
