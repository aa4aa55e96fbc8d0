"""Attacks by rare ways: no write that nobody judged, no 500, no hang."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import aiohttp
import pytest

from tests.gateway import rareattacks as attacks
from tests.gateway.attacks import FORBIDDEN, with_call
from tests.gateway.conftest import Client
from tests.gateway.damages import faults_of
from tests.gateway.test_attacks import all_held
from tests.gateway.test_transfercoding import facing
from tests.gateway.wires import WIRES, Wire
from tests.gateway.world import TOOLS, WRITE, run, world


def test_rare_names(client: Client) -> None:
    calls = {ascii(name): replace(FORBIDDEN, name=name) for name in attacks.NAMES}
    all_held(client, {n: with_call(client.wire, c, client.stream) for n, c in calls.items()})


def test_rare_arguments(client: Client) -> None:
    calls = {name: replace(FORBIDDEN, malformed=text) for name, text in attacks.ARGUMENTS.items()}
    all_held(client, {n: with_call(client.wire, c, client.stream) for n, c in calls.items()})


def test_rare_orders_of_events(wire: Wire) -> None:
    all_held(Client(wire, True), attacks.orders(wire))


@pytest.mark.parametrize("session", [None, "s"])
def test_histories_that_claim_what_nobody_read(client: Client, session: str | None) -> None:
    async def scenario() -> None:
        async with world(max_revisions=0) as w:
            w.upstream.choose = lambda _: WRITE
            passed = []
            for number, (name, history) in enumerate(attacks.HISTORIES.items()):
                headers = {"x-ledgeragent-session": f"{session}{number}"} if session else None
                got = await w.ask(client.wire, history, stream=client.stream, headers=headers)
                assert got.status in (200, 400), (name, got)
                if got.reply is not None and got.reply.calls:
                    passed.append(name)
            assert passed == []

    run(scenario())


@pytest.mark.parametrize("attack", attacks.answers(WIRES[0], False))
def test_rare_answers_on_the_wire(client: Client, attack: str) -> None:
    """Asked twice, since what is left over on a connection could answer the next request."""
    data = attacks.answers(client.wire, client.stream)[attack]
    body = json.dumps(client.wire.request(attacks.KNOWN, TOOLS, client.stream)).encode()

    async def scenario() -> None:
        async with facing(data, "enforce") as (url, _), aiohttp.ClientSession() as http:
            for _ in range(2):
                async with (
                    asyncio.timeout(15),
                    http.post(f"{url}{client.wire.path}", data=body) as got,
                ):
                    told = await got.read()
                    assert list(faults_of(got.status, got.content_type, told)) == []

    run(scenario())


def test_the_matrix_has_its_size() -> None:
    lists = (attacks.NAMES, attacks.ARGUMENTS, attacks.HISTORIES, attacks.answers(WIRES[0], True))
    assert sum(map(len, lists)) + sum(len(attacks.orders(wire)) for wire in WIRES) >= 180
