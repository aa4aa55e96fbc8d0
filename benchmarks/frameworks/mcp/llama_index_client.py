# /// script
# dependencies = ["llama-index-tools-mcp"]
# [tool.ledgeragent]
# reconnects = true
# ///
"""`BasicMCPClient` of LlamaIndex, which connects anew for every call."""

from typing import Any

from _play import Answer, Call, answer, content_text, main
from llama_index.tools.mcp import BasicMCPClient


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """Each call over a connection of its own."""
    if "url" in target:
        client = BasicMCPClient(target["url"], headers=target["headers"])
    else:
        command, *rest = target["command"]
        client = BasicMCPClient(command, args=rest, env=target["env"])
    answers = []
    for name, arguments in calls:
        result: Any = await client.call_tool(name, arguments)
        failed = getattr(result, "is_error", getattr(result, "isError", None))
        answers.append(answer(content_text(result.content), failed))
    return answers


main(play)
