"""Items that a client gives back by their ids alone: judged as what was sent under them, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgeragent.stores.sqlite import SqliteSessions
from ledgeragent.types import Reply, ToolReturn
from tests.gateway.wires import WIRES
from tests.gateway.world import HELLO, LONG, READ, SAY, WRITE, Answer, World, run, world
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, answer

WIRE = next(wire for wire in WIRES if wire.name == "responses")
RESULTS = (answer(GET_MEMBER, ADA), answer(GET_BOOK, BOOK_IN))


def items_of(got: Answer) -> list[Any]:
    """The items of an answer, streamed or not."""
    output: list[Any] = (got.body or got.events[-1]["response"])["output"]
    return output


def references(got: Answer) -> list[Any]:
    return [{"type": "item_reference", "id": item["id"]} for item in items_of(got)]


def inputs(*messages: Any) -> list[Any]:
    items: list[Any] = WIRE.request(messages, (), False)["input"]
    return items


async def continued(
    w: World, got: Answer, *results: ToolReturn, stream: bool, **more: Any
) -> Answer:
    """The next request, in which the last reply is only named."""
    first = inputs(HELLO)
    body = {"input": [*first, *references(got), *inputs(*results)[len(inputs()) :]], **more}
    return await w.ask(WIRE, [HELLO], stream=stream, **body)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("mode", ["enforce", "shadow"])
@pytest.mark.parametrize("shared", [False, True])
def test_what_a_reference_stands_for_is_judged(
    stream: bool, mode: str, shared: bool, tmp_path: Path
) -> None:
    async def scenario() -> None:
        store = SqliteSessions(str(tmp_path / "s.db")) if shared else None
        async with world(READ, WRITE, mode=mode, store=store) as w:
            got = await w.ask(WIRE, [HELLO], stream=stream)
            got = await continued(w, got, *RESULTS, stream=stream)
            if mode == "enforce":
                assert (got.verdicts, got.called) == ("lend_book=ALLOW", ["lend_book"])
                kinds = [item.get("type") for item in w.upstream.asked[-1]["input"]]
                assert "item_reference" not in kinds and "function_call" in kinds
            assert w.gateway.metrics.decisions["lend_book", "ALLOW"] == 1
            assert w.gateway.metrics.unjudged == 0

    run(scenario())


@pytest.mark.parametrize("stream", [False, True])
def test_a_refusal_of_ours_may_be_named(stream: bool) -> None:
    """Upstream has never seen it, so it goes there whole."""

    async def scenario() -> None:
        async with world(LONG, SAY, max_revisions=0) as w:
            refused = await w.ask(WIRE, [HELLO], stream=stream)
            got = await continued(w, refused, stream=stream)
            assert got.reply == SAY
            told = WIRE.told(w.upstream.asked[-1])
            assert "I can't do that: a loan of 120 days is too long" in told

    run(scenario())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("why", ["unknown", "another key", "not kept"])
def test_what_nobody_knows_is_refused_with_the_way_out(stream: bool, why: str) -> None:
    async def scenario() -> None:
        async with world(Reply(text="Yes."), SAY) as w:
            more = {"store": False} if why == "not kept" else {}
            got = await w.ask(WIRE, [HELLO], stream=stream, **more)
            body = {"input": [*inputs(HELLO), *references(got)]}
            if why == "unknown":
                body["input"][-1]["id"] = "msg_of_somebody"
            headers = {"authorization": "Bearer other"} if why == "another key" else None
            got = await w.ask(WIRE, [HELLO], stream=stream, headers=headers, **body)
            assert got.status == 400
            assert "store: false" in got.body["error"]["message"]
            assert len(w.upstream.asked) == 1

    run(scenario())
