# /// script
# dependencies = ["openai-agents==0.24.*"]
# [tool.ledgeragent]
# wires = ["responses", "chat"]
# control = true
# ///
"""OpenAI Agents SDK: `Runner` with a session"""

from typing import Any

from _shop import KEY, POLICY, main, task
from agents import (
    Agent,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    Runner,
    SQLiteSession,
    function_tool,
)
from openai import AsyncOpenAI


async def talk(turns: list[str]) -> Any:
    """The final output of the last run."""
    client = AsyncOpenAI(base_url=task.openai, api_key=KEY)
    model = OpenAIResponsesModel if task.wire == "responses" else OpenAIChatCompletionsModel
    chat_model = model(task.model, openai_client=client)
    colleague = Agent(name="colleague", instructions=POLICY, model=chat_model)
    agent = Agent(
        name="clerk",
        instructions=POLICY,
        model=chat_model,
        tools=[function_tool(tool) for tool in task.tools],
        handoffs=[colleague] if task.control else [],
    )
    session = SQLiteSession("case")
    result: Any = None
    for text in turns:
        if task.stream:
            result = Runner.run_streamed(agent, text, session=session)
            async for _ in result.stream_events():
                pass
        else:
            result = await Runner.run(agent, text, session=session)
    if task.control and result.last_agent is colleague:
        return f"by its own tool: {result.last_agent.name}"
    return result.final_output


main(talk)
