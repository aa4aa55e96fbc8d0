"""Control tools: each convention by an example of its framework, and no write of anybody's domain."""

from __future__ import annotations

from typing import Any

import pytest

from ledgeragent.effects import Effect, Neutral
from ledgeragent.gate import Gate
from ledgeragent.ledger import Ledger
from ledgeragent.packs import load_domain
from ledgeragent.session.controls import control_tool, with_neutrals
from ledgeragent.session.conventions import CONTROL_TOOLS, FORCED
from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision

Example = tuple[str, tuple[str, ...], str]

EXAMPLES: dict[str, Example] = {
    "Pydantic AI": ("final_result", ("order_id", "done"), "What was done."),
    "Pydantic AI, several": (
        "final_result_Refund",
        ("amount",),
        "Refund: The final response which ends this conversation",
    ),
    "smolagents": ("final_answer", ("answer",), "Provides a final answer to the given problem."),
    "Instructor": ("Refund", ("amount",), "Correctly extracted `Refund` with all the required"),
    "Strands Agents": (
        "Report",
        ("text",),
        "IMPORTANT: This StructuredOutputTool should only be invoked as the last and final tool",
    ),
    "Claude Agent SDK, output": ("StructuredOutput", ("order_id",), ""),
    "Google ADK, output": ("set_model_response", ("order_id",), ""),
    "Google ADK, task": (
        "finish_task",
        ("result",),
        "Signal that this agent has completed its delegated task. Call this when",
    ),
    "Pydantic AI, search": ("search_tools", ("queries",), ""),
    "Pydantic AI, capability": ("load_capability", ("id",), "Load a listed capability whenever"),
    "OpenAI Agents SDK": ("transfer_to_billing", (), "Handoff to the billing agent to handle"),
    "OpenAI Agents SDK, data": ("transfer_to_billing", ("reason",), "Handoff to the billing agent"),
    "AutoGen": ("transfer_to_bob", (), "Handoff to bob."),
    "supervisor": ("transfer_back_to_supervisor", (), ""),
    "swarm": ("ask_bob", (), "Ask agent 'bob' for help"),
    "forward": ("forward_message", ("from_agent",), ""),
    "Google ADK": ("transfer_to_agent", ("agent_name",), "Transfer the question to another agent."),
    "LlamaIndex": ("handoff", ("to_agent", "reason"), "Useful for handing off to another agent."),
    "Strands swarm": ("handoff_to_agent", ("agent_name", "message", "context"), ""),
    "Semantic Kernel": ("Handoff-transfer_to_billing", (), ""),
    "Agno": ("delegate_task_to_member", ("member_id", "task"), ""),
    "CrewAI": ("delegate_work_to_coworker", ("task", "context", "coworker"), ""),
    "CrewAI, question": ("ask_question_to_coworker", ("question", "context", "coworker"), ""),
    "deepagents": ("task", ("description", "subagent_type"), "Launch an ephemeral subagent"),
    "Claude": ("Agent", ("description", "prompt", "subagent_type"), ""),
    "LangChain": ("write_todos", ("todos",), ""),
    "Claude, todo": ("TodoWrite", ("todos",), ""),
    "Claude, plan": ("ExitPlanMode", ("plan",), ""),
    "Claude, task": ("TaskCreate", ("subject", "description"), ""),
    "Claude, task done": ("TaskUpdate", ("taskId", "status"), ""),
    "Claude, tasks": ("TaskList", (), ""),
    "behind a server": ("mcp__team__transfer_to_billing", (), "Handoff to billing."),
    "files": ("ls", ("path",), "Lists all files in a directory."),
    "files, read": ("read_file", ("file_path", "limit", "offset"), "Reads a file"),
    "files, write": ("write_file", ("file_path", "content"), "Writes content to a file."),
    "files, edit": (
        "edit_file",
        ("file_path", "old_string", "new_string", "replace_all"),
        "Performs exact string replacements in files.",
    ),
    "files, search": ("grep", ("pattern", "path"), "Search"),
}

