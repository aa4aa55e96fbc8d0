# /// script
# dependencies = ["mcp>=2.3"]
# [tool.ledgeragent]
# reconnects = true
# ///
"""The client of mcp 2.3 with mode="2026-07-28"."""

from contextlib import AsyncExitStack
from typing import Any

import httpx2
from _play import Answer, Call, answer, content_text, main
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """All calls over one connection, where the mode has one."""
    answers = []
    async with AsyncExitStack() as stack:
        if "url" in target:
            http = httpx2.AsyncClient(headers=target["headers"], timeout=60)
            await stack.enter_async_context(http)
            place: Any = streamable_http_client(target["url"], http_client=http)
        else:
            command, *rest = target["command"]
            place = StdioServerParameters(command=command, args=rest, env=target["env"])
        client = await stack.enter_async_context(Client(place, mode="2026-07-28"))
        await client.list_tools()
        for name, arguments in calls:
            result = await client.call_tool(name, arguments)
            answers.append(answer(content_text(result.content), result.is_error))
    return answers


main(play)
