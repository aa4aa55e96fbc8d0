"""Results that are not as the domain declares them: counted, logged once, and no evidence."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import Any

import pytest

from ledgeragent.types import Json, Message, Reply, ToolReturn, UserMessage
from tests.gateway.conftest import Client
from tests.gateway.wires import RESPONSES
from tests.gateway.world import HELLO, KNOWN, READ, SAY, WRITE, run, world
from tests.lending.domain import ADA, BOOK_IN, GET_BOOK, GET_MEMBER, LEND, answer

POOR = {name: value for name, value in ADA.items() if name != "fines"}
MINE = {"x-ledgeragent-session": "ada"}


def returned(member: Json) -> tuple[Message, ...]:
    return (HELLO, READ, answer(GET_MEMBER, member), answer(GET_BOOK, BOOK_IN))


RESULTS = {
    "a field that is not there": (POOR, "incomplete", "has no `fines`"),
    "a sentence": ("sorry, it is late", "unreadable", "sentence or not"),
}


@pytest.mark.parametrize("mode", ["enforce", "shadow"])
@pytest.mark.parametrize("case", RESULTS, ids=RESULTS.keys())
def test_an_unread_result_is_counted_and_logged_once(
    client: Client, caplog: pytest.LogCaptureFixture, case: str, mode: str
) -> None:
    member, reason, words = RESULTS[case]

    async def scenario() -> None:
        async with world(SAY, SAY, mode=mode) as w:
            history = returned(member)
            await client.release(w, MINE)
            got = await client.ask(w, *history, headers=MINE)
            assert got.reply == SAY
            w.upstream.script.appendleft(READ)
            await client.ask(w, *history, SAY, HELLO, headers=MINE)
            more = (SAY, HELLO, READ, answer(GET_MEMBER, member), answer(GET_BOOK, BOOK_IN))
            await client.ask(w, *history, *more, headers=MINE)
            counted = f'unread_results_total{{tool="get_member",reason="{reason}"}} 2'
            assert counted in w.gateway.metrics.text()

    with caplog.at_level(logging.WARNING, "ledgeragent.gateway"):
        run(scenario())
    (line,) = [record.getMessage() for record in caplog.records]
    assert "get_member" in line and "ada" in line
    assert words in line or reason == "unreadable"
    assert "Delft" not in line


WRITTEN = {
    "a list of Python": "Calling tools:\n[{'id': 'a', 'function': {'name': 'get_member'}}]",
    "JSON in a tag": '<tool_call>{"name": "get_member", "arguments": {"member_id": "ada"}}</tool_call>',
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN.keys())
def test_calls_that_a_history_has_as_text_are_told_and_nothing_is_read_of_them(
    client: Client, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    seen = UserMessage(text=f"Observation:\n{json.dumps(ADA)}")

    async def scenario() -> None:
        async with world(SAY, SAY, WRITE, max_revisions=0) as w:
            history = (HELLO, Reply(text=text), seen)
            await client.ask(w, *history)
            assert (
                'unread_results_total{tool="get_member",reason="text"} 1'
                in w.gateway.metrics.text()
            )
            await client.ask(w, HELLO, Reply(text="A member's name is Ada."), HELLO)
            assert 'reason="text"} 1' in w.gateway.metrics.text()
            assert (await client.ask(w, *history)).verdicts == "lend_book=REVISE"

    with caplog.at_level(logging.WARNING, "ledgeragent.gateway"):
        run(scenario())
    assert sum("as text" in record.getMessage() for record in caplog.records) == 1


def test_what_is_as_declared_is_not_counted(client: Client) -> None:
    async def scenario() -> None:
        async with world(SAY) as w:
            await client.ask(w, *returned(ADA))
            assert "unread_results_total{" not in w.gateway.metrics.text()

    run(scenario())


def test_a_rule_does_not_rest_on_what_could_not_be_read(client: Client) -> None:
    async def scenario() -> None:
        async with world(WRITE, max_revisions=0) as w:
            got = await client.ask(w, *returned(POOR))
            assert got.verdicts == "lend_book=REVISE"

    run(scenario())


WRAPPINGS: dict[str, Any] = {
    "as text": json.dumps,
    "in a wrapper": lambda record: json.dumps({"result": record}),
    "in a wrapper, as text": lambda record: json.dumps({"result": json.dumps(record)}),
    "quoted": lambda record: json.dumps(json.dumps(record)),
    "in blocks": lambda record: [{"type": "text", "text": json.dumps(record)}],
}


@pytest.mark.parametrize("wrapped", WRAPPINGS.values(), ids=WRAPPINGS.keys())
def test_a_result_is_read_out_of_its_wrapping(client: Client, wrapped: Any) -> None:
    """The formats hand results on as they stand: what is around them, the core takes off."""
    results = (
        ToolReturn(call_id=GET_MEMBER.id, content=wrapped(ADA)),
        ToolReturn(call_id=GET_BOOK.id, content=wrapped(BOOK_IN)),
    )

    async def scenario() -> None:
        async with world(WRITE) as w:
            got = await client.ask(w, HELLO, READ, *results)
            assert got.verdicts == "lend_book=ALLOW"

    run(scenario())


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("mine", [{}, MINE], ids=["by its history", "named"])
def test_half_a_return_is_none(mine: dict[str, str], stream: bool) -> None:
    client = Client(RESPONSES, stream)
    half = replace(answer(GET_BOOK, BOOK_IN), lost=True)

    async def scenario() -> None:
        async with world(WRITE, WRITE, max_revisions=0) as w:
            if mine:
                await client.release(w, mine)
            history = (HELLO, READ, answer(GET_MEMBER, ADA))
            refused = await client.ask(w, *history, half, headers=mine)
            assert refused.verdicts == "lend_book=REVISE" and not refused.called
            if not mine:
                allowed = await client.ask(w, *history, answer(GET_BOOK, BOOK_IN))
                assert allowed.called == ["lend_book"]

    run(scenario())


@pytest.mark.parametrize("stream", [False, True])
def test_half_a_return_of_a_write_leaves_open_what_it_did(stream: bool) -> None:
    client = Client(RESPONSES, stream)
    half = ToolReturn(call_id=LEND.id, content="Error: the line", lost=True)

    async def scenario() -> None:
        async with world(WRITE, max_revisions=0) as w:
            got = await client.ask(w, *KNOWN, WRITE, half)
            assert got.verdicts == "lend_book=REVISE" and not got.called

    run(scenario())
