# /// script
# dependencies = ["langchain==1.5.2", "langchain-openai", "langchain-anthropic"]
# [tool.ledgeragent]
# wires = ["chat", "responses", "messages"]
# control = true
# options = ["--neutral", "Outcome"]
# ///
"""LangChain: `create_agent`"""

from typing import Any

from _shop import KEY, POLICY, main, task
from langchain.agents import create_agent
from langchain.agents.structured_output import ToolStrategy
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from pydantic import BaseModel


def chat_model() -> Any:
    """The model in the format that is asked for."""
    if task.wire == "messages":
        return ChatAnthropic(
            model=task.model, base_url=task.gateway, api_key=KEY, streaming=task.stream
        )
    responses = task.wire == "responses"
    return ChatOpenAI(
        model=task.model,
        base_url=task.openai,
        api_key=KEY,
        use_responses_api=responses,
        streaming=task.stream,
    )


class Outcome(BaseModel):
    """What was refunded."""

    amount: float


async def talk(turns: list[str]) -> Any:
    """The last message's text."""
    form: Any = ToolStrategy(Outcome) if task.control else None
    agent = create_agent(
        chat_model(), tools=list(task.tools), system_prompt=POLICY, response_format=form
    )
    state: Any = {"messages": []}
    for text in turns:
        asked = {"messages": [*state["messages"], {"role": "user", "content": text}]}
        if task.stream:
            async for mode, chunk in agent.astream(asked, stream_mode=["values", "messages"]):
                state = chunk if mode == "values" else state
        else:
            state = await agent.ainvoke(asked)
    if task.control and "structured_response" in state:
        return f"by its own tool: {state['structured_response']}"
    return state["messages"][-1].text


main(talk)
