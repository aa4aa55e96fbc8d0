"""Tools outside the pack: control tools are no writes, loops of refusals end, unguarded agents are told."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from ledgeragent.session.toolnames import ToolNames
from ledgeragent.stores.sqlite import SqliteSessions
from ledgeragent.types import Message, UserMessage
from tests.gateway.conftest import Client
from tests.gateway.wires import WIRES, Wire
from tests.gateway.world import (
    HELLO,
    KNOWN,
    LONG,
    READ,
    SAY,
    TOOLS,
    UNKNOWN,
    WRITE,
    World,
    given,
    run,
    world,
)
from tests.lending.domain import answer, call

OUTPUT = call("final_result", "out", answer="42")
HANDOFF = call("transfer_to_billing", "off")


@pytest.mark.parametrize("made", [OUTPUT, HANDOFF], ids=lambda made: str(made.name))
def test_a_control_tool_passes_and_is_no_write(client: Client, made: Any) -> None:
    async def scenario() -> None:
        async with world(given(made), WRITE) as w:
            tools = [*TOOLS, made.name]
            got = await client.ask(w, *KNOWN, tools=tools)
            assert (got.verdicts, got.called) == (f"{made.name}=ALLOW", [made.name])
            history = (*KNOWN, given(made), answer(made, "done"))
            await client.ask(w, *history, HELLO, tools=tools)
            (memory,) = [h.memory for h in list(w.gateway.memories._known.values())[-1:]]
            assert memory.state.ledger.writes == ()

    run(scenario())


def test_a_tool_that_the_operator_calls_neutral_passes(client: Client) -> None:
    async def scenario() -> None:
        names = ToolNames(neutrals=frozenset({"burn_book"}))
        async with world(UNKNOWN, tool_names=names) as w:
            got = await client.ask(w, *KNOWN)
            assert got.verdicts == "burn_book=ALLOW"

    run(scenario())


def forced(wire: Wire, tool: str = "lend_book") -> Any:
    """The choice of one tool, as each format writes it."""
    if wire.name == "messages":
        return {"type": "tool", "name": tool, "disable_parallel_tool_use": True}
    name = {"name": tool}
    return {"type": "function", **(name if wire.name == "responses" else {"function": name})}


def test_a_revision_may_make_the_read_it_is_asked_for_although_a_tool_is_forced(
    client: Client,
) -> None:
    async def scenario() -> None:
        async with world(WRITE, READ) as w:
            got = await client.ask(w, HELLO, tool_choice=forced(client.wire))
            assert got.called == ["get_member", "get_book"]
            first, second = (body["tool_choice"] for body in w.upstream.asked)
            assert first == forced(client.wire)
            relaxed = {"type": "any", "disable_parallel_tool_use": True}
            assert second == (relaxed if client.wire.name == "messages" else "required")

    run(scenario())


def test_a_write_of_the_pack_is_judged_although_it_is_forced(wire: Wire) -> None:
    async def scenario() -> None:
        async with world(LONG, max_revisions=0) as w:
            got = await w.ask(wire, KNOWN, tool_choice=forced(wire))
            assert got.verdicts == "lend_book=REVISE"

    run(scenario())


@pytest.mark.parametrize(
    ("offered", "verdict"),
    [(["lend_book"], "lend_book=REVISE"), (["burn_book"], "burn_book=ALLOW")],
)
def test_a_forced_tool_is_for_data_where_nothing_else_is_offered(
    wire: Wire, offered: list[str], verdict: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Next to other tools it may be an action like them: then it is an unknown tool."""

    async def scenario() -> None:
        name = offered[0]
        made = LONG if name == "lend_book" else UNKNOWN
        async with world(made, made, max_revisions=0) as w:
            choice = forced(wire, name)
            alone = await w.ask(wire, KNOWN, tools=offered, tool_choice=choice)
            beside = await w.ask(wire, KNOWN, tools=[*offered, *TOOLS], tool_choice=choice)
            assert (alone.verdicts, beside.verdicts) == (verdict, f"{name}=REVISE")

    with caplog.at_level(logging.WARNING, "ledgeragent.gateway"):
        run(scenario())
    told = any("change no record" in record.getMessage() for record in caplog.records)
    assert told == (offered == ["burn_book"])


async def looped(client: Client, w: World, times: int, **options: Any) -> list[int]:
    """A client that asks again, with what it got, as a loop for an output does."""
    history: list[Message] = [HELLO]
    statuses = []
    for _ in range(times):
        got = await client.ask(w, *history, **options)
        statuses.append(got.status)
        if got.reply is not None:
            history.append(got.reply)
            history.append(UserMessage(text="Use the tool."))
    return statuses


@pytest.mark.parametrize("named", [False, True])
def test_a_conversation_that_is_refused_the_same_again_and_again_ends(
    client: Client, caplog: pytest.LogCaptureFixture, named: bool, tmp_path: Any
) -> None:
    """Whatever the arguments: the model is not asked any more, and so not paid for."""
    calls = [given(call("burn_book", f"b{n}", book_id=f"B{n}")) for n in range(9)]

    async def scenario() -> None:
        headers = {"x-ledgeragent-session": "loop"} if named else None
        store = SqliteSessions(str(tmp_path / "s.db"))
        async with world(*calls, max_revisions=0, max_refusals=3, store=store) as w:
            statuses = await looped(client, w, 5, headers=headers)
            assert len(w.upstream.asked) == 3
            assert statuses == [200, 200, 200, 422, 422]
            assert "ledgeragent_ended_conversations_total 2" in w.gateway.metrics.text()

    with caplog.at_level(logging.WARNING, "ledgeragent.gateway"):
        run(scenario())
    assert any("burn_book by gate/unknown-tool" in r.getMessage() for r in caplog.records)


def test_an_answer_in_between_begins_the_count_anew(client: Client) -> None:
    async def scenario() -> None:
        script = (UNKNOWN, UNKNOWN, SAY, UNKNOWN, UNKNOWN)
        async with world(*script, max_revisions=0, max_refusals=3) as w:
            assert await looped(client, w, 5) == [200] * 5

    run(scenario())


@pytest.mark.parametrize("require", [False, True])
def test_an_agent_without_tools_of_the_pack_is_told_or_refused(
    client: Client, caplog: pytest.LogCaptureFixture, require: bool
) -> None:
    async def scenario() -> None:
        async with world(SAY, require_tools=require) as w:
            got = await client.ask(w, HELLO, tools=())
            assert got.status == (400 if require else 200)
            assert len(w.upstream.asked) == (not require)
            assert "ledgeragent_unguarded_requests_total 1" in w.gateway.metrics.text()

    with caplog.at_level(logging.WARNING, "ledgeragent.gateway"):
        run(scenario())
    assert any("no tool of the policy pack" in record.getMessage() for record in caplog.records)


def test_whoever_calls_tools_of_the_pack_is_guarded() -> None:
    async def scenario() -> None:
        async with world(SAY, SAY, require_tools=True) as w:
            for wire in WIRES[:1]:
                assert (await w.ask(wire, KNOWN, tools=())).status == 200
                assert (await w.ask(wire, [HELLO], tools=["lib__get_book"])).status == 200
            assert "ledgeragent_unguarded_requests_total 0" in w.gateway.metrics.text()

    run(scenario())
