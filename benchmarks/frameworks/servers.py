"""Real servers behind the proxy: `python -m benchmarks.frameworks.servers`.

Each is asked directly and through the proxy, over standard input and output: what it lists, and what one
of its tools answers, should be the same but for the ledger that the proxy adds.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp import Client, StdioServerParameters

from benchmarks.frameworks.environments import Script, environment_of, python_of
from benchmarks.frameworks.proxied import ROOT

RESULTS = ROOT / "benchmarks" / "results" / "mcp_servers.json"
_PATIENCE = 120.0


@dataclass(frozen=True, slots=True)
class RealServer:
    """A server: its package, the arguments it is started with, and one call."""

    package: str
    arguments: tuple[str, ...]
    tool: str
    call: dict[str, Any]
    npm: bool = True

    def command(self, folder: str) -> list[str]:
        """How it is started; `{folder}` in its arguments is a folder of its own."""
        needs = ((), (self.package,)) if self.npm else ((self.package,), ())
        script = Script(Path(self.package.replace("/", "-")), *needs, reconnects=False, about="")
        place = environment_of(script)
        arguments = [argument.format(folder=folder) for argument in self.arguments]
        if self.npm:
            program = self.package.replace("@modelcontextprotocol/", "mcp-")
            return [str(place / "node_modules" / ".bin" / program), *arguments]
        return [str(python_of(place)), "-m", self.package.replace("-", "_"), *arguments]


SERVERS = (
    RealServer("@modelcontextprotocol/server-everything", (), "get-sum", {"a": 19, "b": 23}),
    RealServer("@modelcontextprotocol/server-memory", (), "read_graph", {}),
    RealServer(
        "@modelcontextprotocol/server-filesystem",
        ("{folder}",),
        "list_allowed_directories",
        {},
    ),
    RealServer(
        "mcp-server-time",
        (),
        "convert_time",
        {"source_timezone": "UTC", "target_timezone": "Asia/Tokyo", "time": "12:30"},
        npm=False,
    ),
    RealServer("mcp-server-git", (), "git_status", {"repo_path": "{folder}"}, npm=False),
)


async def asked(command: list[str], server: RealServer, folder: str) -> dict[str, Any]:
    """What a server lists, and what its tool answers."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")])}
    start = StdioServerParameters(command=command[0], args=command[1:], env=environment)
    call = json.loads(json.dumps(server.call).replace("{folder}", folder))
    async with asyncio.timeout(_PATIENCE), Client(start, mode="legacy") as client:
        tools = await client.list_tools()
        answer = await client.call_tool(server.tool, call)
        capabilities = client.server_capabilities.model_dump(exclude_none=True)
    return {
        "tools": {tool.name: tool.model_dump(mode="json") for tool in tools.tools},
        "answer": answer.model_dump(mode="json", exclude={"meta"}),
        "capabilities": sorted(capabilities),
    }


def compared(server: RealServer) -> str:
    """`the same`, or what differs."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", folder], check=True)
        command = server.command(folder)
        proxy = [sys.executable, "-m", "ledgeragent", "mcp", "--domain", "shop", "--allow-unknown"]
        direct = asyncio.run(asked(command, server, folder))
        proxied = asyncio.run(asked([*proxy, "--", *command], server, folder))
    if proxied["tools"].pop("show_ledger", None) is None:
        return "the proxy adds no show_ledger"
    different = [name for name in ("tools", "answer") if direct[name] != proxied[name]]
    return f"differs: {', '.join(different)}" if different else "the same"


def main() -> None:
    """Compares every server, and writes the results."""
    results: dict[str, str] = {}
    for server in SERVERS:
        try:
            results[server.package] = compared(server)
        except (RuntimeError, subprocess.TimeoutExpired, TimeoutError) as problem:
            results[server.package] = f"not tried: {problem}"
        print(server.package, results[server.package], flush=True)
    RESULTS.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
