"""LangChain: other middleware beside ours, retries, approvals, and tools of the framework's own."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("langchain", reason="langchain is not installed")

from typing import Annotated

from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    TodoListMiddleware,
    ToolRetryMiddleware,
)
from langchain.agents.structured_output import ToolStrategy
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import InjectedToolCallId, tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from pydantic import BaseModel

from ledgeragent.adapters.common import UnguardableError
from ledgeragent.adapters.langchain import LedgerMiddleware
from tests.adapters.test_langchain import (
    LEND,
    RAN,
    READ,
    TOO_LONG,
    TOOLS,
    Scripted,
    calls,
    invoke,
    says,
)
from tests.lending.domain import ADA, BOOK_IN, LIBRARY

FAILS: dict[str, list[Exception]] = {}


@pytest.fixture(autouse=True)
def nothing_ran() -> Iterator[None]:
    RAN.clear()
    FAILS.clear()
    yield


def attempt(name: str) -> None:
    """Notes an attempt, which fails if it is told to."""
    RAN.append(name)
    if FAILS.get(name):
        raise FAILS[name].pop(0)


@tool
def get_member(member_id: str) -> dict[str, Any]:
    """Reads a member."""
    attempt("get_member")
    return ADA


@tool
def get_book(book_id: str) -> dict[str, Any]:
    """Reads a book."""
    attempt("get_book")
    return BOOK_IN


@tool
def lend_book(member_id: str, book_id: str, days: int) -> str:
    """Lends a book."""
    attempt("lend_book")
    return "lent"


def retrying(replies: list[Any], **options: Any) -> Any:
    retry: Any = ToolRetryMiddleware(initial_delay=0.0, jitter=False, on_failure="continue")
    return create_agent(
        Scripted(replies=replies),
        [get_member, get_book, lend_book],
        middleware=[*options.pop("before", ()), retry, LedgerMiddleware(LIBRARY)],
        **options,
    )


def run(made: Any, asynchronous: bool) -> Any:
    return asyncio.run(made.ainvoke(says("Hi"))) if asynchronous else made.invoke(says("Hi"))


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_read_that_fails_is_retried(asynchronous: bool) -> None:
    FAILS["get_book"] = [ConnectionError("reset"), ValueError("busy")]
    done = run(retrying([READ, LEND, AIMessage("Lent.")]), asynchronous)
    assert RAN.count("get_book") == 3 and RAN[-1] == "lend_book"
    assert done["messages"][-1].text == "Lent."


@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_write_is_retried_unless_it_may_have_happened(asynchronous: bool) -> None:
    FAILS["lend_book"] = [ValueError("busy"), TimeoutError("no answer"), ValueError("never")]
    done = run(retrying([READ, LEND, AIMessage("Well.")]), asynchronous)
    assert RAN.count("lend_book") == 2
    assert "whose result never came" in done["messages"][-2].text


def test_a_retry_of_a_resumed_run_knows_of_its_first_attempt() -> None:
    FAILS["lend_book"] = [TimeoutError("no answer")]
    asking: Any = HumanInTheLoopMiddleware({"lend_book": True})
    made = retrying([READ, LEND, AIMessage("Well.")], before=[asking], checkpointer=InMemorySaver())
    assert invoke(made, says("Lend"))["__interrupt__"]
    done = invoke(made, Command(resume={"decisions": [{"type": "approve"}]}))
    assert RAN.count("lend_book") == 1
    assert "whose result never came" in done["messages"][-2].text


class Generous(AgentMiddleware[Any, Any, Any]):
    """Makes 99 days of what was judged."""

    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        args = {**request.tool_call["args"], "days": 99}
        return handler(request.override(tool_call={**request.tool_call, "args": args}))


class GenerousLater(AgentMiddleware[Any, Any, Any]):
    """The same, asynchronously."""

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)


APPROVALS = [
    one
    for one in (HumanInTheLoopMiddleware({}),)
    if type(one).wrap_tool_call is not AgentMiddleware.wrap_tool_call
]
"""Older versions edit calls in the reply, before any wrapper sees them."""


@pytest.mark.parametrize(
    "other",
    [Generous(), GenerousLater(), ToolRetryMiddleware(), *APPROVALS],
    ids=lambda other: type(other).__name__,
)
def test_an_agent_with_a_middleware_between_ours_and_its_tools_is_not_built(other: Any) -> None:
    guard: Any = LedgerMiddleware(LIBRARY)
    with pytest.raises(UnguardableError, match=f"put {type(other).__name__} before"):
        create_agent(Scripted(replies=[]), TOOLS, middleware=[guard, other])
    assert create_agent(Scripted(replies=[]), TOOLS, middleware=[other, guard])
    shadow: Any = LedgerMiddleware(LIBRARY, mode="shadow")
    assert create_agent(Scripted(replies=[]), TOOLS, middleware=[shadow, other])


def test_what_does_not_touch_calls_may_stand_anywhere() -> None:
    guard: Any = LedgerMiddleware(LIBRARY)
    todo: Any = TodoListMiddleware()
    assert create_agent(Scripted(replies=[]), TOOLS, middleware=[guard, todo])


def test_what_a_middleware_before_ours_makes_of_a_call_is_judged() -> None:
    guard: Any = LedgerMiddleware(LIBRARY)
    made = create_agent(
        Scripted(replies=[READ, LEND, AIMessage("Well.")]), TOOLS, middleware=[Generous(), guard]
    )
    made.invoke(says("Lend"))
    assert sorted(RAN) == ["get_book", "get_member"]


def approving(replies: list[Any], mode: Any = "batched", **options: Any) -> Any:
    guard: Any = LedgerMiddleware(LIBRARY, **options)
    config: Any = {
        "lend_book": {
            "allowed_decisions": ["approve", "edit", "reject"],
            "when": guard.lets_through,
        }
    }
    asking: Any = HumanInTheLoopMiddleware(config, **({} if mode == "batched" else {MODE: mode}))
    return create_agent(
        Scripted(replies=replies),
        TOOLS,
        middleware=[asking, guard],
        checkpointer=InMemorySaver(),
    )


MODE = "interrupt_mode"
HAS_MODES = MODE in inspect.signature(HumanInTheLoopMiddleware.__init__).parameters
"""Whether people can be asked about each call by itself, as LangChain 1.5 lets them."""

ANSWERS: dict[str, Any] = {"batched": lambda interrupt, answer: {"decisions": [answer]}}
if HAS_MODES:
    ANSWERS["per_call"] = lambda interrupt, answer: {interrupt.id: answer}


@pytest.mark.parametrize("mode", ANSWERS)
def test_people_are_asked_only_about_calls_that_the_gate_lets_through(mode: str) -> None:
    made = approving([LEND, READ, TOO_LONG, LEND, AIMessage("Lent.")], mode)
    (asked,) = invoke(made, says("Lend"))["__interrupt__"]
    assert "14" in str(asked.value) and "99" not in str(asked.value)
    done = invoke(made, Command(resume=ANSWERS[mode](asked, {"type": "approve"})))
    assert "__interrupt__" not in done and RAN.count("lend_book 14") == 1
    errors = [m for m in done["messages"] if isinstance(m, ToolMessage) and m.status == "error"]
    assert len(errors) == 2


@pytest.mark.parametrize("undecided", ["block", "allow"])
@pytest.mark.parametrize("mode", ANSWERS)
def test_what_people_reject_does_not_run(mode: str, undecided: Any) -> None:
    made = approving([READ, LEND, AIMessage("No.")], mode, undecided=undecided)
    (asked,) = invoke(made, says("Lend"))["__interrupt__"]
    invoke(made, Command(resume=ANSWERS[mode](asked, {"type": "reject"})))
    assert sorted(RAN) == ["get_book", "get_member"]


def test_what_people_reject_does_not_run_where_nothing_could_be_read() -> None:
    guard: Any = LedgerMiddleware(LIBRARY, undecided="allow")
    config: Any = {"lend_book": {"allowed_decisions": ["reject"], "when": guard.lets_through}}
    made = create_agent(
        Scripted(replies=[LEND, AIMessage("No.")]),
        [lend_book],
        middleware=[HumanInTheLoopMiddleware(config), guard],
        checkpointer=InMemorySaver(),
    )
    assert invoke(made, says("Lend"))["__interrupt__"]
    invoke(made, Command(resume={"decisions": [{"type": "reject"}]}))
    assert RAN == []


def verdicts_of(replies: list[Any], **options: Any) -> list[tuple[str, str]]:
    judged: list[tuple[str, str]] = []

    def watch(conversation: Any, filtered: Any) -> None:
        judged.extend((v.call.name, v.decision.name) for v in filtered.verdicts)

    guard: Any = LedgerMiddleware(LIBRARY, watch=watch, neutrals=options.pop("neutrals", ()))
    tools = [*TOOLS, *options.pop("tools", ())]
    middleware = [*options.pop("before", ()), guard]
    made = create_agent(Scripted(replies=replies), tools, middleware=middleware, **options)
    made.invoke(says("Hi"))
    return judged


def test_a_todo_list_is_no_write() -> None:
    todo = calls(("write_todos", {"todos": [{"content": "read", "status": "pending"}]}))
    before: list[Any] = [TodoListMiddleware()]
    judged = verdicts_of([todo, AIMessage("Done.")], before=before)
    assert judged == [("write_todos", "ALLOW")]


class Summary(BaseModel):
    """What came of it."""

    text: str
    days: int


def test_output_as_a_tool_is_no_write_and_its_mistakes_are_mended() -> None:
    """Answered by the framework each time, it is never judged, so it never goes round in circles."""
    wrong, right = calls(("Summary", {"text": "x"})), calls(("Summary", {"text": "x", "days": 3}))
    judged = verdicts_of([READ, wrong, right], response_format=ToolStrategy(Summary))
    assert [name for name, _ in judged] == ["get_member", "get_book"]


@pytest.mark.parametrize(("days", "decision"), [(14, "ALLOW"), (99, "REVISE")])
def test_a_write_beside_the_output_is_judged(days: int, decision: str) -> None:
    write = ("lend_book", {"member_id": "M1", "book_id": "B1", "days": days})
    both = calls(("Summary", {"text": "x", "days": 3}), write)
    again = calls(("Summary", {"text": "x", "days": 3}))
    judged = verdicts_of([READ, both, again], response_format=ToolStrategy(Summary))
    assert judged[2:] == [("lend_book", decision)]
    assert (f"lend_book {days}" in RAN) is (decision == "ALLOW")


@tool("transfer_to_desk")
def to_desk(tool_call_id: Annotated[str, InjectedToolCallId]) -> str:
    """Ask agent 'desk' for help"""
    return "over to you"


def test_a_handoff_is_no_write_whatever_the_framework_injects() -> None:
    judged = verdicts_of([calls(("transfer_to_desk", {})), AIMessage("Done.")], tools=[to_desk])
    assert judged == [("transfer_to_desk", "ALLOW")]


@tool
def task(description: str, subagent_type: str) -> str:
    """Launch an ephemeral subagent."""
    return "done"


def test_a_sub_agent_is_no_write_and_its_own_guard_is_asked_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    ask = calls(("task", {"description": "look", "subagent_type": "general"}))
    with caplog.at_level(logging.WARNING):
        assert verdicts_of([ask, AIMessage("Done.")], tools=[task]) == [("task", "ALLOW")]
    assert "guarded only where their own" in caplog.text


@tool
def sing(song: str) -> str:
    """Sings."""
    return "la"


@pytest.mark.parametrize(("neutrals", "decision"), [((), "REVISE"), (("sing",), "ALLOW")])
def test_a_tool_that_the_operator_calls_neutral(neutrals: Any, decision: str) -> None:
    replies = [calls(("sing", {"song": "x"})), AIMessage("Done.")]
    assert verdicts_of(replies, tools=[sing], neutrals=neutrals) == [("sing", decision)]
