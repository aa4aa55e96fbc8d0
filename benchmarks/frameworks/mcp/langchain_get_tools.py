# /// script
# dependencies = ["langchain-mcp-adapters"]
# [tool.ledgeragent]
# reconnects = true
# ///
"""`get_tools()` of langchain-mcp-adapters, whose tools connect anew for every call."""

from typing import Any

from _play import Answer, Call, answer, content_text, main
from langchain_mcp_adapters.client import MultiServerMCPClient


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """Each call by its tool."""
    if "url" in target:
        place: Any = {
            "transport": "streamable_http", "url": target["url"], "headers": target["headers"]
        }  # fmt: skip
    else:
        command, *rest = target["command"]
        place = {"transport": "stdio", "command": command, "args": rest, "env": target["env"]}
    tools = {t.name: t for t in await MultiServerMCPClient({"shop": place}).get_tools()}
    answers = []
    for name, arguments in calls:
        try:
            answers.append(answer(content_text(await tools[name].ainvoke(arguments))))
        except Exception as problem:  # its refusals are raised, for the agent to see
            answers.append(answer(str(problem), error=True))
    return answers


main(play)
