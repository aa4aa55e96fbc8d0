"""The shop as an MCP server that uses all of the protocol: prompts, resources, progress, sampling..."""

from __future__ import annotations

import sys
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from ledgeragent.demo.shop.shop import Shop, tool_schemas
from ledgeragent.types import ToolCall


def build() -> Server[Any]:
    """The server, with one shop for all its connections."""
    shop = Shop()

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        names = [schema["function"] for schema in tool_schemas()]
        tools = [
            types.Tool(
                name=f["name"],
                input_schema=f["parameters"],
                annotations=types.ToolAnnotations(read_only_hint=f["name"].startswith("get")),
                _meta={"shop/aisle": "7"},
            )
            for f in names
        ]
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        session = context.session
        if params.name == "hand_over":
            return await _hand_over(session, params)
        answer = shop.execute(ToolCall(name=params.name, arguments=params.arguments or {}))
        block = types.TextContent(type="text", text=str(answer.content))
        return types.CallToolResult(content=[block], is_error=answer.error)

    async def _hand_over(session: Any, params: Any) -> types.CallToolResult:
        await session.report_progress(1, 3, "looking for a colleague")
        await session.send_log_message(level="warning", data="nobody is free", logger="shop")
        if params.arguments["summary"] == "wait":
            await anyio.sleep(60)
        message = types.SamplingMessage(
            role="user", content=types.TextContent(type="text", text="Who?")
        )
        sampled = await session.create_message([message], max_tokens=5)
        return types.CallToolResult(content=[sampled.content])

    async def list_prompts(context: Any, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[types.Prompt(name="greet")])

    async def get_prompt(context: Any, params: Any) -> types.GetPromptResult:
        text = types.TextContent(type="text", text=f"Greet {params.arguments['who']}.")
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])

    async def list_resources(context: Any, params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(
            resources=[types.Resource(uri="shop://hours", name="hours")]
        )

    async def read_resource(context: Any, params: Any) -> types.ReadResourceResult:
        block = types.TextResourceContents(uri=params.uri, text="nine to five")
        return types.ReadResourceResult(contents=[block])

    async def complete(context: Any, params: Any) -> types.CompleteResult:
        return types.CompleteResult(
            completion=types.Completion(values=[f"{params.argument.value}a"])
        )

    async def set_level(context: Any, params: Any) -> types.EmptyResult:
        return types.EmptyResult()

    return Server(
        "full",
        instructions="Be kind.",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
        on_completion=complete,
        on_set_logging_level=set_level,
    )


async def over_stdio() -> None:
    """Serves one client at standard input and output."""
    server = build()
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def over_http(port: int) -> None:
    """Serves by streamable HTTP."""
    import uvicorn

    uvicorn.run(build().streamable_http_app(), host="127.0.0.1", port=port, log_level="error")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        over_http(int(sys.argv[1]))
    else:
        anyio.run(over_stdio)
