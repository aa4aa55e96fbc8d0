"""Conventions of frameworks for tools of their own, as one table."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

Purpose = Literal["output", "handoff", "plan", "subagent", "scratch"]
"""What a control tool is for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlTool:
    """A framework's convention for a tool of its own: a `name` (a pattern for the whole of it).

    Names alone may be those of real writes, so most conventions ask for more: parameters that it
    `needs`, none at all (`bare`), or how its description `begins` (a pattern). `source` is where the
    framework says so.
    """

    purpose: Purpose
    framework: str
    name: str
    needs: frozenset[str] = frozenset()
    bare: bool = False
    begins: str = ""
    source: str

    @property
    def is_name_alone(self) -> bool:
        """True if nothing but the name tells the tool from another."""
        return not (self.needs or self.bare or self.begins)

    def fits(self, name: str, parameters: Collection[str] | None, description: str) -> bool:
        """True if a tool of this name, with what is known of it, follows the convention."""
        if parameters is None:
            is_shaped = not (self.needs or self.bare)
        else:
            is_shaped = self.needs <= set(parameters) and not (self.bare and parameters)
        begins = re.match(self.begins, description.lstrip())
        return is_shaped and begins is not None and re.fullmatch(self.name, name) is not None


FORCED = ControlTool(
    purpose="output",
    framework="any",
    name=".*",
    source="tool_choice names the tool: the host wants its arguments as data",
)
"""The convention of a tool that a request forces the model to call."""

_SUPERVISOR = "langgraph-supervisor, langgraph-swarm"

