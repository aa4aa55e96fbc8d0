"""What a store in memory keeps: bounded in bytes, and what is gone begins anew."""

from __future__ import annotations

import pytest

from ledgeragent.stores.base import ProcessStore, SavedSession
from ledgeragent.types import Message, Reply, UserMessage
from tests.gateway.conftest import Client
from tests.gateway.wires import RESPONSES
from tests.gateway.world import HELLO, READ, SAY, WRITE, run, world
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, answer, call

MINE = {"x-ledgeragent-session": "mine"}
MORE = UserMessage(text="And?")


def named(name: str) -> dict[str, str]:
    return {"x-ledgeragent-session": name}


def read_by(size: int) -> tuple[Message, ...]:
    """Both records read, the member's about as large as this."""
    return (HELLO, READ, answer(GET_MEMBER, {**ADA, "name": "a" * size}), answer(GET_BOOK, BOOK_IN))


def test_sessions_that_hold_too_much_begin_anew(client: Client) -> None:
    """The longest unused first; one that is too large by itself costs no other its place."""

    async def scenario() -> None:
        store = ProcessStore(most=50_000)
        async with world(*[SAY] * 8, *[WRITE] * 6, store=store, max_revisions=0) as w:

            async def read(name: str, size: int) -> None:
                await client.release(w, named(name))
                await client.ask(w, *read_by(size), headers=named(name))

            await read("giant", 60_000)
            for name in "abcde":
                await read(name, 10_000)
            await client.ask(w, MORE, headers=named("b"))
            await read("f", 10_000)
            for name in ("b", "d", "e", "f", "a", "giant"):
                got = await client.ask(w, MORE, headers=named(name))
                kept = name in "bdef"
                assert got.verdicts == f"lend_book={'ALLOW' if kept else 'REVISE'}"

    run(scenario())


def test_a_session_that_grows_without_end_is_bounded(client: Client) -> None:
    """Each request is small, and what they held together is not kept past the bound."""
    sizes: list[int] = []

    class Weighed(ProcessStore):
        async def save(self, name: str, saved: SavedSession) -> None:
            await super().save(name, saved)
            if name.startswith("session:"):
                kept = await self.load(name)
                sizes.append(kept.memory.size if kept is not None else 0)

    async def scenario() -> None:
        async with world(*[SAY] * 12, store=Weighed(most=50_000)) as w:
            for n in range(12):
                other = call("get_member", f"call-{n}", member_id=f"M{n}")
                told = answer(other, {**ADA, "member_id": f"M{n}", "name": "a" * 10_000})
                await client.ask(w, MORE, Reply(calls=(other,)), told, headers=MINE)
            assert 40_000 < max(sizes) <= 50_000
            assert sizes.count(0) == 2

    run(scenario())


@pytest.mark.parametrize("stream", [False, True])
def test_a_reply_that_was_dropped_is_not_known(stream: bool) -> None:
    async def scenario() -> None:
        async with world(*[SAY] * 9, store=ProcessStore(most=50_000)) as w:
            ids = []
            for _ in range(6):
                got = await w.ask(RESPONSES, read_by(10_000), stream=stream)
                ids.append((got.body or got.events[-1]["response"])["id"])
            for name, code in ((ids[0], 400), (ids[-1], 200)):
                got = await w.ask(RESPONSES, (MORE,), stream=stream, previous_response_id=name)
                assert got.status == code

    run(scenario())
