"""OpenAI Agents SDK: a runner."""

import asyncio
import json
from typing import Any

from agents import Agent, FunctionTool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from examples.scripted import REPLIES, SAYS, show
from ledgeragent import ToolCall
from ledgeragent.adapters.openai_agents import LedgerRunner
from ledgeragent.demo.shop.shop import Shop, tool_schemas

shop = Shop()
set_tracing_disabled(True)


def tool(schema: Any) -> FunctionTool:
    """A tool of the shop."""

    async def run(context: Any, arguments: str) -> Any:
        call = ToolCall(name=schema["name"], arguments=json.loads(arguments))
        return shop.execute(call).content

    return FunctionTool(schema["name"], schema["description"], schema["parameters"], run)


def output(reply: Any) -> list[Any]:
    """A reply as the SDK's own scripted model takes it; put your own model in its place."""
    calls = [function_call(c.name, c.arguments, call_id=c.id) for c in reply.calls]
    return [assistant_message(reply.text)] if reply.text else calls


tools = [tool(schema["function"]) for schema in tool_schemas()]
model = ScriptedModel([output(reply) for reply in REPLIES])

agent = Agent(name="support", tools=tools, model=model)
result = asyncio.run(LedgerRunner("shop", watch=show).run(agent, SAYS))
print(result.final_output)
