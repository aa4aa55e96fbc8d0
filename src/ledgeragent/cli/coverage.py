"""`ledgeragent coverage`: which clauses of a policy are enforced, by which rules, and which are not."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ledgeragent.cli.options import add_pack, add_parameters, pack_of, parameters_of
from ledgeragent.cli.verbs import VERBS
from ledgeragent.offline.binding import Binding, samples, versions
from ledgeragent.offline.coverage import Coverage, coverage
from ledgeragent.report.coverage import coverage_json, coverage_markdown, coverage_text

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "coverage",
        help=VERBS["coverage"],
        description="Lists every clause of a policy with its rules and their samples, and the "
        "clauses that no rule can decide, with the reason.",
    )
    add_pack(parser)
    add_parameters(parser)
    parser.add_argument("--format", choices=("text", "json", "markdown"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prints the coverage. Always 0 for a pack that can be read."""
    name = pack_of(args)
    # What no rule enforces yet is an error of the pack, and just what is to be seen here.
    Binding(name=name, parameters=parameters_of(args), allow_faulty=True).domain()
    pack_coverage = _covered(name)
    match args.format:
        case "json":
            sys.stdout.write(coverage_json(pack_coverage))
        case "markdown":
            sys.stdout.write(coverage_markdown(pack_coverage))
        case _:
            sys.stdout.write(coverage_text(pack_coverage))
    return 0


def markdown(name: str) -> str:
    """The page of documentation about one pack's coverage."""
    return coverage_markdown(_covered(name))


def _covered(name: str) -> Coverage:
    return coverage(tuple(versions(name, allow_faulty=True).values()), samples(name))
