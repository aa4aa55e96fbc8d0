"""The garden shop as an MCP server at standard input and output."""

from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool

from ledgeragent import ToolCall
from ledgeragent.demo.shop.shop import Shop, tool_schemas

shop = Shop()


async def list_tools(context: Any, params: Any) -> ListToolsResult:
    """The shop's tools."""
    functions = [schema["function"] for schema in tool_schemas()]
    return ListToolsResult(
        tools=[Tool(name=f["name"], input_schema=f["parameters"]) for f in functions]
    )


async def call_tool(context: Any, params: Any) -> CallToolResult:
    """What a tool answers."""
    answer = shop.execute(ToolCall(name=params.name, arguments=params.arguments or {}))
    block = TextContent(type="text", text=str(answer.content))
    return CallToolResult(content=[block], is_error=answer.error)


async def main() -> None:
    """Serves one client."""
    server = Server("shop", on_list_tools=list_tools, on_call_tool=call_tool)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
