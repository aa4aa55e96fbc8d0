"""Starts a command of ours again and again and kills it at random: `kill.py REQUEST.json`.

The harness takes seconds to import, so it is imported once, and each life of a command is a fork. Prints,
per experiment, how each life ended: its exit code, or minus the signal.
"""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import Any

from ledgeragent.adapters.tau2 import harness
from ledgeragent.cli.main import main

MODULES = ("litellm", "tau2.run", "tau2.cli", "tau2.evaluator.evaluator_nl_assertions")


def live(command: list[str], output: Path) -> int:
    """A life of the command, in a process of its own; its id."""
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        told = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(told, 1)
        os.dup2(told, 2)
        code = main(command)
    finally:
        os._exit(code)


def is_over(pid: int) -> bool:
    """True if the life has ended; it is left to be waited for."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def lines(file: Path) -> int:
    return file.read_bytes().count(b"\n") if file.exists() else 0


def drive(experiment: dict[str, Any]) -> list[int]:
    chance = random.Random(11)
    command, output = experiment["command"], Path(experiment["output"])
    results = Path(command[-1])
    ends = []
    for number in range(experiment["kills"]):
        wanted = max(lines(results), 1) + chance.randint(0, 1)
        pid = live(command, output)
        while lines(results) < wanted and not is_over(pid):
            time.sleep(0.01)
        time.sleep(chance.uniform(0.0, 0.9))
        # The last one is interrupted as by Ctrl-C.
        os.kill(pid, signal.SIGKILL if number + 1 < experiment["kills"] else signal.SIGINT)
        ends.append(ended(pid))
    return [*ends, ended(live(command, output))]


if __name__ == "__main__":
    if request_file := sys.argv[1:]:
        for module in MODULES:
            harness(module)
        # What was imported stays: no life need walk it, and so copy it.
        gc.collect()
        gc.freeze()
        print(json.dumps([drive(one) for one in json.loads(Path(request_file[0]).read_text())]))
