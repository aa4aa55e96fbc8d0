"""OpenAI Agents SDK: approvals, runs that stop for them and go on, and what their sessions keep."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents", reason="openai-agents is not installed")

from agents import Agent, FunctionTool, RunState, SQLiteSession, set_tracing_disabled

from ledgeragent.adapters.common import UnguardableError
from ledgeragent.adapters.openai_agents import LedgerRunner
from tests.adapters.agents_model import ScriptedModel, assistant_message, function_call
from tests.adapters.test_openai_agents import LEND, lend, reads, streamed
from tests.lending.domain import ADA, BOOK_IN, LIBRARY

set_tracing_disabled(True)
ASKED: list[str] = []
SCHEMA = {"type": "object", "properties": {}, "additionalProperties": True}


async def ask(context: Any, arguments: dict[str, Any], call_id: str) -> bool:
    """People are asked about every call."""
    ASKED.append(call_id)
    return True


@pytest.fixture(autouse=True)
def nobody_was_asked() -> None:
    ASKED.clear()


def tools(ran: list[str], approval: Any = True, as_text: Any = lambda answer: answer) -> list[Any]:
    """The library's tools; they answer with objects, as function tools do."""

    def make(name: str, answer: Any, **options: Any) -> FunctionTool:
        async def invoke(context: Any, arguments: str) -> Any:
            ran.append(f"{name} {json.loads(arguments).get('days', '')}".strip())
            return as_text(answer)

        return FunctionTool(name, name, SCHEMA, invoke, strict_json_schema=False, **options)

    return [
        make("get_member", ADA),
        make("get_book", BOOK_IN),
        make("lend_book", "lent", needs_approval=approval),
    ]


def too_long(id: str) -> list[Any]:
    return [function_call("lend_book", {**LEND, "days": 99}, call_id=id)]


def prepared(ran: list[str], replies: list[Any], **options: Any) -> Any:
    return Agent(name="a", tools=tools(ran, **options), model=ScriptedModel(replies))


def run(runner: LedgerRunner, agent: Any, input: Any, **options: Any) -> Any:
    return asyncio.run(runner.run(agent, input, **options))


def test_people_are_asked_only_about_calls_that_the_gate_lets_through() -> None:
    ran: list[str] = []
    replies = [lend("early"), reads(), too_long("long"), lend("good"), [assistant_message("Lent.")]]
    agent = prepared(ran, replies, approval=ask)
    runner = LedgerRunner(LIBRARY)
    result = run(runner, agent, "Lend me ferns.")
    (asked,) = result.interruptions
    assert asked.call_id == "good" and ASKED == ["good"]
    state = result.to_state()
    state.approve(asked)
    assert run(runner, agent, state).final_output == "Lent."
    assert ran == ["get_member", "get_book", "lend_book 14"]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("stored", [False, True])
@pytest.mark.parametrize("approved", [False, True])
def test_a_run_that_stops_for_an_approval_goes_on_guarded(
    stream: bool, stored: bool, approved: bool
) -> None:
    ran: list[str] = []
    replies = [reads(), lend("l"), lend("again"), too_long("x"), [assistant_message("Done.")]]
    agent = prepared(ran, replies, as_text=json.dumps)
    runner = LedgerRunner(LIBRARY)
    state = run(runner, agent, "Lend me ferns.").to_state()
    if stored:
        runner = LedgerRunner(LIBRARY)
        state = asyncio.run(RunState.from_string(runner.guarded(agent), state.to_string()))
    (asked,) = state.get_interruptions()
    (state.approve if approved else state.reject)(asked)
    result = streamed(agent, state, runner) if stream else run(runner, agent, state)
    if approved:
        assert result.final_output == "Done.", "twice, and for too long, nobody needs to be asked"
        assert ran == ["get_member", "get_book", "lend_book 14"]
    else:
        assert [i.call_id for i in result.interruptions] == ["again"]
        assert ran == ["get_member", "get_book"]


