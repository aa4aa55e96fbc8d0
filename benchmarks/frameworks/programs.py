"""A framework's script as a running program: it is told a cell, and says how that ended."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.frameworks.environments import Script, python_of

_PATIENCE = 120.0
_SILENT = {
    "OTEL_SDK_DISABLED": "true",
    "OPENAI_AGENTS_DISABLE_TRACING": "1",
    "CREWAI_DISABLE_TELEMETRY": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "AGNO_TELEMETRY": "false",
    "MASTRA_TELEMETRY_DISABLED": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}


@dataclass
class AgentProgram:
    """The program, started when it is first told something, and anew after it hung or died."""

    script: Script
    environment: Path
    gateway: str
    log: Path
    process: asyncio.subprocess.Process | None = field(default=None, init=False)

    async def play(self, cell: Mapping[str, Any]) -> tuple[str, str]:
        """What the agent said last, and what went wrong, if anything did."""
        if self.process is None:
            self.process = await self._start()
        try:
            return await asyncio.wait_for(self._told(self.process, cell), _PATIENCE)
        except TimeoutError:
            await self.stop()
            return "", "it does not end"

    async def _start(self) -> asyncio.subprocess.Process:
        program = [str(python_of(self.environment)), str(self.script.file)]
        if self.script.file.suffix == ".mjs":
            own = self.environment / "node_modules" / "node" / "bin" / "node"
            program = [
                str(own) if own.exists() else "node",
                str(self.script.installed(self.environment)),
            ]
        addresses = {
            "OPENAI_BASE_URL": f"{self.gateway}/v1",
            "OPENAI_API_KEY": "sk-nobody",
            "ANTHROPIC_BASE_URL": self.gateway,
            "ANTHROPIC_API_KEY": "sk-nobody",
            "CLAUDE_CONFIG_DIR": str(self.environment / "config"),
        }
        with self.log.open("ab") as log:
            return await asyncio.create_subprocess_exec(
                *program,
                cwd=self.environment,
                env={**_surroundings(), **_SILENT, **addresses},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    async def _told(
        self, process: asyncio.subprocess.Process, cell: Mapping[str, Any]
    ) -> tuple[str, str]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(cell).encode() + b"\n")
        async for raw in process.stdout:
            kind, _, rest = raw.decode(errors="replace").partition(" ")
            if kind == "SAID":
                return str(json.loads(rest)), ""
            if kind == "FAILED":
                return "", str(json.loads(rest))[:300]
        await self.stop()
        last = (self.log.read_text(errors="replace").strip().splitlines() or ["silently"])[-1]
        return "", f"its program ended: {last[:300]}"

    async def stop(self) -> None:
        """Ends the program."""
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()
        self.process = None


def _surroundings() -> dict[str, str]:
    """The environment without what would lead an agent elsewhere than to the gateway."""
    prefixes = ("OPENAI_", "ANTHROPIC_", "CLAUDE", "AZURE_", "GOOGLE_", "GEMINI_")
    return {name: value for name, value in os.environ.items() if not name.startswith(prefixes)}
