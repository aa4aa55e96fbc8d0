# /// script
# dependencies = ["haystack-ai==3.4.1"]
# [tool.ledgeragent]
# wires = ["chat"]
# ///
"""Haystack: `Agent`"""

from typing import Any

from _shop import KEY, POLICY, main, task
from haystack.components.agents import Agent
from haystack.components.generators.chat import OpenAIChatGenerator
from haystack.dataclasses import ChatMessage
from haystack.tools import create_tool_from_function
from haystack.utils import Secret


async def talk(turns: list[str]) -> Any:
    """The last message's text."""
    model = OpenAIChatGenerator(
        model=task.model,
        api_key=Secret.from_token(KEY),
        api_base_url=task.openai,
        streaming_callback=(lambda chunk: None) if task.stream else None,
    )
    tools = [create_tool_from_function(function) for function in task.tools]
    agent = Agent(chat_generator=model, tools=tools)
    messages = [ChatMessage.from_system(POLICY)]
    for text in turns:
        asked = [*messages, ChatMessage.from_user(text)]
        messages = agent.run(messages=asked)["messages"]
    return messages[-1].text


main(talk)
