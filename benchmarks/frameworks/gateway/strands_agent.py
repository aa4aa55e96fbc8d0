# /// script
# dependencies = ["strands-agents[openai,anthropic]==1.62.*"]
# [tool.ledgeragent]
# wires = ["chat", "messages"]
# streams = [true]
# ///
"""Strands: `Agent`"""

from typing import Any

from _shop import KEY, POLICY, main, task
from strands import Agent, tool
from strands.models.anthropic import AnthropicModel
from strands.models.openai import OpenAIModel


def chat_model() -> Any:
    """The model in the format that is asked for."""
    if task.wire == "messages":
        where = {"base_url": task.gateway, "api_key": KEY}
        return AnthropicModel(client_args=where, model_id=task.model, max_tokens=1000)
    return OpenAIModel(client_args={"base_url": task.openai, "api_key": KEY}, model_id=task.model)


async def talk(turns: list[str]) -> Any:
    """The last result. Its models always stream."""
    tools = [tool(function) for function in task.tools]
    agent = Agent(model=chat_model(), tools=tools, system_prompt=POLICY, callback_handler=None)
    said: Any = None
    for text in turns:
        said = await agent.invoke_async(text)
    return said


main(talk)
