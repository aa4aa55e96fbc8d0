"""The judgement inside another program, under hostile requests and replies: judged, or refused."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from typing import Any

import pytest

from ledgeragent.gateway.errors import BadReplyError, GatewayError, TooLargeError
from ledgeragent.gateway.guarding import Guarding
from ledgeragent.gateway.settings import Settings
from ledgeragent.gateway.sse import DONE, ServerEvent
from tests.gateway.damages import REPLIES, answer_bytes, damaged, faults_of, places
from tests.gateway.wires import WIRES, Wire
from tests.gateway.world import KNOWN, SAY, TOOLS, WRITE
from tests.lending.domain import LIBRARY

SEEDS = range(200)
each_wire = pytest.mark.parametrize("wire", WIRES, ids=lambda wire: wire.name)
HOSTILE: dict[str, Any] = {
    "deep": json.loads("[" * 900 + "]" * 900),
    "many": [[]] * 250_000,
    "number": 10**400,
    "half a character": "\ud800",
    "nothing": None,
    "true": True,
    "object": {"": {}},
    "spaces": " " * 1_000_000,
}


def guarding(mode: Any = "enforce") -> Guarding:
    settings = Settings(upstream="", context_role="last", mode=mode, max_refusals=0)
    return Guarding(LIBRARY, settings)


async def never(body: Any) -> bytes:
    raise BadReplyError("nothing more is said")


async def nothing(body: Any) -> Any:
    raise BadReplyError("nothing more is said")
    yield


@each_wire
def test_a_damaged_request_is_taken_in_or_refused(wire: Wire) -> None:
    async def play() -> None:
        judge, outcomes = guarding(), set[str]()
        for seed in SEEDS:
            rng = random.Random(f"{wire.name}-{seed}")
            body = wire.request(KNOWN, TOOLS, False)
            for _ in range(rng.randrange(1, 4)):
                body = damaged(body, rng, wire)
            try:
                guarded = await judge.begin(wire.path, body, rng.choice((None, "mine")), "")
                assert guarded is not None
                assert isinstance(guarded.prompt, dict)
                await guarded.close()
                outcomes.add("taken")
            except GatewayError as problem:
                outcomes.add(f"refused {problem.status}")
        assert {"taken", "refused 400"} <= outcomes <= {"taken", "refused 400", "refused 413"}

    asyncio.run(play())


@each_wire
@pytest.mark.parametrize("kind", HOSTILE)
def test_anything_anywhere_in_a_request_is_taken_in_or_refused(wire: Wire, kind: str) -> None:
    async def play() -> None:
        judge = guarding()
        for at in list(places(wire.request(KNOWN, TOOLS, False)))[::4]:
            body: Any = wire.request(KNOWN, TOOLS, False)
            parent = body
            for step in at[:-1]:
                parent = parent[step]
            parent[at[-1]] = HOSTILE[kind]
            try:
                guarded = await judge.begin(wire.path, body, None, "")
                assert guarded is not None
                await guarded.close()
            except GatewayError:
                pass

    asyncio.run(play())


@each_wire
def test_a_request_of_too_many_values_is_refused_as_at_the_port(wire: Wire) -> None:
    async def play() -> None:
        body: Any = wire.request(KNOWN, TOOLS, False)
        body["messages" if "messages" in body else "input"][0]["x"] = HOSTILE["many"]
        with pytest.raises(TooLargeError, match="holds more than 200000 values"):
            await guarding().begin(wire.path, body, None, "")
        assert await guarding("shadow").begin(wire.path, body, None, "") is None

    asyncio.run(play())


@each_wire
@pytest.mark.parametrize("mode", ["enforce", "shadow"])
def test_no_damaged_reply_gets_a_write_through(wire: Wire, mode: str) -> None:
    async def play() -> None:
        judge, refused = guarding(mode), 0
        for seed in SEEDS:
            rng = random.Random(f"{wire.name}-{seed}")
            raw = answer_bytes(wire, rng.choice(REPLIES), rng, stream=False)
            guarded = await judge.begin(wire.path, wire.request(KNOWN, TOOLS, False), None, "")
            assert guarded is not None
            try:
                answer = await guarded.answer(raw, never)
            except GatewayError:
                refused += 1
                continue
            if mode == "shadow":
                assert answer == raw
            else:
                assert list(faults_of(200, "application/json", answer)) == [], seed
        assert (20 < refused < 180) if mode == "enforce" else not refused

    asyncio.run(play())


async def pieces(wire: Wire, rng: random.Random) -> AsyncIterator[ServerEvent]:
    """A stream as a proxy hands it on, in which anything may stand, and which may break at any place."""
    events: list[Any] = []
    for raw in wire.events(rng.choice(REPLIES), "r"):
        for block in raw.decode().strip().split("\n\n"):
            name, _, data = block.rpartition("data: ")
            name = name.removeprefix("event: ").strip()
            events.append((name, data if data == DONE else json.loads(data)))
    bodies: Any = [data for _, data in events if data != DONE]
    for _ in range(rng.choice((0, 1, 2))):
        bodies = damaged(bodies, rng, wire)
    if isinstance(bodies, list):
        for body in bodies[
            : rng.choice((len(bodies), len(bodies), rng.randrange(len(bodies) + 1)))
        ]:
            kind = body.get("type", "") if isinstance(body, dict) else ""
            yield ServerEvent(str(kind) if wire.name != "chat" else "", body)
    failure = rng.choice((None, None, None, ValueError("x"), KeyError("type"), AttributeError("x")))
    if failure is not None:
        raise failure
    if wire.name == "chat":
        yield ServerEvent("", DONE)


@each_wire
def test_no_damaged_stream_gets_a_write_through(wire: Wire) -> None:
    async def play() -> None:
        judge, refused = guarding(), 0
        for seed in SEEDS:
            rng = random.Random(f"{wire.name}-{seed}")
            guarded = await judge.begin(wire.path, wire.request(KNOWN, TOOLS, True), None, "")
            assert guarded is not None
            heard = b""
            try:
                async for event in guarded.stream(pieces(wire, rng), nothing):
                    heard += event.encode()
            except GatewayError:
                refused += 1
            refused += b'"error"' in heard
            assert list(faults_of(200, "text/event-stream", heard)) == [], seed
            assert guarded.admission.visit.settled or refused
        assert 20 < refused < 195

    asyncio.run(play())


@each_wire
def test_after_all_that_a_good_reply_passes(wire: Wire) -> None:
    async def play() -> None:
        judge = guarding()
        for reply in (SAY, WRITE):
            for _ in range(3):
                guarded = await judge.begin(wire.path, wire.request(KNOWN, TOOLS, False), None, "")
                assert guarded is not None
                raw = json.dumps(wire.answer(reply, "r")).encode()
                assert await guarded.answer(raw, never) == raw

    asyncio.run(play())
