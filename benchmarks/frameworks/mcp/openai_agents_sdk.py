# /// script
# dependencies = ["openai-agents"]
# ///
"""The MCP servers of the OpenAI Agents SDK."""

from typing import Any

from _play import Answer, Call, answer, content_text, main
from agents.mcp import MCPServerStdio, MCPServerStreamableHttp


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """All calls over one connection."""
    if "url" in target:
        place: Any = {"url": target["url"], "headers": target["headers"]}
        server: Any = MCPServerStreamableHttp(place, client_session_timeout_seconds=60)
    else:
        command, *rest = target["command"]
        start: Any = {"command": command, "args": rest, "env": target["env"]}
        server = MCPServerStdio(start, client_session_timeout_seconds=60)
    answers = []
    async with server:
        await server.list_tools()
        for name, arguments in calls:
            result = await server.call_tool(name, arguments)
            failed = getattr(result, "is_error", getattr(result, "isError", None))
            answers.append(answer(content_text(result.content), failed))
    return answers


main(play)
