# /// script
# dependencies = ["claude-agent-sdk==0.2.189"]
# [tool.ledgeragent]
# wires = ["messages"]
# streams = [true]
# dicts = [false]
# ///
"""Claude Agent SDK: `ClaudeSDKClient` with tools of its own"""

import json
from collections.abc import Callable
from typing import Any

from _shop import POLICY, main, schema, task
from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    create_sdk_mcp_server,
    tool,
)


def served(function: Callable[..., Any]) -> Any:
    """A tool of the shop as one of a server inside this program."""

    async def answer(arguments: dict[str, Any]) -> dict[str, Any]:
        result = function(**arguments)
        text = result if isinstance(result, str) else json.dumps(result)
        return {"content": [{"type": "text", "text": text}]}

    about = function.__doc__ or ""
    return tool(function.__name__, about, schema(function))(answer)


async def talk(turns: list[str]) -> Any:
    """The last result. The program behind the SDK always streams."""
    options = ClaudeAgentOptions(
        system_prompt=POLICY,
        mcp_servers={"shop": create_sdk_mcp_server("shop", tools=list(map(served, task.tools)))},
        allowed_tools=[f"mcp__shop__{function.__name__}" for function in task.tools],
        include_partial_messages=task.stream,
    )
    said: Any = None
    async with ClaudeSDKClient(options) as client:
        for text in turns:
            await client.query(text)
            async for message in client.receive_response():
                if isinstance(message, ResultMessage):
                    said = message.result
    return said


main(talk)
