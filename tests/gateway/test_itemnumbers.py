"""Streamed Responses whose events name their item by its id alone, as llama.cpp's server sends them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aiohttp import web

from ledgeragent.types import Reply
from tests.gateway.upstream import Respond, sent
from tests.gateway.wires import RESPONSES, Wire, sse
from tests.gateway.world import KNOWN, LONG, MIXED, READ, SAY, WRITE, is_error, run, world

_LEFT_OUT = ("output_index", "content_index", "sequence_number")


def unnumbered(reply: Reply, *, with_ids: bool = True) -> Respond:
    async def respond(request: web.Request, wire: Wire, body: Any) -> web.StreamResponse:
        events = [
            json.loads(event.decode().partition("data: ")[2]) for event in wire.events(reply, "r")
        ]
        bare = [{name: event[name] for name in event if name not in _LEFT_OUT} for event in events]
        for event in bare if not with_ids else ():
            event.pop("item_id", None)
            event.get("item", {}).pop("id", None)
        return await sent(request, [sse(event, event["type"]) for event in bare])

    return respond


@pytest.mark.parametrize(
    "reply",
    [SAY, READ, WRITE, Reply(text="Here you are.", calls=(*READ.calls, *WRITE.calls))],
    ids=["words", "reads", "a write", "all of it"],
)
def test_what_is_allowed_arrives(reply: Reply) -> None:
    async def scenario() -> None:
        async with world(unnumbered(reply)) as w:
            got = await w.ask(RESPONSES, KNOWN, stream=True)
            assert got.reply == reply

    run(scenario())


def test_what_is_refused_does_not() -> None:
    async def scenario() -> None:
        async with world(unnumbered(LONG), unnumbered(WRITE)) as w:
            got = await w.ask(RESPONSES, KNOWN, stream=True)
            assert got.reply is not None and got.reply.calls == WRITE.calls
        async with world(unnumbered(MIXED), unnumbered(SAY)) as w:
            got = await w.ask(RESPONSES, KNOWN[:1], stream=True)
            assert "lend_book" not in got.called

    run(scenario())


def test_items_without_number_and_id_are_an_error_and_no_empty_answer() -> None:
    async def scenario() -> None:
        async with world(unnumbered(WRITE, with_ids=False)) as w:
            got = await w.ask(RESPONSES, KNOWN, stream=True)
            assert got.status == 502 or is_error(got.events[-1])

    run(scenario())
