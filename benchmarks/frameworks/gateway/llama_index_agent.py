# /// script
# dependencies = ["llama-index-core==0.14.25", "llama-index-llms-openai"]
# [tool.ledgeragent]
# wires = ["chat"]
# ///
"""LlamaIndex: `FunctionAgent`"""

from typing import Any

from _shop import KEY, POLICY, main, task
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai import OpenAI


async def talk(turns: list[str]) -> Any:
    """The last answer."""
    agent = FunctionAgent(
        llm=OpenAI(model=task.model, api_base=task.openai, api_key=KEY),
        tools=[FunctionTool.from_defaults(tool) for tool in task.tools],
        system_prompt=POLICY,
        streaming=task.stream,
    )
    memory = ChatMemoryBuffer.from_defaults()
    said: Any = None
    for text in turns:
        said = await agent.run(text, memory=memory)
    return said


main(talk)
