"""Reports of our own command, for benchmarks: what it wrote as JSON, or the end of the benchmark."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Collection, Sequence
from typing import Any


def own_report(words: Sequence[str], codes: Collection[int] = (0,)) -> Any:
    """The JSON that `ledgeragent` writes. `codes` are the exit codes with which it has a report.

    Python itself ends with 1 where it fails, as the command does where it finds something: without a
    report, or with a traceback, no code is a result.
    """
    command = [sys.executable, "-m", "ledgeragent", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    try:
        if done.returncode in codes and "Traceback (most recent call last)" not in done.stderr:
            return json.loads(done.stdout)
    except ValueError:
        pass
    line = " ".join(words)[:200]
    sys.exit(f"ledgeragent {line}: exit code {done.returncode}, no report\n{done.stderr}")
