# /// script
# dependencies = ["autogen-agentchat==0.7.5", "autogen-ext[openai]==0.7.5"]
# [tool.ledgeragent]
# wires = ["chat"]
# ///
"""AutoGen: `AssistantAgent`"""

from typing import Any

from _shop import KEY, POLICY, main, task
from autogen_agentchat.agents import AssistantAgent
from autogen_agentchat.messages import BaseChatMessage
from autogen_ext.models.openai import OpenAIChatCompletionClient


async def talk(turns: list[str]) -> Any:
    """The last message's text."""
    client = OpenAIChatCompletionClient(model=task.model, base_url=task.openai, api_key=KEY)
    agent = AssistantAgent(
        "clerk",
        model_client=client,
        tools=list(task.tools),
        system_message=POLICY,
        model_client_stream=task.stream,
        max_tool_iterations=8,
    )
    said: Any = None
    for text in turns:
        if task.stream:
            messages = [m async for m in agent.run_stream(task=text)]
            said = [m for m in messages if isinstance(m, BaseChatMessage)][-1]
        else:
            said = (await agent.run(task=text)).messages[-1]
    return said.to_text()


main(talk)
