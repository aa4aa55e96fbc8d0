"""LangChain: graphs of one's own, checkpoints, interrupts, structured output, provider tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langchain", reason="langchain is not installed")

from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain.agents.structured_output import ToolStrategy
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from pydantic import BaseModel

from ledgeragent.adapters.common import UnguardableError
from ledgeragent.adapters.langchain import LedgerMiddleware
from ledgeragent.journal import Journal
from tests.journal.reading import records_of
from tests.lending.domain import ADA, BOOK_IN, LIBRARY

RAN: list[str] = []


@pytest.fixture(autouse=True)
def nothing_ran() -> Iterator[None]:
    RAN.clear()
    yield


@tool
def get_member(member_id: str) -> dict[str, Any]:
    """Reads a member."""
    RAN.append("get_member")
    return ADA


@tool
def get_book(book_id: str) -> dict[str, Any]:
    """Reads a book."""
    RAN.append("get_book")
    return BOOK_IN


@tool
def lend_book(member_id: str, book_id: str, days: int) -> str:
    """Lends a book."""
    RAN.append(f"lend_book {days}")
    return "lent"


@tool
def shelve_book(book_id: str) -> str:
    """Puts a book on its shelf, once somebody has confirmed."""
    if interrupt("sure?") != "yes":
        return "left"
    RAN.append("shelve_book")
    return "shelved"


TOOLS = [get_member, get_book, lend_book, shelve_book]


def calls(*given: tuple[str, dict[str, Any]]) -> AIMessage:
    found = [{"name": n, "args": a, "id": f"{n}-{k}"} for k, (n, a) in enumerate(given)]
    return AIMessage(content="", tool_calls=found)


READ = calls(("get_member", {"member_id": "M1"}), ("get_book", {"book_id": "B1"}))
LEND = calls(("lend_book", {"member_id": "M1", "book_id": "B1", "days": 14}))
TOO_LONG = calls(("lend_book", {"member_id": "M1", "book_id": "B1", "days": 99}))


class Scripted(BaseChatModel):
    """Gives prepared messages, or what a function makes of the prompt."""

    replies: list[Any]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **options: Any) -> ChatResult:
        reply: AIMessage = self.replies.pop(0).model_copy(update={"id": None})
        return ChatResult(generations=[ChatGeneration(message=reply)])


def agent(replies: list[Any], **options: Any) -> Any:
    middleware = [*options.pop("before", []), LedgerMiddleware(LIBRARY)]
    return create_agent(Scripted(replies=replies), TOOLS, middleware=middleware, **options)


def invoke(made: Any, given: Any, **options: Any) -> Any:
    return made.invoke(given, {"configurable": {"thread_id": "t"}}, **options)


def says(text: str) -> dict[str, Any]:
    return {"messages": [HumanMessage(text)]}


def test_the_conversation_leaves_no_trace_in_the_output_or_the_checkpoint() -> None:
    made = agent([READ, AIMessage("Done.")], checkpointer=InMemorySaver())
    assert "ledgeragent" not in invoke(made, says("Hi"))
    saved = made.get_state({"configurable": {"thread_id": "t"}}).values
    assert "ledgeragent" not in saved


def test_a_thread_keeps_what_it_read_in_an_earlier_run() -> None:
    replies = [READ, AIMessage("Read."), LEND, AIMessage("Lent.")]
    made = agent(replies, checkpointer=InMemorySaver())
    invoke(made, says("Look"))
    invoke(made, says("Lend"))
    assert sorted(RAN) == ["get_book", "get_member", "lend_book 14"]


def test_a_run_that_was_interrupted_in_a_tool_goes_on() -> None:
    shelve = calls(("shelve_book", {"book_id": "B1"}))
    made = agent([READ, shelve, LEND, AIMessage("No.")], checkpointer=InMemorySaver())
    first = invoke(made, says("Shelve it"))
    assert first["__interrupt__"]
    done = invoke(made, Command(resume="yes"))
    assert sorted(RAN) == ["get_book", "get_member", "shelve_book"]
    answers = [m for m in done["messages"] if isinstance(m, ToolMessage)]
    assert answers[-1].status == "error", "the book was shelved since it was read"


@tool("lend_book", return_direct=True)
def lend_and_leave(member_id: str, book_id: str, days: int) -> str:
    """Lends a book, which ends the run."""
    RAN.append(f"lend_book {days}")
    return "lent"


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_rejection_is_never_what_a_run_says(asynchronous: bool) -> None:
    """Where the answer of a tool is to end the run, that of a rejected call goes to the model."""
    replies = [READ, TOO_LONG, LEND, AIMessage("Never.")]
    made = create_agent(
        Scripted(replies=replies),
        [get_member, get_book, lend_and_leave],
        middleware=[LedgerMiddleware(LIBRARY)],
    )
    given = says("Lend me ferns")
    done = asyncio.run(made.ainvoke(given)) if asynchronous else made.invoke(given)
    assert done["messages"][-1].content == "lent"
    assert [m.status for m in done["messages"] if isinstance(m, ToolMessage)][-2:] == [
        "error",
        "success",
    ]
    assert RAN[2:] == ["lend_book 14"]


def test_arguments_that_a_person_edited_are_judged_again() -> None:
    asking: Any = HumanInTheLoopMiddleware(interrupt_on={"lend_book": True})
    replies = [READ, LEND, AIMessage("Well.")]
    made = agent(replies, before=[asking], checkpointer=InMemorySaver())
    assert invoke(made, says("Lend"))["__interrupt__"]
    edited = {"name": "lend_book", "args": {"member_id": "M1", "book_id": "B1", "days": 99}}
    decision = {"type": "edit", "edited_action": edited}
    done = invoke(made, Command(resume={"decisions": [decision]}))
    assert "lend_book 99" not in RAN
    assert "99 days is too long" in done["messages"][-2].content


def test_structured_output_is_no_call_of_a_tool() -> None:
    class Summary(BaseModel):
        text: str

    answer = calls(("Summary", {"text": "all is well"}))
    made = agent([READ, answer], response_format=ToolStrategy(Summary))
    assert invoke(made, says("Hi"))["structured_response"].text == "all is well"


def test_a_tool_that_the_provider_runs_is_refused() -> None:
    hosted: Any = {"type": "web_search", "name": "web_search"}
    guard: Any = LedgerMiddleware(LIBRARY)
    made = create_agent(Scripted(replies=[]), [*TOOLS, hosted], middleware=[guard])
    with pytest.raises(UnguardableError, match="web_search"):
        made.invoke(says("Hi"))


def test_a_tool_that_raises_changes_nothing_and_raises() -> None:
    @tool
    def call_librarian(note: str) -> str:
        """Calls."""
        raise RuntimeError("busy")

    guard: Any = LedgerMiddleware(LIBRARY)
    model = Scripted(replies=[calls(("call_librarian", {"note": "x"}))])
    made = create_agent(model, [call_librarian], middleware=[guard])
    with pytest.raises(RuntimeError, match="busy"):
        made.invoke(says("Hi"))


def test_a_tool_that_answers_with_a_command_is_absorbed() -> None:
    seen: list[str] = []

    @tool
    def get_book(book_id: str, runtime: Any = None) -> Any:
        """Reads a book."""
        message = ToolMessage('{"book_id": "B1", "status": "in"}', tool_call_id="get_book-0")
        return Command(update={"messages": [message]})

    guard: Any = LedgerMiddleware(
        LIBRARY, watch=lambda conversation, _: seen.append(conversation.context())
    )
    model = Scripted(replies=[calls(("get_book", {"book_id": "B1"})), AIMessage("Done.")])
    create_agent(model, [get_book], middleware=[guard]).invoke(says("Hi"))
    assert "books.B1" in seen[-1]


@pytest.mark.parametrize(("message", "ran"), [(LEND, ["lend_book 14"]), (TOO_LONG, [])])
def test_a_tool_node_of_ones_own(message: AIMessage, ran: list[str]) -> None:
    from langgraph.graph import MessagesState, StateGraph

    guard = LedgerMiddleware(LIBRARY)
    wrap: Callable[..., Any] = guard.wrap_tool_call
    node = ToolNode(TOOLS, wrap_tool_call=wrap)
    graph: Any = StateGraph(MessagesState)
    graph.add_node("tools", node)
    graph.set_entry_point("tools")
    history = [
        HumanMessage("Lend"),
        READ,
        ToolMessage(_json(ADA), tool_call_id="get_member-0"),
        ToolMessage(_json(BOOK_IN), tool_call_id="get_book-1"),
        message,
    ]
    graph.compile().invoke({"messages": history})
    assert ran == RAN


@pytest.mark.parametrize("way", ["stream", "astream", "values"])
def test_a_run_that_is_streamed(way: str) -> None:
    made = agent([LEND, READ, TOO_LONG, LEND, AIMessage("Lent.")])
    mode = "values" if way == "values" else "updates"

    async def listen() -> list[Any]:
        return [part async for part in made.astream(says("Lend"), stream_mode=mode)]

    parts = (
        asyncio.run(listen())
        if way == "astream"
        else list(made.stream(says("Lend"), stream_mode=mode))
    )
    assert sorted(RAN) == ["get_book", "get_member", "lend_book 14"]
    assert len(parts) >= 9


def test_a_tool_node_of_ones_own_tells_one_session(tmp_path: Path) -> None:
    with Journal.open(tmp_path / "journal.jsonl", LIBRARY) as journal:
        guard: Any = LedgerMiddleware(LIBRARY, journal=journal)
        own(guard, Scripted(replies=[READ, LEND, AIMessage("Lent.")])).invoke(says("Lend"))
    records = records_of(tmp_path / "journal.jsonl")
    assert len({record["session"] for record in records}) == 1
    assert [r["event"] for r in records].count("proposed") == 2
    ran = [r["call"]["name"] for r in records if r["event"] in ("observed", "executed")]
    assert sorted(ran) == ["get_book", "get_member", "lend_book"]


def own(guard: Any, model: Any) -> Any:
    """A graph without `create_agent`: a model, a tool node, and an edge between them."""
    from langgraph.graph import MessagesState, StateGraph
    from langgraph.prebuilt import tools_condition

    graph: Any = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [model.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(TOOLS, wrap_tool_call=guard.wrap_tool_call))
    graph.set_entry_point("model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def test_parallel_calls_that_were_interrupted_go_on_and_the_ledger_is_kept(tmp_path: Path) -> None:
    both = calls(("get_member", {"member_id": "M1"}), ("shelve_book", {"book_id": "B1"}))
    again = calls(("get_book", {"book_id": "B1"}))
    opened: list[int] = []
    with Journal.open(tmp_path / "journal.jsonl", LIBRARY) as journal:
        guard: Any = LedgerMiddleware(
            LIBRARY, journal=journal, watch=lambda who, _: opened.append(id(who))
        )
        model = Scripted(replies=[READ, both, LEND, again, LEND, AIMessage("Lent.")])
        made = create_agent(model, TOOLS, middleware=[guard], checkpointer=InMemorySaver())
        assert invoke(made, says("Shelve it"))["__interrupt__"]
        done = invoke(made, Command(resume="yes"))
    assert done["messages"][-1].text == "Lent."
    assert RAN.count("shelve_book") == 1 and RAN[-1] == "lend_book 14"
    assert len(set(opened[-4:])) == 1, "from the first reply after resuming, one conversation"
    records = records_of(tmp_path / "journal.jsonl")
    assert len({record["session"] for record in records}) == 1
    executed = [r["call"]["name"] for r in records if r["event"] == "executed"]
    assert executed == ["shelve_book", "lend_book"]


@pytest.mark.parametrize(("undecided", "ran"), [("allow", ["lend_book 14"]), ("block", [])])
def test_a_resumed_call_asks_only_for_tools_of_the_agent(undecided: Any, ran: list[str]) -> None:
    """Without tools that read, the rules cannot decide, before and after resuming alike."""
    asking: Any = HumanInTheLoopMiddleware(interrupt_on={"lend_book": True})
    guard: Any = LedgerMiddleware(LIBRARY, undecided=undecided)
    made = create_agent(
        Scripted(replies=[LEND, AIMessage("Lent.")]),
        [lend_book],
        middleware=[asking, guard],
        checkpointer=InMemorySaver(),
    )
    assert invoke(made, says("Lend"))["__interrupt__"]
    invoke(made, Command(resume={"decisions": [{"type": "approve"}]}))
    assert ran == RAN


def test_shadow_mode_takes_tools_that_the_provider_runs() -> None:
    hosted: Any = {"type": "web_search", "name": "web_search"}
    guard: Any = LedgerMiddleware(LIBRARY, mode="shadow")
    model = Scripted(replies=[LEND, AIMessage("Lent.")])
    made = create_agent(model, [*TOOLS, hosted], middleware=[guard])
    assert made.invoke(says("Lend"))["messages"][-1].text == "Lent."
    assert RAN == ["lend_book 14"]


def _json(value: Any) -> str:
    import json

    return json.dumps(value)
