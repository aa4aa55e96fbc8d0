# /// script
# dependencies = ["mcp<2"]
# ///
"""The client session of mcp 1.x."""

from contextlib import asynccontextmanager
from typing import Any

from _play import Answer, Call, answer, content_text, main
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


@asynccontextmanager
async def connected(target: Any) -> Any:
    """The streams to the proxy."""
    if "url" in target:
        async with streamablehttp_client(target["url"], target["headers"]) as (read, write, _):
            yield read, write
    else:
        command, *rest = target["command"]
        start = StdioServerParameters(command=command, args=rest, env=target["env"])
        async with stdio_client(start) as streams:
            yield streams


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """All calls over one connection."""
    answers = []
    async with connected(target) as streams, ClientSession(*streams) as session:
        await session.initialize()
        await session.list_tools()
        for name, arguments in calls:
            result = await session.call_tool(name, arguments)
            answers.append(answer(content_text(result.content), result.isError))
    return answers


main(play)
