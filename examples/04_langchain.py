"""LangChain: one middleware."""

import asyncio
from typing import Any

from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import StructuredTool

from examples.scripted import REPLIES, SAYS, show
from ledgeragent import Reply, ToolCall
from ledgeragent.adapters.langchain import LedgerMiddleware
from ledgeragent.demo.shop.shop import Shop, tool_schemas

shop = Shop()


class Scripted(BaseChatModel):
    """Gives the scripted replies; put your own model in its place."""

    replies: list[Reply]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return self

    def _generate(self, messages: Any, *args: Any, **options: Any) -> ChatResult:
        reply = self.replies.pop(0)
        calls = [{"name": c.name, "args": dict(c.arguments), "id": c.id} for c in reply.calls]
        message = AIMessage(content=reply.text, tool_calls=calls)
        return ChatResult(generations=[ChatGeneration(message=message)])


def tool(schema: Any) -> StructuredTool:
    """A tool of the shop."""

    async def run(**arguments: Any) -> Any:
        return shop.execute(ToolCall(name=schema["name"], arguments=arguments)).content

    return StructuredTool(
        name=schema["name"],
        description=schema["description"],
        args_schema=schema["parameters"],
        coroutine=run,
    )


model = Scripted(replies=list(REPLIES))
tools = [tool(schema["function"]) for schema in tool_schemas()]

agent = create_agent(model, tools, middleware=[LedgerMiddleware("shop", watch=show)])
result = asyncio.run(agent.ainvoke({"messages": [{"role": "user", "content": SAYS}]}))
print(result["messages"][-1].text)
