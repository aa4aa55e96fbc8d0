"""OpenAI Agents SDK: handoffs, what is refused, and the synchronous way in."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("agents", reason="openai-agents is not installed")

from agents import (
    Agent,
    FunctionTool,
    RunConfig,
    Runner,
    RunState,
    ToolsToFinalOutputResult,
    WebSearchTool,
    handoff,
    set_tracing_disabled,
)

from ledgeragent.adapters.common import UnguardableError
from ledgeragent.adapters.openai_agents import LedgerRunner, map_history
from ledgeragent.journal import Journal
from ledgeragent.types import Reply, ToolCall, ToolReturn, UserMessage
from tests.adapters.agents_model import ScriptedModel, assistant_message, function_call
from tests.conformance.scene import check_valid
from tests.journal.reading import records_of
from tests.lending.domain import ADA, BOOK_IN, LIBRARY

set_tracing_disabled(True)
LEND = {"member_id": "M1", "book_id": "B1", "days": 14}


def run(agent: Any, input: Any, **options: Any) -> Any:
    return asyncio.run(LedgerRunner(LIBRARY).run(agent, input, **options))


def tools(ran: list[str]) -> list[Any]:
    def make(name: str, answer: Any) -> FunctionTool:
        async def invoke(context: Any, arguments: str) -> str:
            ran.append(name)
            return json.dumps(answer)

        schema = {"type": "object", "properties": {}, "additionalProperties": True}
        return FunctionTool(name, name, schema, invoke, strict_json_schema=False)

    return [make("get_member", ADA), make("get_book", BOOK_IN), make("lend_book", "lent")]


def reads() -> list[Any]:
    return [
        function_call("get_member", {"member_id": "M1"}, call_id="m"),
        function_call("get_book", {"book_id": "B1"}, call_id="b"),
    ]


def lend(id: str) -> list[Any]:
    return [function_call("lend_book", LEND, call_id=id)]


def first(context: Any, results: list[Any]) -> ToolsToFinalOutputResult:
    return ToolsToFinalOutputResult(is_final_output=True, final_output=results[0].output)


async def later(context: Any, results: list[Any]) -> ToolsToFinalOutputResult:
    return first(context, results)


@pytest.mark.parametrize(
    "ends", ["stop_on_first_tool", {"stop_at_tool_names": ["lend_book", "get_book"]}, first, later]
)
def test_a_rejection_is_never_what_a_run_says(ends: Any) -> None:
    """Where the answer of a tool is to end the run, that of a rejected call goes to the model."""
    ran: list[str] = []
    read = [function_call("get_book", {"book_id": "B1"}, call_id="b")]
    model = ScriptedModel([lend("l"), [assistant_message("Not yet.")], read])
    agent: Any = Agent(name="a", tools=tools(ran), model=model, tool_use_behavior=ends)
    result = asyncio.run(LedgerRunner(LIBRARY).run(agent, "Lend me ferns."))
    assert result.final_output == "Not yet."
    assert ran == []
    result = asyncio.run(LedgerRunner(LIBRARY).run(result.last_agent, "Is it in?"))
    assert json.loads(result.final_output) == BOOK_IN
    assert agent.tool_use_behavior == ends


@pytest.mark.parametrize("wrapped", [False, True])
def test_the_ledger_goes_along_with_a_handoff(wrapped: bool) -> None:
    ran: list[str] = []
    to_desk = [function_call("transfer_to_desk", {}, call_id="h")]
    second = ScriptedModel([lend("l"), [assistant_message("Lent.")]])
    desk: Any = Agent(name="desk", tools=tools(ran), model=second)
    first = ScriptedModel([reads(), to_desk])
    front: Any = Agent(
        name="front", tools=tools(ran), model=first, handoffs=[handoff(desk) if wrapped else desk]
    )
    result = asyncio.run(LedgerRunner(LIBRARY).run(front, "Lend me ferns."))
    assert ran == ["get_member", "get_book", "lend_book"]
    assert result.final_output == "Lent."
    check_valid(list(map_history(result.to_input_list())))


def test_an_agent_after_a_handoff_is_guarded() -> None:
    ran: list[str] = []
    desk: Any = Agent(
        name="desk", tools=tools(ran), model=ScriptedModel([lend("l"), [assistant_message("No.")]])
    )
    to_desk = [function_call("transfer_to_desk", {}, call_id="h")]
    front: Any = Agent(name="front", model=ScriptedModel([to_desk]), handoffs=[desk])
    run(front, "Lend me ferns.")
    assert ran == []


def test_agents_that_hand_over_to_each_other() -> None:
    one: Any = Agent(name="one", model=ScriptedModel([[assistant_message("Hi.")]]))
    other: Any = Agent(name="other", handoffs=[one])
    one.handoffs.append(other)
    assert run(one, "Hi").final_output == "Hi."


def test_the_agent_itself_is_left_as_it_was() -> None:
    ran: list[str] = []
    given = tools(ran)
    invoke = given[2].on_invoke_tool
    model = ScriptedModel([lend("l"), [assistant_message("No.")]])
    agent: Any = Agent(name="a", tools=given, model=model)
    run(agent, "Hi")
    assert agent.model is model and agent.tools == given
    assert given[2].on_invoke_tool is invoke


def streamed(agent: Any, input: Any, guard: LedgerRunner) -> Any:
    async def listen() -> Any:
        result = guard.run_streamed(agent, input)
        async for _ in result.stream_events():
            pass
        return result

    return asyncio.run(listen())


@pytest.mark.parametrize("stream", [False, True])
def test_the_agent_that_ended_one_run_begins_the_next(stream: bool, tmp_path: Path) -> None:
    ran: list[str] = []
    answers = [[assistant_message("At your service.")], lend("l"), [assistant_message("Lent.")]]
    second = ScriptedModel(answers)
    desk: Any = Agent(name="desk", tools=tools(ran), model=second)
    first = ScriptedModel([reads(), [function_call("transfer_to_desk", {}, call_id="h")]])
    front: Any = Agent(name="front", tools=tools(ran), model=first, handoffs=[desk])
    with Journal.open(tmp_path / "journal.jsonl", LIBRARY) as journal:
        guard = LedgerRunner(LIBRARY, journal=journal)
        one = asyncio.run(guard.run(front, "Hello."))
        more = [*one.to_input_list(), {"role": "user", "content": "Lend me ferns."}]
        if stream:
            two = streamed(one.last_agent, more, guard)
        else:
            two = asyncio.run(guard.run(one.last_agent, more))
    assert two.final_output == "Lent."
    assert ran == ["get_member", "get_book", "lend_book"]
    assert str(second.calls[-1].input).count("<ledger>") == 1
    records = records_of(tmp_path / "journal.jsonl")
    assert len({record["session"] for record in records}) == 1


def test_a_streamed_run_judges_before_its_tools_run() -> None:
    ran: list[str] = []
    model = ScriptedModel([lend("l"), reads(), lend("k"), [assistant_message("Lent.")]])
    agent: Any = Agent(name="a", tools=tools(ran), model=model)
    result = streamed(agent, "Lend me ferns.", LedgerRunner(LIBRARY))
    assert result.final_output == "Lent."
    assert ran == ["get_member", "get_book", "lend_book"]


def test_a_history_that_the_sdk_keeps() -> None:
    from agents import SQLiteSession

    ran: list[str] = []
    replies = [reads(), [assistant_message("Read.")], lend("l"), [assistant_message("Lent.")]]
    agent: Any = Agent(name="a", tools=tools(ran), model=ScriptedModel(replies))
    session = SQLiteSession("s")
    for words in ("Look.", "Lend."):
        run(agent, words, session=session)
    session.close()
    assert ran == ["get_member", "get_book", "lend_book"]


def test_shadow_mode_takes_what_cannot_be_guarded() -> None:
    ran: list[str] = []
    inner: Any = Agent(name="inner", model=ScriptedModel([[assistant_message("Yes.")]]))
    model = ScriptedModel([lend("l"), [assistant_message("Lent.")]])
    given = [*tools(ran), WebSearchTool(), inner.as_tool("ask", "asks")]
    agent: Any = Agent(name="a", tools=given, model=model)
    judged: list[str] = []
    guard = LedgerRunner(
        LIBRARY, mode="shadow", watch=lambda _, found: judged.append(found.decision.name)
    )
    result = asyncio.run(guard.run(agent, "Lend me ferns."))
    assert (result.final_output, ran) == ("Lent.", ["lend_book"])
    assert judged == ["REVISE", "ALLOW"]
    assert "<ledger>" not in str(model.calls[0].input)


@pytest.mark.parametrize("config", [RunConfig, dict])
def test_a_model_given_by_the_run_is_wrapped(config: Any) -> None:
    ran: list[str] = []
    model = ScriptedModel([lend("l"), [assistant_message("No.")]])
    agent: Any = Agent(name="a", tools=tools(ran))
    run(agent, "Hi", run_config=config(model=model))
    assert ran == []
    assert "<ledger>" in str(model.calls[0].input)


def test_a_model_found_by_its_name_is_wrapped() -> None:
    from agents import ModelProvider

    ran: list[str] = []
    model = ScriptedModel([lend("l"), [assistant_message("No.")]])

    class Provider(ModelProvider):
        def get_model(self, model_name: str | None) -> Any:
            return model

    agent: Any = Agent(name="a", tools=tools(ran), model="some-model")
    run(agent, "Hi", run_config=RunConfig(model_provider=Provider()))
    assert ran == []


def refused(agent: Any, words: str, input: Any = "Hi", **options: Any) -> None:
    with pytest.raises(UnguardableError, match=words):
        run(agent, input, **options)


def test_a_hosted_tool_is_refused() -> None:
    refused(Agent(name="a", tools=[WebSearchTool()]), "hosted")


def test_an_agent_used_as_a_tool_is_refused() -> None:
    inner: Any = Agent(name="inner")
    refused(Agent(name="a", tools=[inner.as_tool("ask", "asks")]), "an agent used as a tool")


def test_a_server_of_tools_is_refused() -> None:
    server: Any = object()
    agent: Any = Agent(name="a")
    agent.mcp_servers = [server]
    refused(agent, "ledgeragent mcp")


def test_a_hosted_tool_behind_a_handoff_is_refused() -> None:
    inner: Any = Agent(name="inner", tools=[WebSearchTool()])
    refused(Agent(name="a", handoffs=[inner]), "hosted")


def test_a_history_kept_by_the_provider_is_refused() -> None:
    agent: Any = Agent(name="a", model=ScriptedModel([[assistant_message("Hi.")]]))
    refused(agent, "the provider keeps", conversation_id="conv_1")


def test_resuming_from_a_state_is_refused() -> None:
    agent: Any = Agent(name="a", model=ScriptedModel([[assistant_message("Hi.")]]))
    state: Any = asyncio.run(Runner.run(agent, "Hi")).to_state()
    assert isinstance(state, RunState)
    refused(agent, "RunState", state)


def test_the_synchronous_way_in() -> None:
    ran: list[str] = []
    model = ScriptedModel([reads(), lend("l"), [assistant_message("Lent.")]])
    agent: Any = Agent(name="a", tools=tools(ran), model=model)
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    try:
        assert LedgerRunner(LIBRARY).run_sync(agent, "Hi").final_output == "Lent."
    finally:
        loop.close()
        asyncio.set_event_loop(None)
    assert ran == ["get_member", "get_book", "lend_book"]


def test_items_as_messages() -> None:
    items = [
        {"role": "user", "content": [{"type": "input_text", "text": "Hi"}]},
        {"type": "reasoning", "id": "r", "summary": []},
        {"role": "assistant", "content": [{"type": "output_text", "text": "Let me look."}]},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "1"},
        {"type": "function_call_output", "call_id": "1", "output": "found"},
        {"role": "assistant", "content": "There."},
        {"type": "function_call", "name": "f", "arguments": "{}", "call_id": "2"},
        {"type": "function_call_output", "call_id": "2", "output": "fou", "status": "incomplete"},
    ]
    assert list(map_history(items)) == [
        UserMessage(text="Hi"),
        Reply(text="Let me look.", calls=(ToolCall(name="f", id="1"),)),
        ToolReturn(call_id="1", content="found"),
        Reply(text="There.", calls=(ToolCall(name="f", id="2"),)),
        ToolReturn(call_id="2", content="fou", error=True, lost=True),
    ]
