# /// script
# dependencies = []
# [tool.ledgeragent]
# npm = ["@modelcontextprotocol/inspector"]
# reconnects = true
# ///
"""The command line of the MCP inspector: one process, and so one connection, for each call."""

import json
import subprocess
import tempfile
from typing import Any

from _play import Answer, Call, answer, content_text, main

PROGRAM = "node_modules/.bin/mcp-inspector"


def called(target: Any, name: str, arguments: dict[str, Any]) -> Any:
    """The result of one call."""
    if "url" in target:
        place = [target["url"], "--transport", "http"]
        for header, value in target["headers"].items():
            place += ["--header", f"{header}: {value}"]
    else:
        place = ["--config", config_of(target), "--server", "shop"]
    options = ["--method", "tools/call", "--tool-name", name]
    for key, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value)
        options += ["--tool-arg", f"{key}={text}"]
    run = [PROGRAM, "--cli", *place, *options]
    output = subprocess.run(run, capture_output=True, text=True, check=False)
    start = output.stdout.find("{")
    if start < 0:
        raise RuntimeError(f"{output.stdout} {output.stderr}".strip())
    return json.JSONDecoder().raw_decode(output.stdout[start:])[0]


def config_of(target: Any) -> str:
    """A file that says how the proxy is started."""
    command, *rest = target["command"]
    server = {"command": command, "args": rest, "env": target["env"]}
    with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
        json.dump({"mcpServers": {"shop": server}}, file)
    return file.name


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """Each call by a process of its own."""
    results = [called(target, name, arguments) for name, arguments in calls]
    return [answer(content_text(r["content"]), r.get("isError", False)) for r in results]


main(play)
