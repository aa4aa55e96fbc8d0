"""A server of one process, as the benchmarks run it: the gateway, a bare forwarder, LiteLLM."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

KEY = f"sk-{secrets.token_hex(24)}"


class Server(NamedTuple):
    """A server of one process."""

    port: int
    pid: int

    def cpu_seconds(self) -> float:
        """The processor time that its threads have used, to the nanosecond: a round has few ticks."""
        threads = Path(f"/proc/{self.pid}/task").glob("*/schedstat")
        return sum(int(file.read_text().split()[0]) for file in threads) / 1e9


def free_port() -> int:
    """A port that was free a moment ago."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


@asynccontextmanager
async def started(port: int, command: list[str], **options: Any) -> AsyncIterator[Server]:
    """A server as a process of its own, once it takes connections."""
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, **options) as process:
        try:
            for _ in range(400):
                if process.poll() is not None:
                    raise SystemExit(f"{command[:4]} ended with {process.returncode}")
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                    writer.close()
                    break
                except OSError:
                    await asyncio.sleep(0.1)
            yield Server(port, process.pid)
        finally:
            process.kill()


def gateway_command(port: int, upstream: int) -> list[str]:
    """One gateway process with the retail pack."""
    address = f"http://127.0.0.1:{upstream}"
    options = ["--domain", "retail", "--upstream", address, "--port", str(port)]
    return [sys.executable, "-m", "ledgeragent", "gateway", *options]


def forwarder_command(port: int, upstream: int) -> list[str]:
    """A process that only hands on, made of the same library."""
    address = f"http://127.0.0.1:{upstream}"
    return [sys.executable, "-m", "benchmarks.forwarder", str(port), address]


@contextmanager
def litellm(venv: str, port: int, upstream: int) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """The command and options for one LiteLLM proxy process."""
    params = {
        "model": "openai/m",
        "api_base": f"http://127.0.0.1:{upstream}/v1",
        "api_key": "sk-x",
    }
    config = {"model_list": [{"model_name": "m", "litellm_params": params}]}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "config.yaml")
        file.write_text(json.dumps(config))
        options = ["--config", str(file), "--port", str(port), "--host", "127.0.0.1"]
        command = [str(Path(venv, "bin", "litellm")), *options, "--num_workers", "1"]
        known = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY}
        yield command, {"env": {**os.environ, **known}, "cwd": folder}
