# /// script
# dependencies = ["langchain[mcp]>=1.5.2"]
# [tool.ledgeragent]
# reconnects = true
# ///
"""`langchain.mcp.MCPAdapter` without `async with`, which connects anew for every call."""

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
        place = StdioTransport(command, rest, env=target["env"], keep_alive=False)
    tools = {tool.name: tool for tool in await MCPAdapter(place).list_tools()}
    answers = []
    for number, (name, arguments) in enumerate(calls):
        call = {"type": "tool_call", "id": f"c{number}", "name": name, "args": arguments}
        message = await tools[name].ainvoke(call)
        answers.append(answer(content_text(message.content), message.status == "error"))
    return answers


main(play)
