"""The verb as a process: what it prints, what it serves, how it ends."""

from __future__ import annotations

import asyncio
import json
import signal
from pathlib import Path

import aiohttp
import pytest

from ledgeragent.cli.main import main
from ledgeragent.gateway.words import VERDICT_HEADER
from ledgeragent.journal import open_store, read, verify
from tests.gateway.processes import process
from tests.gateway.upstream import Upstream, stepwise
from tests.gateway.wires import CHAT
from tests.gateway.world import HELLO, KNOWN, READ, SAY, TOOLS, WRITE, read_sse, run, served

BODY = json.dumps(CHAT.request((HELLO,), TOOLS, False))


def test_it_serves_and_stops_gracefully(tmp_path: Path) -> None:
    """A stream that is under way when the signal comes is finished first."""

    async def scenario() -> None:
        steps = asyncio.Semaphore(0)
        upstream = Upstream()
        upstream.script.extend([WRITE, stepwise(SAY, steps)])
        file = tmp_path / "journal.jsonl"
        keys = ("--api-key-env", "OUR_KEYS", "--upstream-key-env", "THEIR_KEY")
        options = (*keys, "--journal", str(file), "--redact", "text", "--max-revisions", "0")
        async with (
            served(upstream.app()) as behind,
            process(behind, *options) as (gateway, url, told),
            aiohttp.ClientSession(headers={"authorization": "Bearer sk-mine"}) as http,
        ):
            assert told == "domain lending 1: 8 tools, 3 rules; 0 of 0 clauses enforced\n"
            async with http.post(f"{url}{CHAT.path}", data=BODY) as response:
                reply = CHAT.read(await response.json())
                assert reply.text == "I can't do that right now."
            assert upstream.headers[0]["authorization"] == "Bearer sk-theirs"
            streamed = json.dumps(CHAT.request((HELLO,), TOOLS, True))
            steps.release()
            steps.release()
            async with http.post(f"{url}{CHAT.path}", data=streamed) as response:
                gateway.send_signal(signal.SIGTERM)
                await asyncio.sleep(0.2)
                for _ in range(10):
                    steps.release()
                events, _ = read_sse(await response.read())
                assert CHAT.read_events(events) == SAY
            assert await asyncio.wait_for(gateway.wait(), 20) == 0
        store = open_store(file)
        assert verify(store).intact
        events_told = [r["event"] for r in read(store)]
        assert events_told == ["heard", "proposed", "judged"] * 2
        assert "Ferns" not in file.read_text()

    run(scenario())


@pytest.mark.parametrize(("most", "decision"), [("100000", "ALLOW"), ("100", "REVISE")])
def test_what_sessions_may_hold(most: str, decision: str) -> None:
    async def scenario() -> None:
        upstream = Upstream()
        upstream.script.extend([READ, SAY, WRITE])
        options = ("--max-session-bytes", most, "--max-revisions", "0")
        async with (
            served(upstream.app()) as behind,
            process(behind, *options) as (_, url, _),
            aiohttp.ClientSession(headers={"x-ledgeragent-session": "mine"}) as http,
        ):
            for messages in ((HELLO,), KNOWN, (HELLO,)):
                body = CHAT.request(messages, TOOLS, False)
                async with http.post(f"{url}{CHAT.path}", json=body) as response:
                    told = response.headers.get(VERDICT_HEADER)
            assert told == f"lend_book={decision}"

    run(scenario())


@pytest.mark.parametrize(
    ("options", "calls"),
    [((), 0), (("--undecided", "block"), 0), (("--undecided", "allow"), 1)],
)
def test_what_the_operator_lists_is_what_can_be_read(options: tuple[str, ...], calls: int) -> None:
    """However many tools a request lists."""

    async def scenario() -> None:
        upstream = Upstream()
        upstream.script.append(WRITE)
        async with (
            served(upstream.app()) as behind,
            process(behind, "--tools", "lend_book", *options) as (_, url, _told),
            aiohttp.ClientSession() as http,
            http.post(f"{url}{CHAT.path}", data=BODY) as response,
        ):
            assert response.headers[VERDICT_HEADER] == "lend_book=UNDECIDED"
            assert len(CHAT.read(await response.json()).calls) == calls

    run(scenario())


@pytest.mark.parametrize(
    "options",
    [
        ("--upstream", "localhost"),
        ("--upstream", "http://x", "--api-key-env", "NOT_SET_ANYWHERE"),
        ("--upstream", "http://x", "--upstream-key-env", "NOT_SET_ANYWHERE"),
        ("--upstream", "http://x", "--domain", "nothing"),
    ],
)
def test_options_that_cannot_be_used(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["gateway", "--domain", "shop", *options]) == 2
    assert capsys.readouterr().err.startswith("ledgeragent: error: ")


def test_a_port_that_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        asked = ["gateway", "--domain", "shop", "--upstream", "http://x", "--port", port]
        assert main(asked) == 2
    assert "cannot listen" in capsys.readouterr().err
