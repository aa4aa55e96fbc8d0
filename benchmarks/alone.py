"""A command in a process of its own, and what it took: `python -m benchmarks.alone FILE WORD...`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from threading import Thread
from typing import NamedTuple

from ledgeragent.cli.main import main as command


class Alone(NamedTuple):
    """What a command wrote, and took: seconds by the clock and of the processor, the most memory in MB.

    `own_megabytes` is the most of it that was neither a file's nor shared with other processes. What its
    helpers took, such as the processes of a cluster, is not in it.
    """

    output: bytes
    seconds: float
    processor_seconds: float
    megabytes: float
    own_megabytes: float


def alone(words: Sequence[str]) -> Alone:
    """Runs a command of ours; one that fails ends the benchmark with what it said."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        line = [sys.executable, "-m", "benchmarks.alone", file.name, *words]
        done = subprocess.run(line, capture_output=True, check=False)
        if done.returncode:
            sys.exit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stderr.decode()}")
        return Alone(done.stdout, **json.loads(Path(file.name).read_text()))


class _Memory(Thread):
    """Looks ten times a second at what this process holds: the system keeps the peak of all of it only."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.own = 0.0

    def run(self) -> None:
        while True:
            self.own = max(self.own, _memory("RssAnon"))
            time.sleep(0.1)


def _memory(name: str) -> float:
    """What the system says of this process under a name, in MB."""
    status = Path("/proc/self/status").read_text()
    return float(status.partition(f"{name}:")[2].split()[0]) / 1024


def main() -> int:
    """Runs the command of the command line; its exit code."""
    memory = _Memory()
    memory.start()
    began, spent = time.perf_counter(), time.process_time()
    code = command(sys.argv[2:])
    took = {
        "seconds": round(time.perf_counter() - began, 2),
        "processor_seconds": round(time.process_time() - spent, 3),
        "megabytes": round(_memory("VmHWM"), 1),
        "own_megabytes": round(memory.own, 1),
    }
    Path(sys.argv[1]).write_text(json.dumps(took))
    return code


if __name__ == "__main__":
    sys.exit(main())
