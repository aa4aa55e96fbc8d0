# /// script
# dependencies = ["agno==3.1.10", "openai", "anthropic"]
# [tool.ledgeragent]
# wires = ["chat", "responses", "messages"]
# ///
"""Agno: `Agent`"""

from typing import Any

from _shop import KEY, POLICY, main, task
from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.anthropic import Claude
from agno.models.openai import OpenAIChat, OpenAIResponses


def chat_model() -> Any:
    """The model in the format that is asked for."""
    if task.wire == "messages":
        return Claude(id=task.model, api_key=KEY, client_params={"base_url": task.gateway})
    model = OpenAIResponses if task.wire == "responses" else OpenAIChat
    return model(id=task.model, base_url=task.openai, api_key=KEY)


async def talk(turns: list[str]) -> Any:
    """The content of the last answer."""
    agent = Agent(
        model=chat_model(),
        tools=list(task.tools),
        instructions=POLICY,
        db=InMemoryDb(),
        add_history_to_context=True,
        session_id="case",
    )
    said: Any = None
    for text in turns:
        if task.stream:
            said = ""
            async for event in agent.arun(text, stream=True):
                said += str(getattr(event, "content", None) or "")
        else:
            said = (await agent.arun(text)).content
    return said


main(talk)
