"""The command as a fork of a process that has imported it: a process of its own, without the start.

To start Python and import the package takes longer than most commands do. What a start itself depends on
is left to a start: `fits` says whether a fork would see anything else.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ledgeragent.packs.catalogue import PACKS

ROOT = Path(__file__).parents[2]
OF_A_START = ("PYTHON", "LC_", "LANG", "TZ", "PATH", "COVERAGE", "COV_")
"""What the names of variables begin with that Python, or who starts it, reads but once."""
WHEN_NEEDED = (
    *PACKS.values(),
    "ledgeragent.compiler.loader",
    "yaml",
    "cel_expr_python.cel",
    *(f"cel_expr_python.ext.ext_{name}" for name in ("bindings", "math", "optional", "strings")),
)
"""What verbs import when they are given a pack: one that is shipped, or one in YAML."""
OF_THE_HARNESS = ("litellm", "fastapi", "pandas")
"""What the tau2 harness imports, seconds of it; the harness itself, which looks at variables, is left."""
MOST = 1 << 17
"""Bytes of a request; the kernel passes it on in one piece."""


def of_a_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(OF_A_START)}


class Forks:
    """The process that forks, and our end of the line to it."""

    def __init__(self) -> None:
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._started_with = of_a_start(os.environ)
        self._one_at_a_time = threading.Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.cli.forks", str(theirs.fileno())],
                # Pipes, as those of a command are: a stream remembers whether it can be sought in.
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=[theirs.fileno()],
                cwd=ROOT,
            )
        atexit.register(self.close)

    def close(self) -> None:
        self._line.close()
        self._process.communicate()

    def fits(self, environment: Mapping[str, str]) -> bool:
        """True if a start in this environment would come to what a fork is."""
        return of_a_start(environment) == self._started_with

    def run(
        self, words: Sequence[str], stdin: bytes, environment: Mapping[str, str]
    ) -> tuple[int, bytes, bytes]:
        """Exit code, standard output and standard error of the command with these words."""
        request = json.dumps([words, dict(environment)]).encode()
        assert len(request) < MOST
        (read, write), *outputs = (os.pipe() for _ in range(3))
        theirs = [read, *(end for _, end in outputs)]
        with self._one_at_a_time, ThreadPoolExecutor(2) as readers:
            socket.send_fds(self._line, [request], theirs)
            for end in theirs:
                os.close(end)
            texts = [readers.submit(_whole, end) for end, _ in outputs]
            with suppress(BrokenPipeError), open(write, "wb") as stream:
                stream.write(stdin)
            out, err = (text.result() for text in texts)
            code = self._line.recv(MOST)
        assert code, self._process.communicate()[1].decode()
        return int(code), out, err


def _whole(end: int) -> bytes:
    with open(end, "rb") as stream:
        return stream.read()


@cache
def forks() -> Forks | None:
    """Those of this process; None where only a start is tried."""
    return Forks() if sys.platform == "linux" else None


def is_fork(line: socket.socket) -> bool:
    """Answers requests: False at the end of the line, True in a fork, which is to be the command."""
    while True:
        request, ends, _, _ = socket.recv_fds(line, MOST, 3)
        if not request:
            return False
        if not (fork := os.fork()):
            break
        for end in ends:
            os.close(end)
        _, status = os.waitpid(fork, 0)
        line.send(str(os.waitstatus_to_exitcode(status)).encode())
    line.close()
    for stream, end in enumerate(ends):
        os.dup2(end, stream)
        os.close(end)
    words, environment = json.loads(request)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv[1:] = words
    return True


if __name__ == "__main__":
    from ledgeragent.cli.verbs import VERBS

    for verb in VERBS:
        import_module(f"ledgeragent.cli.{verb}")
    for module in (*WHEN_NEEDED, *(OF_THE_HARNESS if find_spec("tau2") else ())):
        with suppress(ImportError):
            import_module(module)
    assert threading.active_count() == 1
    # Each fork would walk, and so copy, what was imported here, at the latest when it ends.
    gc.collect()
    gc.freeze()
    if is_fork(socket.socket(fileno=int(sys.argv[1]))):
        runpy.run_module("ledgeragent", run_name="__main__", alter_sys=True)
