"""The folder of the benchmark's data files, which are not part of this package."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from ledgeragent.errors import UsageError

DATA_DIR = "LEDGERAGENT_DATA_DIR"
"""The environment variable that names it."""


def add_data_dir(parser: argparse.ArgumentParser) -> None:
    """Adds --data-dir."""
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        help=f"the folder that holds benchmarks/; {DATA_DIR} names it too",
    )


def data_dir(args: argparse.Namespace) -> Path:
    """The folder of the data files; raises UsageError where none is named or it is no folder."""
    named = args.data_dir or os.environ.get(DATA_DIR)
    if not named:
        raise UsageError(
            f"the benchmark's data files are not part of this; name their folder "
            f"with --data-dir or {DATA_DIR}"
        )
    if not Path(named).is_dir():
        raise UsageError(f"{named} is no folder")
    return Path(named)
