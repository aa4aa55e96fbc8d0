"""The console: the pages hold nothing, the data asks for its key, and all of it stays within bounds."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from ledgeragent.cli.gatewayconsole import session_view
from ledgeragent.errors import UsageError
from ledgeragent.gateway.console import desk
from ledgeragent.gateway.console import feed as feeds
from ledgeragent.gateway.console.desk import Console
from ledgeragent.gateway.console.feed import ConsoleFeed
from ledgeragent.gateway.settings import Settings
from ledgeragent.journal import Journal
from ledgeragent.journal.stores import NowhereStore
from ledgeragent.offline.binding import Binding
from ledgeragent.report.view import live_view_html
from ledgeragent.types import Reply, ToolCall, UserMessage
from tests.gateway.wires import CHAT
from tests.gateway.world import KNOWN, LONG, READ, WRITE, World, world
from tests.lending.domain import LIBRARY

KEY = "sk-console"
AUTH = {"authorization": f"Bearer {KEY}"}
DATA = ("state", "rules", "events", "session?name=x")
BINDING = Binding(name="tests.lending.domain:LIBRARY")


@asynccontextmanager
async def watched(
    *replies: Any, redact: tuple[str, ...] = (), **settings: Any
) -> AsyncIterator[tuple[World, ConsoleFeed]]:
    """A gateway with a console, and what the console has seen."""
    feed = ConsoleFeed(LIBRARY)
    journal = Journal(NowhereStore(), LIBRARY, redact=redact).telling(feed.hear)
    console = Console(feed, session_view(BINDING), live_view_html())
    async with world(
        *replies, journal=journal, console=console, console_key=KEY, **settings
    ) as running:
        yield running, feed


async def get(running: World, path: str, headers: Any = AUTH) -> tuple[int, str, Any]:
    async with (
        aiohttp.ClientSession() as http,
        http.get(f"{running.url}/console{path}", headers=headers) as answer,
    ):
        return answer.status, await answer.text(), answer.headers


def test_without_a_key_of_its_own_there_is_no_console() -> None:
    async def play() -> None:
        async with world() as running:
            assert (await get(running, ""))[0] == 404
            assert (await get(running, "/state"))[0] == 404

    asyncio.run(play())


def test_the_pages_hold_nothing_and_the_data_asks_for_the_key() -> None:
    async def play() -> None:
        async with watched(WRITE, keys=frozenset({"sk-ours"}), metrics_key="sk-metrics") as (w, _):
            for path in ("", "/view"):
                status, text, headers = await get(w, path, {})
                assert status == 200 and "lend_book" not in text and "lending/" not in text
                assert headers["cache-control"] == "no-store"
            policy = (await get(w, "", {}))[2]["content-security-policy"]
            assert "default-src 'none'" in policy and "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            for path in DATA:
                for key in ({}, {"authorization": "Bearer sk-ours"}, {"x-api-key": "sk-metrics"}):
                    assert (await get(w, f"/{path}", key))[0] == 401, (path, key)

    asyncio.run(play())


def test_a_foreign_page_gets_nothing() -> None:
    async def play() -> None:
        async with watched() as (w, _):
            status, _, _ = await get(w, "/state", {**AUTH, "origin": "https://elsewhere.example"})
            assert status == 403

    asyncio.run(play())


def test_rules_conversations_and_verdicts_are_counted() -> None:
    async def play() -> None:
        async with watched(LONG, WRITE) as (w, _):
            await w.ask(CHAT, KNOWN)
            state = json.loads((await get(w, "/state"))[1])
            assert [v["decision"] for v in state["verdicts"]] == ["ALLOW", "REVISE"]
            rules = {row["rule"]: row for row in state["rules"]}
            days = rules["lending/days"]
            assert days["enforced"] == {"rejected": 1, "allowed": 1} and days["shadow"] == {}
            assert days["latest"][0]["tool"] == "lend_book" and days["latest"][0]["findings"]
            (session,) = state["sessions"]
            assert session["calls"] == 2 and session["rejected"] == 1
            run = json.loads((await get(w, f"/session?name={session['session']}"))[1])
            assert run["steps"] and run["domain"] == "lending"
            assert (await get(w, "/session?name=nobody"))[0] == 400

    asyncio.run(play())


@pytest.mark.parametrize("sign", ["\u202e", "\u200b", "\u2066", "\ufeff"])
def test_signs_that_nobody_sees_are_shown(sign: str) -> None:
    """A name could look like another's: `lend_book` written backwards, and turned round."""

    async def play() -> None:
        reply = Reply(calls=(ToolCall(id="c", name=f"koob{sign}dnel", arguments={}),))
        async with watched(reply, WRITE) as (w, _):
            await w.ask(CHAT, KNOWN)
            state = json.loads((await get(w, "/state"))[1])
            shown = json.dumps([state["verdicts"], state["rules"]], ensure_ascii=False)
            assert "koob" in shown and sign not in shown

    asyncio.run(play())


def test_shadow_tells_what_would_have_been_done() -> None:
    async def play() -> None:
        async with watched(LONG, mode="shadow") as (w, _):
            await w.ask(CHAT, KNOWN)
            rows = json.loads((await get(w, "/rules"))[1])
            row = next(row for row in rows if row["rule"] == "lending/days")
            assert row["shadow"] == {"rejected": 1} and "rejected" not in row["enforced"]
            assert row["latest"][0]["shadow"] is True

    asyncio.run(play())


