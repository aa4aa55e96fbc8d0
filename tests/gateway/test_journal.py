"""What the gateway tells the journal, and that it does so before the client hears of it."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from ledgeragent.journal import Journal, open_store, read, verify
from ledgeragent.journal.transcripts import exported
from ledgeragent.predicates import Broken, Private, View, predicate, violation
from ledgeragent.types import Reply, UserMessage
from tests.gateway.conftest import Client
from tests.gateway.processes import process
from tests.gateway.upstream import Upstream
from tests.gateway.wires import WIRES
from tests.gateway.world import HELLO, KNOWN, LONG, READ, SAY, TOOLS, WRITE, run, served, world
from tests.lending.domain import LEND, LIBRARY, answer, call


def events_of(file: Path) -> list[dict[str, Any]]:
    store = open_store(file)
    assert verify(store).intact
    records = list(read(store))
    store.close()
    return records


def test_a_conversation_is_told_once_in_one_session(client: Client, tmp_path: Path) -> None:
    async def scenario() -> None:
        file = tmp_path / "journal.jsonl"
        journal = Journal(open_store(file, writable=True), LIBRARY)
        async with world(READ, WRITE, SAY, journal=journal) as w:
            await client.ask(w, HELLO)
            await client.ask(w, *KNOWN)
            await client.ask(w, *KNOWN, WRITE, answer(LEND, "lent"))
        journal.close()
        told = events_of(file)
        assert [r["event"] for r in told] == [
            "heard",
            "proposed",
            "judged",
            "observed",
            "observed",
            "proposed",
            "judged",
            "executed",
            "proposed",
            "judged",
        ]
        assert len({r["session"] for r in told}) == 1
        (conversation,) = exported(told)
        roles = [message["role"] for message in conversation["messages"]]
        assert roles == ["user", "assistant", "tool", "tool", "assistant", "tool", "assistant"]

    run(scenario())


def test_twins_have_a_session_each(client: Client, tmp_path: Path) -> None:
    async def scenario() -> None:
        file = tmp_path / "journal.jsonl"
        journal = Journal(open_store(file, writable=True), LIBRARY)
        async with world(SAY, SAY, READ, WRITE, journal=journal) as w:
            for _ in range(2):
                await client.ask(w, HELLO)
            for last in ("Ferns", "Moss"):
                await client.ask(w, HELLO, SAY, UserMessage(text=last))
        journal.close()
        sessions: dict[str, list[str]] = {}
        for record in events_of(file):
            sessions.setdefault(record["session"], []).append(record["event"])
        turn = ["heard", "proposed", "judged"]
        assert sorted(sessions.values()) == sorted([turn, turn * 2, ["heard", "proposed", *turn]])

    run(scenario())


def test_a_retry_tells_nothing_twice(client: Client, tmp_path: Path) -> None:
    from tests.gateway.upstream import status

    async def scenario() -> None:
        file = tmp_path / "journal.jsonl"
        journal = Journal(open_store(file, writable=True), LIBRARY)
        async with world(status(500), SAY, journal=journal) as w:
            await client.ask(w, HELLO)
            await client.ask(w, HELLO)
        journal.close()
        assert [r["event"] for r in events_of(file)] == ["heard", "proposed", "judged"]

    run(scenario())


def test_revisions_are_told_with_their_verdicts(client: Client, tmp_path: Path) -> None:
    async def scenario() -> None:
        file = tmp_path / "journal.jsonl"
        journal = Journal(open_store(file, writable=True), LIBRARY)
        async with world(LONG, WRITE, journal=journal) as w:
            await client.ask(w, *KNOWN)
        journal.close()
        judged = [r for r in events_of(file) if r["event"] == "judged"]
        assert [v["decision"] for r in judged for v in r["verdicts"]] == ["REVISE", "ALLOW"]

    run(scenario())


def test_half_a_character_can_be_told(client: Client, tmp_path: Path) -> None:
    async def scenario() -> None:
        file = tmp_path / "journal.jsonl"
        journal = Journal(open_store(file, writable=True), LIBRARY)
        async with world(SAY, journal=journal) as w:
            got = await client.ask(w, UserMessage(text="\ud83d"))
            assert got.reply == SAY
        journal.close()
        assert [r["event"] for r in events_of(file)] == ["heard", "proposed", "judged"]

    run(scenario())


@pytest.mark.parametrize(("suffix", "times"), [("jsonl", 10), ("db", 1)])
def test_killed_under_load_it_has_told_all_that_clients_saw(
    tmp_path: Path, suffix: str, times: int
) -> None:
    """SIGKILL in the middle of forty conversations, again and again, on one and the same journal.

    Each client notes the calls it was given.
    """
    file = tmp_path / f"journal.{suffix}"
    seen: Counter[str] = Counter()

    async def kill(first: int) -> None:
        upstream = Upstream()
        upstream.choose = _lend
        before = len(seen)
        async with (
            served(upstream.app()) as behind,
            process(behind, "--journal", str(file)) as (gateway, url, _),
            aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as http,
        ):
            numbers = range(first, first + 40)
            clients = [asyncio.create_task(_converse(http, url, n, seen)) for n in numbers]
            while len(seen) < before + 50:
                await asyncio.sleep(0.01)
            gateway.kill()
            await gateway.wait()
            await asyncio.gather(*clients)
        told = {
            f"{verdict['call']['id']}={verdict['decision']}"
            for record in events_of(file)
            if record["event"] == "judged"
            for verdict in record["verdicts"]
        }
        assert set(seen) <= told

    for n in range(times):
        run(kill(40 * n))


def _lend(body: dict[str, Any]) -> Reply:
    """Lends for three weeks, or too long where the customer asks for it."""
    field = body.get("messages") or body["input"]
    words = json.dumps(field).partition("number ")[2].split()[0].strip('",]}')
    days = 90 if int(words.rpartition(".")[2]) % 2 else 21
    made = call("lend_book", f"c{words}", member_id="M1", book_id="B1", days=days)
    return Reply(text="", calls=(made,))


async def _converse(http: aiohttp.ClientSession, url: str, number: int, seen: Counter[str]) -> None:
    wire, stream = WIRES[number % 3], number % 2 == 0
    for turn in range(1000):
        asked = (UserMessage(text=f"number {number}.{turn}"), *KNOWN[1:])
        body = json.dumps(wire.request(asked, TOOLS, stream))
        try:
            async with http.post(f"{url}{wire.path}", data=body) as response:
                data = await response.read()
        except aiohttp.ClientError:
            return
        decision = "ALLOW" if b"c%d.%d" % (number, turn) in data else "REVISE"
        seen[f"c{number}.{turn}={decision}"] += 1


def test_what_a_call_waits_for_and_what_was_lost_is_told(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    again = replace(LEND, id="again")
    twice = Reply(calls=(LEND, again))
    stranger = Reply(calls=(call("lend_book", member_id="M2", book_id="B1", days=9),))

    async def scenario() -> None:
        with Journal.open(file, KEEPING) as journal:
            async with world(
                twice, stranger, domain=KEEPING, max_revisions=0, journal=journal
            ) as w:
                got = await client.ask(w, *KNOWN)
                assert got.reply is not None
                failed = answer(LEND, "Error: 504 Gateway Timeout")
                await client.ask(w, *KNOWN, got.reply, failed)

    run(scenario())
    told = events_of(file)
    first, second = (e["verdicts"] for e in told if e["event"] == "judged")
    assert [verdict["word"] for verdict in first] == ["ALLOW", "REVISE"]
    (finding,) = first[1]["findings"]
    assert [(c["id"], c["name"]) for c in finding["waits_for"]] == [(LEND.id, "lend_book")]
    (executed,) = (e for e in told if e["event"] == "executed")
    assert executed["skipped"] == "it is not known whether the write executed"
    (finding,) = second[0]["findings"]
    assert "M2" in finding["reason"]
    assert finding["public"] == "a member other than somebody else is served"


def test_a_result_that_comes_late_is_told(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "journal.jsonl"
    session = {"x-ledgeragent-session": "ada"}

    async def scenario() -> None:
        with Journal.open(file, LIBRARY) as journal:
            async with world(WRITE, SAY, SAY, journal=journal) as w:
                await client.release(w, session)
                await client.ask(w, *KNOWN, headers=session)
                more = (*KNOWN, WRITE, UserMessage(text="Well?"))
                got = await client.ask(w, *more, headers=session)
                assert got.reply is not None
                await client.ask(w, *more, got.reply, answer(LEND, "lent"), headers=session)

    run(scenario())
    (executed,) = (e for e in events_of(file) if e["event"] == "executed")
    assert (executed["call"]["id"], executed["lost"]) == (LEND.id, False)
    assert "lent" in str(executed["content"])


@predicate("lending/whose", guards="lend_book", identity=True)
def whose(lending: Any, ledger: View) -> Broken | None:
    """Only one member is served."""
    if lending["member_id"] == "M1":
        return None
    member = Private(lending["member_id"], instead="somebody else")
    return violation("a member other than {member} is served", member=member)


KEEPING = replace(LIBRARY, predicates=(*LIBRARY.predicates, whose))
