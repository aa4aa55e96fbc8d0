# /// script
# dependencies = ["pydantic-ai-slim[mcp]"]
# ///
"""The MCP toolset of Pydantic AI."""

from typing import Any

from _play import Answer, Call, answer, content_text, main
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport
from pydantic_ai.mcp import MCPToolset


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """All calls over one connection."""
    if "url" in target:
        place: Any = StreamableHttpTransport(target["url"], headers=target["headers"])
    else:
        command, *rest = target["command"]
        place = StdioTransport(command, rest, env=target["env"])
    toolset: Any = MCPToolset(place, init_timeout=60)
    answers = []
    async with toolset:
        for name, arguments in calls:
            try:
                result = await toolset.direct_call_tool(name, arguments)
                answers.append(answer(result, error=False))
            except Exception as problem:  # its refusals are raised, for the agent to retry
                answers.append(answer(content_text(str(problem)), error=True))
    return answers


main(play)
