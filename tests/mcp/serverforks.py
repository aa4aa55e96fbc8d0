"""Servers as forks of a process that has imported the protocol's library: to import it takes seconds.

A fork is a process of its own, with the streams, folder and variables of the stub that a proxy starts.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[2]
STUB = Path(__file__).with_name("serverstub.py")
IMPORTED = ("mcp.server.lowlevel", "mcp.server.stdio", "mcp_types", "ledgeragent.demo.shop.shop")
MOST = 1 << 17


def forked(module: str, *words: str) -> list[str]:
    """The command of a server that is a module of ours."""
    if sys.platform != "linux":
        return [sys.executable, "-m", module, *words]
    return [sys.executable, "-I", "-S", str(STUB), _place(), module, *words]


@cache
def _place() -> str:
    """Where this process's servers are forked, from when they are."""
    folder = tempfile.mkdtemp()
    place = f"{folder}/servers"
    path = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.mcp.serverforks", place],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None and process.stdout.readline(), "it does not listen"

    def end() -> None:
        process.communicate()
        shutil.rmtree(folder)

    atexit.register(end)
    return place


def serve(place: str) -> str | None:
    """Forks for each stub until standard input ends; the module to run where this is a fork."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(place)
        listener.listen(64)
        print("listening", flush=True)
        while True:
            if 0 in select.select([listener, 0], [], [])[0]:
                return None
            line, _ = listener.accept()
            if not os.fork():
                break
            line.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    request, ends, _, _ = socket.recv_fds(line, MOST, 3)
    for stream, end in enumerate(ends):
        os.dup2(end, stream)
        os.close(end)
    words, folder, environment = json.loads(request)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = words[1:]
    line.send(str(os.getpid()).encode())
    line.detach()  # it closes when this process ends, which the stub waits for
    return str(words[0])


if __name__ == "__main__":
    for name in IMPORTED:
        import_module(name)
    # Each fork would walk, and so copy, what was imported here, at the latest when it ends.
    gc.collect()
    gc.freeze()
    if (module := serve(sys.argv[1])) is not None:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