WRITES: tuple[Example, ...] = (
    ("transfer_to_account", ("iban", "amount"), "Transfer money to an account."),
    ("transfer_to_agent", ("amount",), "Pay an agent."),
    ("handoff", ("parcel_id",), "Hand a parcel over."),
    ("task", ("title", "assignee"), "Create a task."),
    ("write_file", ("path", "content"), "Writes a file on the server."),
    ("write_file", ("file_path", "content"), "Overwrite a contract."),
    ("final_results", ("exam",), "Publish the results."),
    ("xfinal_result", (), ""),
    ("refund", ("amount",), "Refunds. Correctly extracted `x`"),
    ("execute", ("command",), "Executes a shell command"),
    ("delete", ("file_path",), "Deletes a file"),
    ("Bash", ("command",), ""),
    ("TaskUpdate", ("ticket", "state"), "Update a ticket."),
    ("mcp__tracker__TaskUpdate", ("ticket",), "Update a ticket."),
    ("mcp__tracker__ToolSearch", ("query",), "Order what was searched for."),
    ("mcp__press__final_result", ("exam",), "Publish the results of an exam."),
    ("final_result_publish", ("exam",), "Publish the results of an exam."),
)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_a_frameworks_own_tool_is_a_control_tool(example: Example) -> None:
    assert control_tool(*example) is not None


def test_every_convention_has_an_example_and_a_source() -> None:
    examples = {control_tool(*example) for example in EXAMPLES.values()}
    assert set(CONTROL_TOOLS) == examples
    assert all(convention.source for convention in CONTROL_TOOLS)


@pytest.mark.parametrize("write", WRITES, ids=lambda write: f"{write[0]}{write[1]}")
def test_a_tool_that_only_sounds_like_one_is_none(write: Example) -> None:
    assert control_tool(*write) is None
    assert control_tool(*write, forced=True) is FORCED


def test_where_the_parameters_are_not_known_only_a_name_that_says_enough_counts() -> None:
    assert control_tool("final_result") is not None
    assert control_tool("transfer_to_billing") is None
    assert control_tool("write_todos") is None


@pytest.mark.parametrize("pack", ["airline", "retail", "telecom", "telehealth", "shop"])
def test_no_write_of_a_shipped_pack_is_one(pack: str) -> None:
    writes = [tool for tool in load_domain(pack).tools if tool.effect is Effect.WRITE]
    assert writes
    for tool in writes:
        parameters: Any = getattr(getattr(tool, "arguments", None), "__annotations__", {})
        assert control_tool(tool.tool, parameters, f"{tool.tool} for a customer") is None


def test_a_domain_takes_neutral_tools_and_keeps_its_own() -> None:
    domain = load_domain("shop")
    wider = with_neutrals(domain, ["final_result", "refund_item", "final_result"])
    assert wider.tool("final_result") == Neutral(tool="final_result")
    assert wider.tool("refund_item") is domain.tool("refund_item")
    assert wider.digest == domain.digest
    assert with_neutrals(domain, ["refund_item"]) is domain
    call = ToolCall(name="final_result", arguments={"order_id": "G-1010"}, id="1")
    assert Gate(domain=wider).judge(call, Ledger()).decision is Decision.ALLOW
    assert Gate(domain=domain).judge(call, Ledger()).decision is Decision.REVISE


def test_the_installed_frameworks_follow_their_conventions() -> None:
    agents = pytest.importorskip("agents")
    handoff = agents.handoff(agents.Agent(name="Billing"))
    assert control_tool(
        handoff.tool_name, handoff.input_json_schema["properties"], handoff.tool_description
    )
    middleware = pytest.importorskip("langchain.agents.middleware")
    (todo,) = middleware.TodoListMiddleware().tools
    assert control_tool(todo.name, todo.args, todo.description)
