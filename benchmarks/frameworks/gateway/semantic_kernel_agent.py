# /// script
# dependencies = ["semantic-kernel==1.45.*"]
# [tool.ledgeragent]
# wires = ["chat"]
# ///
"""Semantic Kernel: `ChatCompletionAgent` with a plugin"""

from typing import Any

from _shop import KEY, POLICY, main, task
from openai import AsyncOpenAI
from semantic_kernel.agents import ChatCompletionAgent
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.functions import KernelPlugin, kernel_function


async def talk(turns: list[str]) -> Any:
    """The text of the last answer."""
    functions = [kernel_function(tool, name=tool.__name__) for tool in task.tools]
    service = OpenAIChatCompletion(
        ai_model_id=task.model, async_client=AsyncOpenAI(base_url=task.openai, api_key=KEY)
    )
    agent = ChatCompletionAgent(
        service=service,
        name="clerk",
        instructions=POLICY,
        plugins=[KernelPlugin(name="shop", functions=functions)],
    )
    thread: Any = None
    said = ""
    for text in turns:
        said = ""
        if task.stream:
            async for part in agent.invoke_stream(messages=text, thread=thread):
                said, thread = said + str(part.message), part.thread
        else:
            answer = await agent.get_response(messages=text, thread=thread)
            said, thread = str(answer.message), answer.thread
    return said


main(talk)
