"""`ledgeragent replay`: what a domain's gate would have answered in recorded conversations."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ledgeragent.binding import Binding
from ledgeragent.cli.options import add_domain, add_levels
from ledgeragent.cli.progress import Progress
from ledgeragent.errors import DataError
from ledgeragent.intake import BROKEN
from ledgeragent.replay import replay
from ledgeragent.report.as_json import replay_json
from ledgeragent.report.as_junit import replay_junit
from ledgeragent.report.as_text import replay_text
from ledgeragent.tally import Result

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers

_MOST_WARNINGS = 20


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "replay",
        help="judge recorded conversations",
        description="Folds recorded conversations through a domain, with no model call, and reports "
        "which writes it would have allowed, revised or blocked.",
        epilog="Reads this project's trajectories, OpenAI message lists, tau-bench and tau2 results: "
        "JSON or JSON Lines, plain or gzip. Exits 0 with a report, 2 where nothing could be judged.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="recorded runs; - is stdin")
    add_domain(parser)
    add_levels(parser)
    parser.add_argument("--format", choices=("text", "json", "junit"), default="text")
    parser.add_argument("--jobs", type=_jobs, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument(
        "--nonstandard",
        action="store_true",
        help="judge runs too whose agent had tools that their benchmark does not have",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Judges and reports. 0 with a report; raises DataError where no record could be read."""
    with Progress(args.files) as progress:
        result = replay(
            args.files,
            args.domain,
            version=args.version,
            tools=args.tools,
            levels=dict(args.enforce),
            nonstandard=args.nonstandard,
            jobs=args.jobs,
            progress=progress,
        )
    _warn(result)
    name = Binding(name=args.domain).domain().name
    match args.format:
        case "json":
            sys.stdout.write(replay_json(result))
        case "junit":
            sys.stdout.write(replay_junit(result, name))
        case _:
            sys.stdout.write(replay_text(result, name))
    return 0


def _warn(result: Result) -> None:
    """Says on stderr which records are broken; raises DataError if there was no other."""
    broken = result.skipped[BROKEN]
    if not result.runs and broken == result.skipped.total():
        first = result.problems[0]
        raise DataError(first["problem"], file=first["file"], line=first["line"])
    for row in result.problems[:_MOST_WARNINGS]:
        problem = DataError(row["problem"], file=row["file"], line=row["line"])
        print(f"ledgeragent: skipped: {problem}", file=sys.stderr)
    if broken > _MOST_WARNINGS:
        more = broken - _MOST_WARNINGS
        print(f"ledgeragent: skipped: {more} more broken records", file=sys.stderr)


def _jobs(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("give a number of processes, 1 or more")
    return int(text)
