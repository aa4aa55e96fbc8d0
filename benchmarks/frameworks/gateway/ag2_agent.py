# /// script
# dependencies = ["ag2[openai]==1.2.1"]
# [tool.ledgeragent]
# wires = ["chat"]
# ///
"""AG2: `Agent`"""

from typing import Any

from _shop import KEY, POLICY, main, task
from ag2 import Agent, tool
from ag2.config import OpenAIConfig


async def talk(turns: list[str]) -> Any:
    """The body of the last reply."""
    config = OpenAIConfig(
        model=task.model, base_url=task.openai, api_key=KEY, streaming=task.stream
    )
    tools = [tool(function) for function in task.tools]
    asked: Any = Agent("clerk", prompt=POLICY, config=config, tools=tools)
    for text in turns:
        asked = await asked.ask(text)
    return asked.body


main(talk)
