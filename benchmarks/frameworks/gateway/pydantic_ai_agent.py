# /// script
# dependencies = ["pydantic-ai-slim[openai,anthropic]==2.68.*"]
# [tool.ledgeragent]
# wires = ["chat", "responses", "messages"]
# control = true
# ///
"""Pydantic AI: `Agent`"""

from typing import Any

from _shop import KEY, POLICY, main, task
from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider


def chat_model() -> Any:
    """The model in the format that is asked for."""
    if task.wire == "messages":
        return AnthropicModel(
            task.model, provider=AnthropicProvider(base_url=task.gateway, api_key=KEY)
        )
    model = OpenAIResponsesModel if task.wire == "responses" else OpenAIChatModel
    return model(task.model, provider=OpenAIProvider(base_url=task.openai, api_key=KEY))


class Outcome(BaseModel):
    """What was refunded."""

    amount: float


async def talk(turns: list[str]) -> Any:
    """The output of the last run."""
    form: Any = Outcome if task.control else str
    agent = Agent(chat_model(), system_prompt=POLICY, tools=list(task.tools), output_type=form)
    history: Any = []
    said: Any = None
    for text in turns:
        if task.stream:
            async with agent.run_stream(text, message_history=history) as run:
                said = await run.get_output()
                history = run.all_messages()
        else:
            result = await agent.run(text, message_history=history)
            said, history = result.output, result.all_messages()
    return f"by its own tool: {said}" if isinstance(said, Outcome) else said


main(talk)
