# /// script
# dependencies = ["strands-agents"]
# ///
"""The MCP client of Strands Agents."""

from typing import Any

from _play import Answer, Call, answer, content_text, main
from mcp import StdioServerParameters, stdio_client
from strands.tools.mcp import MCPClient

try:
    from mcp.client.streamable_http import streamable_http_client as streamable_http
except ImportError:  # mcp before 1.24
    from mcp.client.streamable_http import streamablehttp_client as streamable_http


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """All calls over one connection."""

    def connect() -> Any:
        if "url" in target:
            return streamable_http(target["url"])
        command, *rest = target["command"]
        return stdio_client(StdioServerParameters(command=command, args=rest, env=target["env"]))

    answers = []
    with MCPClient(connect, startup_timeout=60) as client:
        client.list_tools_sync()
        for number, (name, arguments) in enumerate(calls):
            result: Any = client.call_tool_sync(f"c{number}", name, arguments)
            answers.append(answer(content_text(result["content"]), result["status"] == "error"))
    return answers


main(play)
