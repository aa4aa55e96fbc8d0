# /// script
# dependencies = ["google-adk", "mcp"]
# ///
"""The MCP toolset of Google ADK."""

from typing import Any

from _play import Answer, Call, answer, main
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
from google.adk.tools.mcp_tool.mcp_session_manager import StreamableHTTPConnectionParams
from mcp import StdioServerParameters


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """Each call by its tool."""
    if "url" in target:
        place: Any = StreamableHTTPConnectionParams(
            url=target["url"], headers=target["headers"], timeout=60
        )
    else:
        command, *rest = target["command"]
        start = StdioServerParameters(command=command, args=rest, env=target["env"])
        place = StdioConnectionParams(server_params=start, timeout=60)
    toolset = McpToolset(connection_params=place)
    tools = {tool.name: tool for tool in await toolset.get_tools()}
    answers = []
    for name, arguments in calls:
        context: Any = type("Context", (), {"state": {}, "function_call_id": "1"})()
        tool: Any = tools[name]
        result = await tool._run_async_impl(args=arguments, tool_context=context, credential=None)
        answers.append(answer(result))
    await toolset.close()
    return answers


main(play)
