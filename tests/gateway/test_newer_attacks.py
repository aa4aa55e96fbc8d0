"""Attacks of newer APIs and of odd but legal frames: no write that nobody judged, no 500, no hang."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ledgeragent.types import Reply
from tests.gateway import newerattacks as attacks
from tests.gateway.attacks import FORBIDDEN, with_call
from tests.gateway.conftest import Client
from tests.gateway.damages import faults_of
from tests.gateway.test_attacks import all_held, playing
from tests.gateway.wires import WIRES, Wire
from tests.gateway.world import KNOWN, TOOLS, WRITE, run, world


def test_odd_frames_of_streams(wire: Wire) -> None:
    all_held(Client(wire, True), attacks.framed(wire))


def test_odd_bodies(wire: Wire) -> None:
    all_held(Client(wire, False), attacks.bodies(wire))


def test_calls_where_newer_apis_have_them(client: Client) -> None:
    all_held(client, attacks.newer(client.wire, client.stream))


def test_events_that_newer_apis_have(wire: Wire) -> None:
    all_held(Client(wire, True), attacks.sneaked(wire))


@pytest.mark.parametrize("kind", ["text/event-stream", "application/json", "", "text/html"])
def test_an_answer_of_another_type_than_it_says(client: Client, kind: str) -> None:
    """Whatever it says it is, it is read as what was asked for."""

    async def respond(request: Any, wire: Wire, body: Any) -> Any:
        answer = await playing(with_call(wire, FORBIDDEN, client.stream))(request, wire, body)
        answer.headers["content-type"] = kind
        return answer

    async def scenario() -> None:
        async with world() as w:
            w.upstream.choose = lambda _: respond
            await held(w, client)

    run(scenario())


async def held(
    w: Any, client: Client, query: str = "", headers: Any = None, **fields: Any
) -> tuple[int, bytes]:
    """One request, whose answer brings no write; within ten seconds."""
    body = json.dumps({**client.wire.request(KNOWN, TOOLS, client.stream), **fields}).encode()
    url = f"{w.url}{client.wire.path}{query}"
    async with asyncio.timeout(10), w.http.post(url, data=body, headers=headers) as got:
        data = await got.read()
        assert got.status < 500 or got.status == 502, data
        if got.status == 200:
            faults = list(faults_of(got.status, got.content_type, data))
            assert faults == [], (query, headers, fields)
        return got.status, data


def test_what_headers_and_queries_say_changes_no_verdict(client: Client) -> None:
    async def scenario() -> None:
        async with world(max_revisions=0) as w:
            bad = playing(with_call(client.wire, FORBIDDEN, client.stream))
            w.upstream.choose = lambda _: bad
            for headers in attacks.HEADERS:
                await held(w, client, headers=headers)
            for query in attacks.QUERIES:
                await held(w, client, query)

    run(scenario())


def test_what_fields_say_changes_no_verdict(client: Client) -> None:
    async def scenario() -> None:
        async with world(max_revisions=0) as w:
            bad = playing(with_call(client.wire, FORBIDDEN, client.stream))
            w.upstream.choose = lambda _: bad
            for fields in attacks.FIELDS[client.wire.name]:
                await held(w, client, **fields)

    run(scenario())


def test_tools_whose_calls_nobody_would_see_are_refused(client: Client) -> None:
    async def scenario() -> None:
        async with world() as w:
            w.upstream.choose = lambda _: WRITE
            for tool in attacks.TOOLS[client.wire.name]:
                tools = [*client.wire.request(KNOWN, TOOLS, False)["tools"], tool]
                status, data = await held(w, client, tools=tools)
                assert status == 400 and b"error" in data, tool
            assert w.upstream.asked == []

    run(scenario())


@pytest.mark.parametrize("number", ["0", "1"])
def test_every_choice_is_judged(number: str) -> None:
    """Also where two have one index, or none."""
    chat = WIRES[0]
    good, bad = (
        chat.answer(reply, "r")["choices"][0] for reply in (WRITE, Reply(calls=(FORBIDDEN,)))
    )
    for indexes in ((0, 1), (1, 0), (0, 0), (None, None), (0, 7), ("0", "1"), (0, -1)):
        pair = [{**good, "index": indexes[0]}, {**bad, "index": indexes[1]}]
        body = {"id": "r", "model": "m", "choices": pair if number == "0" else pair[::-1]}
        all_held(Client(chat, False), {str(indexes): json.dumps(body).encode()}, n=2)


def test_the_matrix_has_its_size() -> None:
    each = [len({**attacks.framed(w), **attacks.bodies(w), **attacks.sneaked(w)}) for w in WIRES]
    more = [len(part) for part in (attacks.CHAT_CHOICES, attacks.BLOCKS, attacks.ITEMS)]
    asked = [len(part[w.name]) for part in (attacks.FIELDS, attacks.TOOLS) for w in WIRES]
    assert sum(each) + sum(more) + sum(asked) + len(attacks.HEADERS) >= 250
