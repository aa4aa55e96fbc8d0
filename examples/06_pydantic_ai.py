"""Pydantic AI: one capability."""

import asyncio
from typing import Any

from pydantic_ai import Agent, Tool
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

from examples.scripted import REPLIES, SAYS, show
from ledgeragent import ToolCall
from ledgeragent.adapters.pydantic_ai import LedgerCapability
from ledgeragent.demo.shop.shop import Shop, tool_schemas

shop = Shop()
left = list(REPLIES)


def respond(messages: Any, info: Any) -> ModelResponse:
    """The next scripted reply; put your own model in its place."""
    reply = left.pop(0)
    calls = [ToolCallPart(c.name, dict(c.arguments), c.id) for c in reply.calls]
    return ModelResponse(parts=[TextPart(reply.text)] if reply.text else calls)


def tool(schema: Any) -> Tool:
    """A tool of the shop."""

    async def run(**arguments: Any) -> Any:
        return shop.execute(ToolCall(name=schema["name"], arguments=arguments)).content

    return Tool.from_schema(
        run,
        name=schema["name"],
        description=schema["description"],
        json_schema=schema["parameters"],
    )


tools = [tool(schema["function"]) for schema in tool_schemas()]
model = FunctionModel(respond)

agent = Agent(model, tools=tools, capabilities=[LedgerCapability("shop", watch=show)])
result = asyncio.run(agent.run(SAYS))
print(result.output)
