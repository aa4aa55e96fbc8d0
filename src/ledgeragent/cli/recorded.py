"""The common part of the verbs that judge recorded runs: their options, and broken records."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ledgeragent.errors import DataError
from ledgeragent.offline.intake import BROKEN, Intake

READS = (
    "Reads this project's trajectories, OpenAI message lists, tau-bench and tau2 results: JSON or "
    "JSON Lines, plain or gzip."
)
_MOST_WARNINGS = 20


def add_recorded(parser: argparse.ArgumentParser) -> None:
    """Adds the files, --jobs and --nonstandard."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="recorded runs; - is stdin")
    parser.add_argument(
        "--jobs",
        type=_jobs,
        default=1,
        metavar="N",
        help="processes (default 1); never more than there are processors, or megabytes to read",
    )
    parser.add_argument(
        "--nonstandard",
        action="store_true",
        help="judge runs too whose agent had tools that their benchmark does not have",
    )


def add_baseline(parser: argparse.ArgumentParser) -> None:
    """Adds --baseline and --update."""
    parser.add_argument(
        "--baseline", metavar="FILE", help="compare with the verdicts stored in this file"
    )
    parser.add_argument(
        "--update", action="store_true", help="write the current verdicts to the baseline"
    )


def warn(intake: Intake, files: Sequence[str]) -> None:
    """Says on stderr which records of these files are broken; raises DataError if there was no other."""
    broken = intake.skipped[BROKEN]
    if not intake.runs and not intake.skipped.total():
        raise DataError("there is no run in it", file=", ".join(files))
    if not intake.runs and broken == intake.skipped.total():
        first = intake.problems[0]
        raise DataError(first["problem"], file=first["file"], line=first["line"])
    for row in intake.problems[:_MOST_WARNINGS]:
        problem = DataError(row["problem"], file=row["file"], line=row["line"])
        print(f"ledgeragent: skipped: {problem}", file=sys.stderr)
    if broken > _MOST_WARNINGS:
        more = broken - _MOST_WARNINGS
        print(f"ledgeragent: skipped: {more} more broken records", file=sys.stderr)


def _jobs(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("give a number of processes, 1 or more")
    return int(text)
