"""The harness's log, which tells every step of every run: kept in a file of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ledgeragent.adapters.tau2 import harness
from ledgeragent.bench.running.progress import masked
from ledgeragent.files.private import open_private


def log_to(file: Path, secrets: Iterable[str]) -> None:
    """Has the harness log into `file`, which only its owner can read, without these secrets.

    What is in the file stays.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    stream = os.fdopen(open_private(file, os.O_WRONLY | os.O_APPEND), "a")
    hidden = tuple(secrets)

    def write(line: str) -> None:
        stream.write(masked(line, *hidden))
        stream.flush()

    logger = harness("loguru").logger
    logger.remove()
    logger.add(write, level="DEBUG", diagnose=False)
