"""Pydantic AI: approvals, output tools, native tools, tools that fail."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")

from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, Tool
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import DeltaToolCall, FunctionModel
from pydantic_ai.native_tools import WebSearchTool
from pydantic_ai.output import ToolOutput
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults

from ledgeragent.adapters.common import Policy, UnguardableError
from ledgeragent.adapters.pydantic_ai import LedgerCapability, map_history
from tests.conformance.scene import check_valid
from tests.lending.domain import ADA, BOOK_IN, LIBRARY


class Library:
    """Tools that note what ran."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def get_member(self, member_id: str) -> dict[str, Any]:
        """Reads a member."""
        self.ran.append("get_member")
        return ADA

    def get_book(self, book_id: str) -> dict[str, Any]:
        """Reads a book."""
        self.ran.append("get_book")
        return BOOK_IN

    def lend_book(self, member_id: str, book_id: str, days: int) -> str:
        """Lends a book."""
        self.ran.append("lend_book")
        return "lent"

    def shelve_book(self, book_id: str) -> str:
        """Shelves a book."""
        raise ModelRetry("not now")

    def tools(self, **options: Any) -> list[Tool[None]]:
        lend = Tool(self.lend_book, **options)
        return [Tool(self.get_member), Tool(self.get_book), lend, Tool(self.shelve_book)]


def call(name: str, id: str = "", **arguments: Any) -> ToolCallPart:
    return ToolCallPart(name, arguments, id or name)


READ = [call("get_member", member_id="M1"), call("get_book", book_id="B1")]
LEND = call("lend_book", member_id="M1", book_id="B1", days=14)


def scripted(*replies: list[Any]) -> FunctionModel:
    left = list(replies)
    return FunctionModel(lambda messages, info: ModelResponse(parts=left.pop(0)))


def streamed(*replies: list[Any]) -> FunctionModel:
    """A model whose replies arrive in pieces."""
    left = list(replies)

    async def stream(messages: Any, info: Any) -> AsyncIterator[Any]:
        for number, part in enumerate(left.pop(0)):
            if isinstance(part, TextPart):
                yield part.content
            else:
                text, name = json.dumps(part.args), part.tool_call_id
                yield {number: DeltaToolCall(part.tool_name, text[:5], tool_call_id=name)}
                yield {number: DeltaToolCall(None, text[5:], tool_call_id=name)}

    return FunctionModel(stream_function=stream)


def run(agent: Any, says: str | None, **options: Any) -> Any:
    return asyncio.run(agent.run(says, **options))


def test_an_output_tool_is_no_call_to_be_judged() -> None:
    class Summary(BaseModel):
        text: str

    model = scripted(READ, [call("final_result", text="all is well")])
    agent: Any = Agent(
        model,
        tools=Library().tools(),
        output_type=ToolOutput(Summary),
        capabilities=[LedgerCapability(LIBRARY)],
    )
    assert run(agent, "Hi").output.text == "all is well"


def test_a_call_that_waits_for_approval_is_judged_before_and_when_it_resumes() -> None:
    books = Library()
    model = scripted(READ, [LEND], [TextPart("Lent.")])
    agent: Any = Agent(
        model,
        tools=books.tools(requires_approval=True),
        output_type=[str, DeferredToolRequests],
        capabilities=[LedgerCapability(LIBRARY)],
    )
    first = run(agent, "Lend it")
    assert [part.tool_name for part in first.output.approvals] == ["lend_book"]
    results = DeferredToolResults(approvals={first.output.approvals[0].tool_call_id: True})
    second = run(agent, None, message_history=first.all_messages(), deferred_tool_results=results)
    assert second.output == "Lent."
    assert sorted(books.ran[:2]) == ["get_book", "get_member"]
    assert books.ran[2:] == ["lend_book"]


def test_a_call_that_policy_rejects_is_never_offered_for_approval() -> None:
    books = Library()
    model = scripted([LEND], [TextPart("I need to look first.")])
    agent: Any = Agent(
        model,
        tools=books.tools(requires_approval=True),
        output_type=[str, DeferredToolRequests],
        capabilities=[LedgerCapability(LIBRARY)],
    )
    assert run(agent, "Lend it").output == "I need to look first."


def test_a_tool_that_asks_for_a_retry_has_failed() -> None:
    shelve = [call("shelve_book", book_id="B1")]
    model = scripted(READ, shelve, [LEND], [TextPart("Lent.")])
    books = Library()
    agent: Any = Agent(model, tools=books.tools(), capabilities=[LedgerCapability(LIBRARY)])
    result = run(agent, "Lend it")
    assert books.ran[-1] == "lend_book", "shelving failed, so nothing is stale"
    check_valid(list(map_history(result.all_messages())))


