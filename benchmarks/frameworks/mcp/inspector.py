# /// script
# dependencies = []
# [tool.ledgeragent]
# npm = ["@modelcontextprotocol/inspector@2", "node@22"]
# reconnects = true
# ///
"""The command line of the MCP inspector: one process, and so one connection, for each call."""

import json
import os
import shlex
import subprocess
import tempfile
from typing import Any

from _play import Answer, Call, answer, content_text, main

NODE = "node_modules/node/bin/node"
PROGRAM = "node_modules/.bin/mcp-inspector"


def called(target: Any, name: str, arguments: dict[str, Any]) -> Any:
    """The result of one call."""
    options = ["--method", "tools/call", "--tool-name", name]
    for key, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value)
        options += ["--tool-arg", f"{key}={text}"]
    if "url" in target:
        options += ["--transport", "http"]
        for header, value in target["headers"].items():
            options += ["--header", f"{header}: {value}"]
    place = target.get("url") or program_of(target)
    run = [NODE, PROGRAM, "--cli", place, *options]
    output = subprocess.run(run, capture_output=True, text=True, check=False)
    start = output.stdout.find("{")
    if start < 0:
        raise RuntimeError(f"{output.stdout} {output.stderr}".strip())
    return json.JSONDecoder().raw_decode(output.stdout[start:])[0]


def program_of(target: Any) -> str:
    """A program that starts the proxy: the inspector takes options of a command for its own."""
    lines = [f"export PYTHONPATH={shlex.quote(target['env']['PYTHONPATH'])}"]
    lines.append(f"exec {shlex.join(target['command'])}")
    with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as file:
        file.write("\n".join(["#!/bin/sh", *lines, ""]))
    os.chmod(file.name, 0o700)
    return file.name


async def play(target: Any, calls: list[Call]) -> list[Answer]:
    """Each call by a process of its own."""
    results = [called(target, name, arguments) for name, arguments in calls]
    return [answer(content_text(r["content"]), r.get("isError", False)) for r in results]


main(play)
