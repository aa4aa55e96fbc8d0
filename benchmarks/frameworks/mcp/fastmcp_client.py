# /// script
# dependencies = ["fastmcp"]
# ///
"""The client of fastmcp."""

from typing import Any

from _play import Answer, Call, answer, content_text, main
from fastmcp import Client
from fastmcp.client.transports import StdioTransport, StreamableHttpTransport


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """All calls over one connection."""
    if "url" in target:
        place: Any = StreamableHttpTransport(target["url"], headers=target["headers"])
    else:
        command, *rest = target["command"]
        place = StdioTransport(command, rest, env=target["env"])
    answers = []
    async with Client(place) as client:
        await client.list_tools()
        for name, arguments in calls:
            result = await client.call_tool(name, arguments, raise_on_error=False)
            answers.append(answer(content_text(result.content), result.is_error))
    return answers


main(play)
