"""Pydantic AI: approvals, output tools, native tools, tools that fail."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("pydantic_ai", reason="pydantic-ai is not installed")

from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, Tool
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.native_tools import WebSearchTool
from pydantic_ai.output import ToolOutput
from pydantic_ai.tools import DeferredToolRequests, DeferredToolResults

from ledgeragent.adapters.common import UnguardableError
from ledgeragent.adapters.pydantic_ai import LedgerCapability, map_history
from tests.conformance.scene import check_valid
from tests.lending import ADA, BOOK_IN, LIBRARY


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
    library = Library()
    model = scripted(READ, [LEND], [TextPart("Lent.")])
    agent: Any = Agent(
        model,
        tools=library.tools(requires_approval=True),
        output_type=[str, DeferredToolRequests],
        capabilities=[LedgerCapability(LIBRARY)],
    )
    first = run(agent, "Lend it")
    assert [part.tool_name for part in first.output.approvals] == ["lend_book"]
    results = DeferredToolResults(approvals={first.output.approvals[0].tool_call_id: True})
    second = run(agent, None, message_history=first.all_messages(), deferred_tool_results=results)
    assert second.output == "Lent."
    assert library.ran == ["get_member", "get_book", "lend_book"]


def test_a_call_that_policy_rejects_is_never_offered_for_approval() -> None:
    library = Library()
    model = scripted([LEND], [TextPart("I need to look first.")])
    agent: Any = Agent(
        model,
        tools=library.tools(requires_approval=True),
        output_type=[str, DeferredToolRequests],
        capabilities=[LedgerCapability(LIBRARY)],
    )
    assert run(agent, "Lend it").output == "I need to look first."


def test_a_tool_that_asks_for_a_retry_has_failed() -> None:
    shelve = [call("shelve_book", book_id="B1")]
    model = scripted(READ, shelve, [LEND], [TextPart("Lent.")])
    library = Library()
    agent: Any = Agent(model, tools=library.tools(), capabilities=[LedgerCapability(LIBRARY)])
    result = run(agent, "Lend it")
    assert library.ran[-1] == "lend_book", "shelving failed, so nothing is stale"
    check_valid(list(map_history(result.all_messages())))


def test_arguments_that_do_not_validate_are_no_execution() -> None:
    bad = call("lend_book", member_id="M1", book_id="B1", days="14 days")
    model = scripted(READ, [bad], [LEND], [TextPart("Lent.")])
    library = Library()
    agent: Any = Agent(model, tools=library.tools(), capabilities=[LedgerCapability(LIBRARY)])
    run(agent, "Lend it")
    assert library.ran == ["get_member", "get_book", "lend_book"]


def test_a_native_tool_is_refused() -> None:
    class Searching(FunctionModel):
        @classmethod
        def supported_native_tools(cls) -> Any:
            return frozenset({WebSearchTool})

    model = Searching(lambda messages, info: ModelResponse(parts=[TextPart("Hi.")]))
    agent: Any = Agent(model, capabilities=[LedgerCapability(LIBRARY), NativeTool(WebSearchTool())])
    with pytest.raises(UnguardableError, match="web_search"):
        run(agent, "Hi")