def test_what_was_answered_before_a_run_stopped_is_known_when_it_goes_on() -> None:
    ran: list[str] = []
    both = [*reads(), *lend("l")]
    agent = prepared(ran, [both, [assistant_message("Done.")]], as_text=json.dumps)
    state = run(LedgerRunner(LIBRARY), agent, "Lend me ferns.").to_state()
    runner = LedgerRunner(LIBRARY)
    back = asyncio.run(RunState.from_string(runner.guarded(agent), state.to_string()))
    back.approve(back.get_interruptions()[0])
    assert run(runner, agent, back).final_output == "Done."
    assert ran == ["get_member", "get_book", "lend_book 14"]


def test_a_stored_run_goes_on_with_what_its_session_has(tmp_path: Path) -> None:
    ran: list[str] = []
    session = SQLiteSession("s", tmp_path / "session.db")
    replies = [reads(), [assistant_message("Read.")], lend("l"), [assistant_message("Lent.")]]
    agent = prepared(ran, replies, as_text=json.dumps)
    run(LedgerRunner(LIBRARY), agent, "Look.", session=session)
    state = run(LedgerRunner(LIBRARY), agent, "Lend.", session=session).to_state()
    runner = LedgerRunner(LIBRARY)
    back = asyncio.run(RunState.from_string(runner.guarded(agent), state.to_string()))
    back.approve(back.get_interruptions()[0])
    assert run(runner, agent, back, session=session).final_output == "Lent."
    session.close()
    assert ran == ["get_member", "get_book", "lend_book 14"]


def test_a_stored_run_whose_agents_are_not_guarded_is_refused() -> None:
    agent = prepared([], [reads(), lend("l")])
    text = run(LedgerRunner(LIBRARY), agent, "Lend.").to_state().to_string()
    back = asyncio.run(RunState.from_string(agent, text))
    with pytest.raises(UnguardableError, match=r"runner\.guarded"):
        run(LedgerRunner(LIBRARY), agent, back)


@pytest.mark.parametrize(
    ("words", "writes", "doubts"),
    [
        ("lent", 1, 0),
        ("Tool execution was not approved.", 0, 0),
        ("An error occurred while running the tool. Please try again. Error: busy", 0, 1),
    ],
)
def test_what_became_of_a_call_of_an_earlier_run(words: str, writes: int, doubts: int) -> None:
    seen: list[Any] = []
    runner = LedgerRunner(LIBRARY, watch=lambda conversation, _: seen.append(conversation))
    items: list[Any] = [
        {"role": "user", "content": "Lend."},
        {
            "type": "function_call",
            "name": "lend_book",
            "arguments": json.dumps(LEND),
            "call_id": "l",
        },
        {"type": "function_call_output", "call_id": "l", "output": words},
        {"role": "user", "content": "And?"},
    ]
    run(runner, prepared([], [[assistant_message("Well.")]]), items)
    assert len(seen[-1].ledger.writes) == writes
    assert len(seen[-1].ledger.unconfirmed) == doubts


def test_a_handoff_in_a_history_is_no_write() -> None:
    judged: list[str] = []
    desk: Any = Agent(
        name="desk", tools=tools([]), model=ScriptedModel([[assistant_message("Hi.")]])
    )
    to_desk = [function_call("transfer_to_desk", {}, call_id="h")]
    front: Any = Agent(name="front", model=ScriptedModel([to_desk]), handoffs=[desk])
    ledgers: list[Any] = []

    def watch(conversation: Any, filtered: Any) -> None:
        judged.extend(v.call.name for v in filtered.verdicts)
        ledgers.append(conversation)

    runner = LedgerRunner(LIBRARY, watch=watch)
    first = run(runner, front, "Hello.")
    desk.model = ScriptedModel([[assistant_message("Yes?")]])
    run(
        runner,
        front.clone(model=desk.model),
        [*first.to_input_list(), {"role": "user", "content": "?"}],
    )
    assert judged == [] and all(one.ledger.writes == () for one in ledgers)
