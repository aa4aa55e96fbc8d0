"""The proxy in front of the shop, as a client is told of it: a command to start, or an address."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SESSION = "case-1"
_PATIENCE = 120.0


def _command(folder: Path, *options: str) -> list[str]:
    server = [sys.executable, "-m", "tests.conformance.shop_server", str(folder / "executed")]
    proxy = [sys.executable, "-m", "ledgeragent", "mcp", "--domain", "shop", *options]
    return [*proxy, "--", *server]


def _environment() -> dict[str, str]:
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    return {**os.environ, "PYTHONPATH": paths}


@contextmanager
def over_stdio(folder: Path, *, reconnects: bool) -> Iterator[dict[str, Any]]:
    """The command. Where each call starts it anew, its session is kept on disk."""
    options: tuple[str, ...] = ()
    if reconnects:
        store = str(folder / "sessions.db")
        options = ("--session-per", f"name:{SESSION}", "--session-store", store)
    yield {"command": _command(folder, *options), "env": _environment()}


@contextmanager
def over_http(folder: Path, *, reconnects: bool) -> Iterator[dict[str, Any]]:
    """The address, and the header that names the session where each call connects anew."""
    options = ("--session-per", "header:X-Conversation") if reconnects else ()
    port = _free_port()
    command = _command(folder, *options, "--transport", "http", "--port", str(port))
    process = subprocess.Popen(command, cwd=ROOT, env=_environment(), stderr=subprocess.DEVNULL)
    try:
        _await(port, process)
        headers = {"X-Conversation": SESSION} if reconnects else {}
        yield {"url": f"http://127.0.0.1:{port}/mcp", "headers": headers}
    finally:
        process.terminate()
        process.wait(_PATIENCE)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def _await(port: int, process: subprocess.Popen[bytes]) -> None:
    ends = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < ends:
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("the proxy does not listen")