def test_what_is_redacted_is_nowhere_in_it() -> None:
    async def play() -> None:
        async with watched(LONG, WRITE, redact=("text", "books.*.title", "members.*.name")) as (
            w,
            _,
        ):
            await w.ask(CHAT, KNOWN)
            state = (await get(w, "/state"))[1]
            name = json.loads(state)["sessions"][0]["session"]
            shown = state + (await get(w, f"/session?name={name}"))[1]
            assert "[redacted]" in shown
            for secret in ("Ferns", "Ada"):
                assert secret not in shown, secret

    asyncio.run(play())


def test_verdicts_come_as_they_are_made_and_the_end_lets_the_page_go() -> None:
    async def play() -> None:
        async with watched(READ) as (w, feed), aiohttp.ClientSession() as http:
            async with http.get(f"{w.url}/console/events", headers=AUTH) as answer:
                assert await answer.content.readline() == b": watching\n"
                await w.ask(CHAT, KNOWN[:1])
                told = []
                while not told:
                    line = (await answer.content.readline()).decode()
                    event = json.loads(line[6:]) if line.startswith("data: ") else {}
                    told = event.get("verdicts", [])
                assert [case["tool"] for case in told] == ["get_member", "get_book"]
                w.gateway.is_draining = True
                async with asyncio.timeout(10):
                    await answer.content.read()
            async with asyncio.timeout(10):
                while feed.watchers:
                    await asyncio.sleep(0.01)

    asyncio.run(play())


@pytest.mark.parametrize("path", ["", "/view", "/state", "/rules", "/events"])
def test_a_head_is_answered_without_a_body(path: str) -> None:
    """What came behind it would be read as the beginning of the next answer."""

    async def play() -> None:
        async with watched(LONG) as (w, feed), aiohttp.ClientSession() as http:
            for _ in range(3):
                async with http.head(f"{w.url}/console{path}", headers=AUTH) as answer:
                    assert answer.status == 200
            assert not feed.watchers

    asyncio.run(asyncio.wait_for(play(), 30))


@pytest.mark.parametrize("place", ["key", "authorization", "api-key", "access_token"])
def test_the_key_in_an_address_or_a_cookie_opens_nothing(place: str) -> None:
    """There it would come into logs and histories, and a foreign page would bring it along."""

    async def play() -> None:
        async with watched() as (w, _):
            assert (await get(w, f"/state?{place}={KEY}", {}))[0] == 401
            assert (await get(w, "/state", {"cookie": f"{place}={KEY}"}))[0] == 401

    asyncio.run(play())


def test_a_long_conversation_that_is_shown_keeps_nobody_waiting() -> None:
    began, shown = threading.Event(), threading.Event()

    def view(lines: Any) -> Any:
        began.set()
        assert shown.wait(30)
        return {"steps": len(lines)}

    async def play() -> None:
        feed = ConsoleFeed(LIBRARY)
        journal = Journal(NowhereStore(), LIBRARY).telling(feed.hear)
        journal.heard("s", UserMessage(text="x"))
        console = Console(feed, view, live_view_html())
        async with world(READ, journal=journal, console=console, console_key=KEY) as w:
            shows = [asyncio.create_task(get(w, "/session?name=s")) for _ in range(3)]
            assert await asyncio.to_thread(began.wait, 30)
            assert (await w.ask(CHAT, KNOWN[:1])).reply == READ
            shown.set()
            assert {json.loads((await show)[1])["steps"] for show in shows} == {1}

    try:
        asyncio.run(asyncio.wait_for(play(), 30))
    finally:
        shown.set()


def test_who_does_not_read_on_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a page on a machine that sleeps would keep others out, and a replaced gateway alive."""
    monkeypatch.setattr(desk, "PATIENCE", 0.2)

    async def play() -> None:
        async with watched() as (w, feed):
            journal = Journal(NowhereStore(), LIBRARY).telling(feed.hear)
            reader, writer = await asyncio.open_connection(
                "127.0.0.1", int(w.url.rpartition(":")[2])
            )
            head = f"GET /console/events HTTP/1.1\r\nhost: localhost\r\napi-key: {KEY}\r\n\r\n"
            writer.write(head.encode())
            await reader.readuntil(b"watching")
            writer.transport.pause_reading()
            while feed.watchers:
                for _ in range(100):
                    journal.heard("s" * 200, UserMessage(text="x"))
                await asyncio.sleep(0.001)
            writer.close()

    asyncio.run(asyncio.wait_for(play(), 60))


def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeds, "MOST_BYTES", 20_000)
    monkeypatch.setattr(feeds, "LONGEST_SESSION", 5_000)
    feed = ConsoleFeed(LIBRARY)
    journal = Journal(NowhereStore(), LIBRARY).telling(feed.hear)
    for n in range(200):
        for _ in range(10):
            journal.heard(f"s{n}", UserMessage(text="x" * 400))
    sessions = feed.state()["sessions"]
    kept = sum(len(line) for one in sessions for line in feed.lines(one["session"]) or ())
    assert 0 < kept <= 20_000 and len(sessions) < 10
    assert sessions[0]["session"] == "s199" and all(one["cut"] for one in sessions)


def test_who_is_too_slow_is_told_to_look_again() -> None:
    async def play() -> None:
        feed = ConsoleFeed(LIBRARY)
        watcher = feed.watch()
        journal = Journal(NowhereStore(), LIBRARY).telling(feed.hear)
        for _ in range(2_000):
            journal.heard("s", UserMessage(text="x"))
        await asyncio.sleep(0)
        events = []
        while (event := await watcher.next(0.01)) is not None:
            events.append(event)
        assert len(events) < 1_000 and events[-1] == {"type": "lost"}

    asyncio.run(play())


def test_an_empty_key_is_refused() -> None:
    with pytest.raises(UsageError, match="empty"):
        Settings(upstream="http://x", console_key="")
