"""A server that tells its process id, and can sleep through a call."""

from __future__ import annotations

import os
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
    names = ("pid", "sleep")
    return types.ListToolsResult(
        tools=[types.Tool(name=name, input_schema={"type": "object"}) for name in names]
    )


async def call_tool(context: Any, params: Any) -> types.CallToolResult:
    if params.name == "sleep":
        await anyio.sleep(60)
    return types.CallToolResult(content=[types.TextContent(type="text", text=str(os.getpid()))])


async def main() -> None:
    """Serves one client."""
    server = Server("slow", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