CONTROL_TOOLS: tuple[ControlTool, ...] = (
    ControlTool(
        purpose="output",
        framework="Pydantic AI",
        name="final_result",
        source="Output docs, Tool Output",
    ),
    ControlTool(
        purpose="output",
        framework="Pydantic AI",
        name=r"final_result_\w+",
        begins=r"(\w+: )?The final response which ends this conversation",
        source="Output docs, Tool Output: final_result_NAME with several types",
    ),
    ControlTool(
        purpose="output",
        framework="smolagents",
        name="final_answer",
        needs=frozenset({"answer"}),
        source="Tools reference, FinalAnswerTool",
    ),
    ControlTool(
        purpose="output",
        framework="Instructor",
        name=r"\w+",
        begins="Correctly extracted `",
        source="Mode.TOOLS: the schema of a response model without a docstring of its own",
    ),
    ControlTool(
        purpose="output",
        framework="Strands Agents",
        name=r"\w+",
        begins="IMPORTANT: This StructuredOutputTool should only be invoked as the last",
        source="Structured output docs: the model's class as a tool",
    ),
    ControlTool(
        purpose="output",
        framework="Claude Agent SDK",
        name="StructuredOutput",
        source="Structured outputs docs: the tool that --json-schema adds",
    ),
    ControlTool(
        purpose="output",
        framework="Google ADK",
        name="set_model_response",
        source="LLM agents docs, output_schema with tools",
    ),
    ControlTool(
        purpose="handoff",
        framework=f"OpenAI Agents SDK, AutoGen, AG2, {_SUPERVISOR}",
        name=r"transfer_(back_)?to_\w+",
        bare=True,
        source="Handoffs docs: transfer_to_NAME takes nothing; a transfer of something takes it",
    ),
    ControlTool(
        purpose="handoff",
        framework="OpenAI Agents SDK",
        name=r"transfer_to_\w+",
        begins="Handoff to the ",
        source="Handoffs docs, input_type: the same with data for the other agent",
    ),
    ControlTool(
        purpose="handoff",
        framework=_SUPERVISOR,
        name=r"\w+",
        bare=True,
        begins="Ask agent '",
        source="create_handoff_tool, with a name or prefix of the host's own",
    ),
    ControlTool(
        purpose="handoff",
        framework="langgraph-supervisor",
        name="forward_message",
        needs=frozenset({"from_agent"}),
        source="create_forward_message_tool",
    ),
    ControlTool(
        purpose="handoff",
        framework="Google ADK",
        name="transfer_to_agent",
        needs=frozenset({"agent_name"}),
        source="Multi-agent docs, LLM-driven delegation",
    ),
    ControlTool(
        purpose="handoff",
        framework="LlamaIndex",
        name="handoff",
        needs=frozenset({"to_agent", "reason"}),
        source="AgentWorkflow docs",
    ),
    ControlTool(
        purpose="handoff",
        framework="Strands Agents",
        name="handoff_to_agent",
        needs=frozenset({"agent_name", "message"}),
        source="Swarm docs",
    ),
    ControlTool(
        purpose="handoff",
        framework="Semantic Kernel",
        name=r"Handoff-(transfer_to_\w+|complete_task)",
        source="Handoff orchestration docs",
    ),
    ControlTool(
        purpose="subagent",
        framework="Agno",
        name="(delegate|transfer)_task_to_member",
        needs=frozenset({"member_id"}),
        source="Teams docs, delegation",
    ),
    ControlTool(
        purpose="subagent",
        framework="CrewAI",
        name="delegate_work_to_coworker",
        needs=frozenset({"task", "context", "coworker"}),
        source="Collaboration docs, allow_delegation",
    ),
    ControlTool(
        purpose="subagent",
        framework="CrewAI",
        name="ask_question_to_coworker",
        needs=frozenset({"question", "context", "coworker"}),
        source="Collaboration docs, allow_delegation",
    ),
    ControlTool(
        purpose="subagent",
        framework="deepagents",
        name="task",
        needs=frozenset({"description", "subagent_type"}),
        source="Subagents docs; what a sub-agent calls is for its own guard",
    ),
    ControlTool(
        purpose="subagent",
        framework="Claude Agent SDK",
        name="Task|Agent",
        needs=frozenset({"description", "prompt"}),
        source="Subagents docs; what a sub-agent calls passes the gateway by itself",
    ),
    ControlTool(
        purpose="output",
        framework="Google ADK",
        name="finish_task",
        begins="Signal that this agent has completed its delegated task",
        source="Task agents docs: the end of a delegated task, with its output",
    ),
    ControlTool(
        purpose="plan",
        framework="Pydantic AI",
        name="search_tools",
        needs=frozenset({"queries"}),
        source="Deferred tools docs: finds tools by what they are for",
    ),
    ControlTool(
        purpose="plan",
        framework="Pydantic AI",
        name="load_capability",
        needs=frozenset({"id"}),
        begins="Load a listed capability",
        source="Capabilities docs: adds its tools and instructions to the run",
    ),
    ControlTool(
        purpose="plan",
        framework="LangChain, deepagents",
        name="write_todos",
        needs=frozenset({"todos"}),
        source="TodoListMiddleware",
    ),
    ControlTool(
        purpose="plan",
        framework="Claude Agent SDK",
        name="TodoWrite",
        needs=frozenset({"todos"}),
        source="Todo tracking docs",
    ),
    ControlTool(
        purpose="plan",
        framework="Claude Agent SDK",
        name="TaskCreate",
        needs=frozenset({"subject", "description"}),
        source="Tools reference, the task list of a run",
    ),
    ControlTool(
        purpose="plan",
        framework="Claude Agent SDK",
        name="Task(Update|Get)",
        needs=frozenset({"taskId"}),
        source="Tools reference, the task list of a run",
    ),
    ControlTool(
        purpose="plan",
        framework="Claude Agent SDK",
        name="TaskList|EnterPlanMode",
        bare=True,
        source="Tools reference, the task list of a run, and plan mode",
    ),
    ControlTool(
        purpose="plan",
        framework="Claude Agent SDK",
        name="ExitPlanMode|AskUserQuestion|ToolSearch",
        source="Tools reference: plan mode, questions to the user, deferred tools",
    ),
    ControlTool(
        purpose="scratch",
        framework="deepagents",
        name="ls",
        begins="Lists all files in ",
        source="FilesystemMiddleware: files of the agent's backend",
    ),
    ControlTool(
        purpose="scratch",
        framework="deepagents",
        name="read_file",
        needs=frozenset({"file_path"}),
        source="FilesystemMiddleware: files of the agent's backend",
    ),
    ControlTool(
        purpose="scratch",
        framework="deepagents",
        name="write_file",
        needs=frozenset({"file_path", "content"}),
        begins="Writes ",
        source="FilesystemMiddleware; MCP's filesystem server has `path`, and its files are real",
    ),
    ControlTool(
        purpose="scratch",
        framework="deepagents",
        name="edit_file",
        needs=frozenset({"file_path", "old_string", "new_string"}),
        begins="Performs exact string replacements",
        source="FilesystemMiddleware; as above",
    ),
    ControlTool(
        purpose="scratch",
        framework="deepagents",
        name="glob|grep",
        needs=frozenset({"pattern"}),
        source="FilesystemMiddleware: reads of the agent's backend",
    ),
)
"""Every convention known. Tools that may reach beyond the agent (a shell, a deletion) are none."""
