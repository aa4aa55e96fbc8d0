"""The shop as an MCP server: each process, or each connection of `build`, has a shop of its own.

As a process it writes down each call that it executes, in the file that its argument names.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
    Tool,
    ToolAnnotations,
)

from ledgeragent.demo.shop.shop import Shop, tool_schemas
from ledgeragent.types import ToolCall

Execute = Callable[[ToolCall], Awaitable[str]]


def build(execute: Execute, prefix: str = "") -> Server[Any]:
    """A server whose tools are the shop's, with a prefix before their names."""

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        tools = [_tool(schema["function"], prefix) for schema in tool_schemas()]
        return ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
        text = await execute(ToolCall(name=params.name, arguments=params.arguments or {}))
        if text.startswith("Error"):
            return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
        try:
            value = json.loads(text)
        except ValueError:
            return CallToolResult(content=[TextContent(type="text", text=text)])
        structured = value if isinstance(value, dict) else {"result": value}
        return CallToolResult(
            content=[TextContent(type="text", text=text)], structured_content=structured
        )

    return Server("shop", on_list_tools=list_tools, on_call_tool=call_tool)


def _tool(function: Any, prefix: str) -> Tool:
    return Tool(
        name=prefix + function["name"],
        description=function["description"],
        input_schema=function["parameters"],
        annotations=ToolAnnotations(read_only_hint=function["name"].startswith(("get", "find"))),
    )


async def main(log: Path | None = None) -> None:
    """Serves one client at standard input and output."""
    shop = Shop()

    async def execute(call: ToolCall) -> str:
        if log is not None:
            with log.open("a") as file:
                file.write(f"{call}\n")
        return str(shop.execute(call).content)

    server = build(execute)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main, *map(Path, sys.argv[1:]))
