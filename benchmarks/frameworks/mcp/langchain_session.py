# /// script
# dependencies = ["langchain-mcp-adapters"]
# ///
"""`client.session()` of langchain-mcp-adapters: one connection for all calls."""

from typing import Any

from _play import Answer, Call, answer, content_text, main
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """Each call by its tool."""
    if "url" in target:
        place: Any = {
            "transport": "streamable_http", "url": target["url"], "headers": target["headers"]
        }  # fmt: skip
    else:
        command, *rest = target["command"]
        place = {"transport": "stdio", "command": command, "args": rest, "env": target["env"]}
    answers = []
    async with MultiServerMCPClient({"shop": place}).session("shop") as session:
        tools = {t.name: t for t in await load_mcp_tools(session)}
        for name, arguments in calls:
            try:
                result = await tools[name].ainvoke(arguments)
                answers.append(answer(content_text(result)))
            except Exception as problem:  # its refusals are raised, for the agent to see
                answers.append(answer(str(problem), error=True))
    return answers


main(play)
