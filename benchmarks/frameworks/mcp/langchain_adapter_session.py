# /// script
# dependencies = ["langchain[mcp]>=1.5.2"]
# ///
"""`langchain.mcp.MCPAdapter` in an `async with`: one connection for all calls."""

import warnings
from typing import Any

from _play import Answer, Call, answer, content_text, main

warnings.simplefilter("ignore")
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport  # noqa: E402
from langchain.mcp import MCPAdapter  # noqa: E402


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """Each call by its tool."""
    if "url" in target:
        place: Any = StreamableHttpTransport(target["url"], headers=target["headers"])
    else:
        command, *rest = target["command"]
        place = StdioTransport(command, rest, env=target["env"])
    answers = []
    async with MCPAdapter(place) as adapter:
        tools = {tool.name: tool for tool in await adapter.list_tools()}
        for number, (name, arguments) in enumerate(calls):
            call = {"type": "tool_call", "id": f"c{number}", "name": name, "args": arguments}
            message = await tools[name].ainvoke(call)
            answers.append(answer(content_text(message.content), message.status == "error"))
    return answers


main(play)
