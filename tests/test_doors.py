"""Results in the forms that hosts give them: every door reads each form as the very same record."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from ledgeragent.domain import Domain
from ledgeragent.offline.traces import read_messages
from ledgeragent.packs import load_domain
from ledgeragent.state import State
from ledgeragent.types import Json, Message, Reply, ToolCall, ToolReturn

LOOKUP = ToolCall(name="find_customer", arguments={"email": "e@example.net"}, id="who")
RECORD = {"order_id": "G-1", "customer_id": "C-1", "status": "in_transit", "lines": {"pot": 1}}
ORDER = ToolCall(name="get_order", arguments={"order_id": "G-1"}, id="order")
LABEL = "Here is what was found:"

Door = Callable[[ToolCall, Json], Iterable[Message]]


def by_chat(call: ToolCall, content: Json) -> list[Json]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments)}
    made = {"id": call.id, "type": "function", "function": function}
    return [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": call.id, "content": content},
    ]


def by_messages(call: ToolCall, content: Json) -> list[Json]:
    used = {"type": "tool_use", "id": call.id, "name": call.name, "input": dict(call.arguments)}
    result = {"type": "tool_result", "tool_use_id": call.id, "content": content}
    return [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": [used]},
        {"role": "user", "content": [result]},
    ]


def by_responses(call: ToolCall, content: Json) -> list[Json]:
    made = {"name": call.name, "arguments": json.dumps(call.arguments), "call_id": call.id}
    return [
        {"role": "user", "content": "Hello."},
        {"type": "function_call", **made},
        {"type": "function_call_output", "call_id": call.id, "output": content},
    ]


def dialect(name: str, field: str, wire: Callable[[ToolCall, Json], list[Json]]) -> Door:
    def door(call: ToolCall, content: Json) -> Iterable[Message]:
        pytest.importorskip("aiohttp", reason="aiohttp is not installed")
        module = importlib.import_module(f"ledgeragent.gateway.dialects.{name}")
        reader = getattr(module, f"{name.title()}Dialect")()
        messages: Iterable[Message] = reader.conversation({field: wire(call, content)}).messages
        return messages

    return door


def adapter(name: str, library: str, history: Callable[[ToolCall, Json], list[Any]]) -> Door:
    def door(call: ToolCall, content: Json) -> Iterable[Message]:
        pytest.importorskip(library, reason=f"{library} is not installed")
        module = importlib.import_module(f"ledgeragent.adapters.{name}")
        messages: Iterable[Message] = module.map_history(history(call, content))
        return messages

    return door


def by_langchain(call: ToolCall, content: Json) -> list[Any]:
    from langchain_core.messages import AIMessage, ToolMessage

    made = {"name": call.name, "args": dict(call.arguments), "id": call.id}
    return [
        AIMessage(content="", tool_calls=[made]),  # type: ignore[list-item]
        ToolMessage(content=content, tool_call_id=call.id),
    ]


def by_pydantic_ai(call: ToolCall, content: Json) -> list[Any]:
    from pydantic_ai.messages import ModelRequest, ModelResponse, ToolCallPart, ToolReturnPart

    made = ToolCallPart(tool_name=call.name, args=dict(call.arguments), tool_call_id=call.id)
    answer = ToolReturnPart(tool_name=call.name, content=content, tool_call_id=call.id)
    return [ModelResponse(parts=[made]), ModelRequest(parts=[answer])]


def mcp(call: ToolCall, content: Json) -> Iterable[Message]:
    pytest.importorskip("mcp", reason="mcp is not installed")
    from ledgeragent.mcp.messages import content_of

    text = [{"type": "text", "text": content}]
    result = {"content": content if isinstance(content, list) else text}
    yield Reply(calls=(call,))
    yield ToolReturn(call_id=call.id, content=content_of(result))


def traces(call: ToolCall, content: Json) -> Iterable[Message]:
    return read_messages(by_chat(call, content))


DOORS: dict[str, Door] = {
    "the gateway's Chat Completions": dialect("chat", "messages", by_chat),
    "the gateway's Messages": dialect("messages", "messages", by_messages),
    "the gateway's Responses": dialect("responses", "input", by_responses),
    "the OpenAI loop": adapter("openai_chat", "openai", by_chat),
    "the Anthropic loop": adapter("anthropic", "anthropic", by_messages),
    "OpenAI Agents": adapter("openai_agents", "agents", by_responses),
    "LangChain": adapter("langchain", "langchain", by_langchain),
    "Pydantic AI": adapter("pydantic_ai", "pydantic_ai", by_pydantic_ai),
    "the MCP proxy": mcp,
    "recorded runs": traces,
}


def block(text: str) -> Json:
    return {"type": "text", "text": text}


TEXTS: dict[str, Callable[[Json], Json]] = {
    "JSON": json.dumps,
    "Python's text": repr,
    "JSON in JSON": lambda v: json.dumps(json.dumps(v)),
    "under result": lambda v: json.dumps({"result": v}),
    "under result, as text": lambda v: json.dumps({"result": json.dumps(v)}),
    "under result, as Python's text": lambda v: json.dumps({"result": repr(v)}),
    "under result, all as Python's text": lambda v: repr({"result": v}),
    "under output": lambda v: json.dumps({"output": v}),
    "as a tool result of MCP": lambda v: json.dumps({"content": [block(json.dumps(v))]}),
    "as a tool result of MCP, in Python's text": lambda v: repr(
        {"meta": None, "content": [block(json.dumps(v))], "isError": False}
    ),
    "blocks as text": lambda v: json.dumps([block(json.dumps(v))]),
}
BLOCKS: dict[str, Callable[[Json], Json]] = {
    "one block": lambda v: [block(json.dumps(v))],
    "a label before it": lambda v: [block(LABEL), block(json.dumps(v))],
    "a label behind it": lambda v: [block(repr(v)), block("(1 result)")],
}
FORMS = {**TEXTS, **BLOCKS}
UNREAD: dict[str, Json] = {
    "an object of another class": "{'order_id': 'G-1', 'total': Decimal('49.0')}",
    "a date": "{'order_id': 'G-1', 'at': datetime.date(2026, 1, 2)}",
    "a model's text": "order_id='G-1' customer_id='C-1'",
    "a set": "{'G-1', 'C-1'}",
    "cut off": '{"order_id": "G-1", "lines": {',
    "only a label": LABEL,
    "only labels": [block(LABEL), block("nothing")],
    "an error in a tool result of MCP": json.dumps({"content": [block("no")], "isError": True}),
}


@pytest.fixture(scope="module")
def shop() -> Domain:
    return load_domain("shop")


def absorbed(door: Door, call: ToolCall, content: Json, domain: Domain) -> State:
    state = State()
    for message in door(call, content):
        state = state.observe(message, domain)
    return state


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_a_record_is_read_in_every_form(door: Door, form: Any, shop: Domain) -> None:
    (entry,) = absorbed(door, ORDER, form(RECORD), shop).ledger
    assert (str(entry.path), entry.value) == ("orders.G-1", RECORD)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_an_id_is_read_in_every_form(door: Door, form: Any, shop: Domain) -> None:
    (entry,) = absorbed(door, LOOKUP, form("C-1"), shop).ledger
    assert (str(entry.path), entry.value) == ("auth.customer_id", "C-1")


@pytest.mark.parametrize("content", UNREAD.values(), ids=UNREAD.keys())
@pytest.mark.parametrize("call", [LOOKUP, ORDER], ids=["id", "record"])
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_what_cannot_be_read_is_unread_and_told(
    door: Door, call: ToolCall, content: Json, shop: Domain
) -> None:
    state = absorbed(door, call, content, shop)
    assert [entry for entry in state.ledger if entry.typed] == []
    assert state.last is not None
    assert state.last.problems or state.last.skipped == "the read failed"
