"""Tries frameworks at the gateway, or clients at the proxy: `python -m benchmarks.frameworks [--mcp]`.

Each client is installed in an environment of its own (once), and plays the scenes over both transports.
The results go to `benchmarks/results/mcp_clients.json`, those of clients that were not named stay.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from benchmarks.frameworks import agents
from benchmarks.frameworks.environments import (
    InstallationError,
    Script,
    environment_of,
    python_of,
    versions_in,
)
from benchmarks.frameworks.proxied import over_http, over_stdio
from benchmarks.frameworks.scene import SCENES, Scene

HERE = Path(__file__).parent
RESULTS = HERE.parent / "results" / "mcp_clients.json"
TRANSPORTS: dict[str, Callable[..., AbstractContextManager[dict[str, Any]]]] = {
    "stdio": over_stdio,
    "http": over_http,
}
_PATIENCE = 300.0


def scripts(names: list[str]) -> list[Script]:
    """The clients of these names; all, if there are none."""
    files = sorted(file for file in (HERE / "mcp").glob("*.py") if file.name[0] != "_")
    return [Script.read(file) for file in files if not names or file.stem in names]


def tried(script: Script) -> dict[str, Any]:
    """What came of one client: its versions, and a verdict for each transport and scene."""
    row: dict[str, Any] = {"about": script.about, "reconnects": script.reconnects}
    try:
        environment = environment_of(script)
    except (InstallationError, subprocess.TimeoutExpired) as problem:
        return {**row, "not_installed": str(problem)}
    row["versions"] = versions_in(environment, script)
    for transport in TRANSPORTS:
        row[transport] = {s.name: played(script, environment, transport, s) for s in SCENES}
    return row


def played(script: Script, environment: Path, transport: str, scene: Scene) -> str:
    """The verdict on one scene."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with TRANSPORTS[transport](folder, reconnects=script.reconnects) as target:
            what = json.dumps([target, scene.calls])
            command = [str(python_of(environment)), str(script.file), what]
            try:
                done = subprocess.run(
                    command, cwd=environment, capture_output=True, text=True, timeout=_PATIENCE
                )
            except subprocess.TimeoutExpired:
                return "it does not end"
        line = next((x for x in done.stdout.splitlines() if x.startswith("ANSWERS ")), None)
        if line is None:
            return f"it failed: {(done.stderr.strip().splitlines() or ['silently'])[-1][:200]}"
        log = folder / "executed"
        executed = log.read_text().splitlines() if log.exists() else []
        return scene.verdict(json.loads(line.removeprefix("ANSWERS ")), executed)


def main() -> None:
    """Plays, prints a line for each client, and writes the results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.frameworks", description=__doc__)
    parser.add_argument("--mcp", action="store_true", help="clients of the MCP proxy")
    parser.add_argument("names", nargs="*", help="only these, by the names of their scripts")
    arguments = parser.parse_args()
    if not arguments.mcp:
        agents.play(arguments.names)
        return
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for script in scripts(arguments.names):
        results[script.file.stem] = row = tried(script)
        print(script.file.stem, json.dumps({k: row.get(k) for k in (*TRANSPORTS, "not_installed")}))
        RESULTS.write_text(json.dumps(dict(sorted(results.items())), indent=1) + "\n")


if __name__ == "__main__":
    main()
