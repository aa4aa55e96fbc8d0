"""Sessions by name and by reply, on every store: the client may leave out what was said before."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ledgeragent.gateway.visits import mark, unseen
from ledgeragent.stores.base import ProcessStore, SavedSession, SessionStore
from ledgeragent.stores.choose import open_session_store
from ledgeragent.stores.errors import SessionChangedError, SessionStoreError
from ledgeragent.stores.memory import Memory
from ledgeragent.types import Message, Reply, ToolCall, UserMessage
from tests.gateway.conftest import Client
from tests.gateway.upstream import status
from tests.gateway.wires import RESPONSES
from tests.gateway.world import (
    HELLO,
    KNOWN,
    LONG,
    MIXED,
    READ,
    SAY,
    TOOLS,
    WRITE,
    is_error,
    run,
    world,
)
from tests.lending.domain import ADA, BOOK_IN, BOOK_OUT, GET_BOOK, GET_MEMBER, LEND, answer, call

MINE = {"x-ledgeragent-session": "mine"}
MORE = UserMessage(text="And?")

MakeStore = Callable[[], SessionStore]


@pytest.fixture(params=["memory", "sqlite", "postgres"])
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> MakeStore:
    """Opens the same place each time it is called; each test has a place of its own."""
    if request.param == "memory":
        kept = ProcessStore()
        return lambda: kept
    if request.param == "sqlite":
        return lambda: open_session_store(str(tmp_path / "sessions.db"))
    address = request.getfixturevalue("database")
    return lambda: open_session_store(address)


def test_a_store_keeps_versions(make_store: MakeStore) -> None:
    async def scenario() -> None:
        one, other = make_store(), make_store()
        await one.open()
        await other.open()
        assert await one.load("a") is None
        first = SavedSession(memory=Memory(session="a"), folded=("x",))
        await one.save("a", first)
        for store in (one, other):
            with pytest.raises(SessionChangedError):
                await store.save("a", first)
        known = await other.load("a")
        assert known is not None
        assert (known.memory, known.folded, known.version) == (first.memory, ("x",), 1)
        await other.save("a", known)
        with pytest.raises(SessionChangedError):
            await one.save("a", known)
        assert await one.load("b") is None
        await one.close()
        await other.close()

    run(scenario())


def test_a_trimmed_history_goes_on(client: Client, make_store: MakeStore) -> None:
    """Each request leaves more out; two gateways take turns on one store."""

    async def scenario() -> None:
        first = world(READ, WRITE, store=make_store(), max_revisions=0)
        second = world(SAY, WRITE, SAY, store=make_store(), max_revisions=0)
        async with first as a, second as b:
            await client.ask(a, HELLO, headers=MINE)
            trimmed = (READ, answer(GET_MEMBER, ADA), answer(GET_BOOK, BOOK_IN))
            await client.ask(b, *trimmed, headers=MINE)
            assert "members.M1" in client.wire.told(b.upstream.asked[0])
            got = await client.ask(a, SAY, MORE, headers=MINE)
            assert got.verdicts == "lend_book=ALLOW"
            done = answer(LEND, "lent")
            got = await client.ask(b, WRITE, done, MORE, headers=MINE)
            assert got.verdicts == "lend_book=REVISE"
            await client.ask(b, got.reply, MORE, headers=MINE)
            assert "was changed by lend_book" in client.wire.told(b.upstream.asked[-1])

    run(scenario())


def test_the_loop_guard_lives_in_the_session(client: Client, make_store: MakeStore) -> None:
    async def scenario() -> None:
        async with world(*[WRITE] * 4, store=make_store(), max_revisions=0) as w:
            await client.release(w, MINE)
            history: list[Message] = [
                HELLO,
                READ,
                answer(GET_MEMBER, ADA),
                answer(GET_BOOK, BOOK_OUT),
            ]
            seen = []
            for _ in range(4):
                got = await client.ask(w, *history, headers=MINE)
                assert got.reply is not None
                seen.append(got.verdicts.partition("=")[2])
                history = [Reply(text=got.reply.text[:5]), MORE]
            assert seen == ["REVISE", "REVISE", "REVISE", "BLOCK"]

    run(scenario())


def test_sessions_keep_to_themselves(client: Client, make_store: MakeStore) -> None:
    """Another name, or the same name with another key, is another session."""

    async def scenario() -> None:
        async with world(SAY, SAY, SAY, SAY, store=make_store()) as w:
            await client.release(w, MINE)
            await client.ask(w, *KNOWN, headers=MINE)
            assert "members.M1" in client.wire.told(w.upstream.asked[-1])
            others: tuple[dict[str, str], ...] = (
                {"x-ledgeragent-session": "yours"},
                {**MINE, "authorization": "Bearer another"},
                {},
            )
            for headers in others:
                await client.ask(w, MORE, headers=headers)
                assert "members.M1" not in client.wire.told(w.upstream.asked[-1])

    run(scenario())


def test_a_failed_request_can_be_repeated(client: Client, make_store: MakeStore) -> None:
    async def scenario() -> None:
        async with world(status(500), WRITE, store=make_store()) as w:
            await client.release(w, MINE)
            assert (await client.ask(w, *KNOWN, headers=MINE)).status == 500
            got = await client.ask(w, *KNOWN, headers=MINE)
            assert got.reply == WRITE

    run(scenario())


def test_requests_of_one_session_at_once(client: Client, make_store: MakeStore) -> None:
    """One is answered; the other is told to come again, and is given no call to make."""

    async def scenario() -> None:
        async with world(store=make_store()) as w:
            await client.release(w, MINE)

            async def once_both_ask(request: Any, wire: Any, body: Any) -> Any:
                while len(w.upstream.asked) < 3:
                    await asyncio.sleep(0.01)
                return await w.upstream._play(request, wire, body, WRITE)

            w.upstream.script.extend([once_both_ask, once_both_ask])
            both = await asyncio.gather(
                *(client.ask(w, *KNOWN, headers=MINE) for _ in range(2)),
            )
            w.upstream.script.append(SAY)
            called = [got for got in both if "lend_book" in str(got.reply)]
            told = [got for got in both if got not in called]
            assert len(called) == 1
            assert "send this one again" in str(told[0].body or told[0].events)

    run(scenario())


def test_a_session_name_that_cannot_be_one(client: Client) -> None:
    async def scenario() -> None:
        async with world() as w:
            got = await client.ask(w, HELLO, headers={"x-ledgeragent-session": "x" * 300})
            assert got.status == 400

    run(scenario())


def test_a_record_read_again_under_the_same_id_is_new(client: Client) -> None:
    """A client that sends only results, from a model whose ids repeat: the second read counts too."""
    again = Reply(calls=(GET_BOOK,))
    shelve = Reply(calls=(call("shelve_book", "shelve", book_id="B1"),))

    async def scenario() -> None:
        async with world(READ, shelve, again, WRITE, max_revisions=0) as w:
            await client.ask(w, HELLO, headers=MINE)
            read = answer(GET_BOOK, BOOK_IN)
            await client.ask(w, answer(GET_MEMBER, ADA), read, headers=MINE)
            await client.ask(w, answer(shelve.calls[0], "done"), headers=MINE)
            got = await client.ask(w, read, headers=MINE)
            assert got.verdicts == "lend_book=ALLOW"

    run(scenario())


def test_a_crowd_of_replies_drops_no_session_from_memory() -> None:
    async def scenario() -> None:
        store, saved = ProcessStore(limit=3), SavedSession(memory=Memory(session="s"))
        await store.save("session:1", saved)
        for n in range(9):
            await store.save(f"reply:{n}", saved)
        assert await store.load("session:1") is not None
        kept = [n for n in range(9) if await store.load(f"reply:{n}") is not None]
        assert kept == [6, 7, 8]

    run(scenario())


def test_a_session_that_begins_before_anything_was_said(client: Client) -> None:
    """A request with instructions only holds nothing that is judged, and is still one."""

    async def scenario() -> None:
        field = "input" if client.wire.name == "responses" else "messages"
        role = "user" if client.wire.name == "messages" else "system"
        body = client.wire.request((HELLO,), TOOLS, client.stream)
        body[field] = [{"role": role, "content": "Be brief."}]
        async with world(SAY, WRITE) as w:
            got = await w.post(client.wire, json.dumps(body).encode(), MINE)
            assert got.reply == SAY
            await client.release(w, MINE)
            again = await client.ask(w, *KNOWN, headers=MINE)
            assert again.verdicts == "lend_book=ALLOW"

    run(scenario())


def test_a_store_that_is_gone(client: Client, tmp_path: Path) -> None:
    class Gone(ProcessStore):
        async def save(self, name: str, saved: SavedSession) -> None:
            raise SessionStoreError("the session store cannot be reached")

    async def scenario() -> None:
        async with world(WRITE, WRITE, store=Gone()) as w:
            got = await client.ask(w, *KNOWN, headers=MINE)
            assert got.status == 503 or is_error(got.events[-1])
            assert "lend_book" not in str(got)

    run(scenario())


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_is_continued_by_its_id(make_store: MakeStore, stream: bool) -> None:
    async def scenario() -> None:
        async with world(MIXED, SAY, WRITE, store=make_store()) as w:

            async def ask(*messages: Message, **changes: Any) -> Any:
                return await w.ask(RESPONSES, messages, stream=stream, **changes)

            def id_of(got: Any) -> str:
                body = got.body or got.events[-1]["response"]
                return str(body["id"])

            first = await ask(HELLO)
            told = (answer(GET_MEMBER, ADA), answer(GET_BOOK, BOOK_IN))
            second = await ask(*told, previous_response_id=id_of(first))
            asked = w.upstream.asked[1]
            owed = asked["input"][0]
            assert (owed["type"], owed["call_id"]) == ("function_call_output", LEND.id)
            assert "was not executed; by the ledger, nothing stands" in owed["output"]
            assert len(asked["input"]) == 3
            assert "members.M1" in asked["instructions"]
            third = await ask(MORE, previous_response_id=id_of(second))
            assert third.verdicts == "lend_book=ALLOW"
            unknown = await ask(MORE, previous_response_id="resp_99")
            assert unknown.status == 400

    run(scenario())


@pytest.mark.parametrize("stream", [False, True])
def test_what_is_owed_for_repeated_ids_stands_in_the_order_of_the_calls(stream: bool) -> None:
    def lend(days: int) -> ToolCall:
        name = "lend_book" if days > 28 else "call_librarian"
        given = {"member_id": "M1", "book_id": "B1", "days": days} if days > 28 else {"note": "x"}
        return call(name, "same", **given)

    async def scenario() -> None:
        mixed = Reply(calls=(lend(90), lend(9), lend(80), lend(8)))
        async with world(mixed, SAY) as w:
            got = await w.ask(RESPONSES, KNOWN, stream=stream)
            assert got.reply is not None
            assert got.reply.calls == (lend(9), lend(8))
            returned = (answer(lend(9), "ninth"), answer(lend(8), "eighth"))
            await w.ask(RESPONSES, returned, stream=stream, previous_response_id="resp_1")
            outputs = [item["output"] for item in w.upstream.asked[1]["input"]]
            assert [text.strip('"') if text.endswith('th"') else "owed" for text in outputs] == [
                "owed",
                "ninth",
                "owed",
                "eighth",
            ]

    run(scenario())


def test_a_revised_stream_is_continued_where_upstream_ended(make_store: MakeStore) -> None:
    """The client knows the first response's id, upstream goes on from the last."""

    async def scenario() -> None:
        async with world(LONG, SAY, SAY, store=make_store()) as w:
            got = await w.ask(RESPONSES, KNOWN, stream=True)
            known = got.events[-1]["response"]["id"]
            assert known == "resp_1"
            await w.ask(RESPONSES, (MORE,), previous_response_id=known)
            asked = w.upstream.asked[2]
            assert asked["previous_response_id"] == "resp_2"
            assert len(asked["input"]) == 1

    run(scenario())


U1, U2, R1 = UserMessage(text="a"), UserMessage(text="b"), Reply(text="r")


@pytest.mark.parametrize(
    ("folded", "sent", "new"),
    [
        ((), (U1,), (U1,)),
        ((U1, R1), (U1, R1, U2), (U2,)),
        ((U1, R1), (R1, U2), (U2,)),
        ((U1, R1), (U2,), (U2,)),
        ((U1, R1), (U1, Reply(text="other"), U2), (Reply(text="other"), U2)),
        ((U1, R1), (U1,), (U1,)),
        ((U1, R1, U1, R1), (U1, R1, U1, R1, U1), (U1,)),
        ((READ, answer(GET_BOOK, BOOK_IN)), (READ, answer(GET_BOOK, BOOK_IN)), ()),
    ],
)
def test_what_is_new_in_a_history(
    folded: tuple[Message, ...], sent: tuple[Message, ...], new: tuple[Message, ...]
) -> None:
    assert tuple(unseen(tuple(map(mark, folded)), sent)) == new