def test_arguments_that_do_not_validate_are_no_execution() -> None:
    bad = call("lend_book", member_id="M1", book_id="B1", days="14 days")
    model = scripted(READ, [bad], [LEND], [TextPart("Lent.")])
    books = Library()
    agent: Any = Agent(model, tools=books.tools(), capabilities=[LedgerCapability(LIBRARY)])
    run(agent, "Lend it")
    assert books.ran == ["get_member", "get_book", "lend_book"]


def test_a_native_tool_is_refused() -> None:
    class Searching(FunctionModel):
        @classmethod
        def supported_native_tools(cls) -> Any:
            return frozenset({WebSearchTool})

    model = Searching(lambda messages, info: ModelResponse(parts=[TextPart("Hi.")]))
    agent: Any = Agent(model, capabilities=[LedgerCapability(LIBRARY), NativeTool(WebSearchTool())])
    with pytest.raises(UnguardableError, match="web_search"):
        run(agent, "Hi")


class Noted:
    """An agent of streamed replies: what ran, and every verdict."""

    def __init__(self, *replies: list[Any], mode: Any = "enforce", **options: Any) -> None:
        self.books = Library()
        self.verdicts: list[str] = []
        guard = LedgerCapability(LIBRARY, watch=self._watch, mode=mode)
        self.agent: Any = Agent(
            streamed(*replies), tools=self.books.tools(), capabilities=[guard], **options
        )

    def _watch(self, conversation: Any, filtered: Any) -> None:
        self.verdicts += [f"{v.call.name}={v.decision.name}" for v in filtered.verdicts]

    def run_stream(self) -> list[Any]:
        """The messages of `run_stream`."""

        async def run() -> list[Any]:
            async with self.agent.run_stream("Hi") as result:
                await result.get_output()
            found: list[Any] = result.all_messages()
            return found

        return asyncio.run(run())


ALLOWED = ["get_member=ALLOW", "get_book=ALLOW", "lend_book=ALLOW"]
NOW = [TextPart("I lend it."), LEND]


def test_run_stream_judges_the_calls_beside_the_words_that_end_it() -> None:
    noted = Noted(READ, NOW)
    messages = noted.run_stream()
    assert noted.verdicts == ALLOWED
    assert noted.books.ran[-1] == "lend_book"
    check_valid(list(map_history(messages)))


def test_run_stream_never_runs_what_is_forbidden() -> None:
    noted = Noted(NOW)
    messages = noted.run_stream()
    assert noted.books.ran == []
    assert noted.verdicts == ["lend_book=REVISE"]
    assert "has not been read yet" in str(messages[-1].parts[0].content)


def test_run_stream_goes_on_after_calls_alone() -> None:
    noted = Noted([LEND], READ, [LEND], [TextPart("Lent.")])
    noted.run_stream()
    assert noted.verdicts == ["lend_book=REVISE", *ALLOWED]
    assert noted.books.ran[-1] == "lend_book"


def test_calls_that_run_stream_leaves_out_were_not_executed() -> None:
    noted = Noted(READ, NOW, end_strategy="early")
    history = list(map_history(noted.run_stream()))
    assert "lend_book" not in noted.books.ran
    conversation = Policy(LIBRARY).open(None, history)
    assert conversation.ledger.writes == ()


def test_a_reply_that_nobody_listens_to_runs_nothing() -> None:
    noted = Noted(NOW)

    async def leave() -> None:
        async with noted.agent.run_stream("Hi"):
            pass

    asyncio.run(leave())
    assert noted.books.ran == []


def test_the_events_of_a_run() -> None:
    noted = Noted(NOW, READ, [LEND], [TextPart("Lent.")])

    async def run() -> list[Any]:
        async with noted.agent.run_stream_events("Hi") as events:
            return [event async for event in events]

    assert asyncio.run(run())[-1].result.output == "Lent."
    assert noted.verdicts == ["lend_book=REVISE", *ALLOWED]
    assert noted.books.ran.count("lend_book") == 1


def test_run_stream_in_shadow_mode() -> None:
    noted = Noted(NOW, mode="shadow")
    messages = noted.run_stream()
    assert noted.books.ran == ["lend_book"]
    assert noted.verdicts == ["lend_book=REVISE"]
    assert messages[-1].parts[0].content == "lent"


def test_shadow_mode_takes_native_tools() -> None:
    class Searching(FunctionModel):
        @classmethod
        def supported_native_tools(cls) -> Any:
            return frozenset({WebSearchTool})

    model = Searching(lambda messages, info: ModelResponse(parts=[TextPart("Hi.")]))
    guard = LedgerCapability(LIBRARY, mode="shadow")
    agent: Any = Agent(model, capabilities=[guard, NativeTool(WebSearchTool())])
    assert run(agent, "Hi").output == "Hi."
