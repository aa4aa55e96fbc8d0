"""`ledgeragent traces`: what is understood of recorded conversations, and what is not."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ledgeragent.cli.options import add_domain, parameters_of
from ledgeragent.cli.places import files_in
from ledgeragent.cli.recorded import add_reading
from ledgeragent.cli.verbs import VERBS
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.understanding import understood
from ledgeragent.report.understanding import understanding_json, understanding_text

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "traces",
        help=VERBS["traces"],
        description="Reads recorded conversations and shows, for each file, the form they are in, the "
        "runs, tools, calls and returns, what was left out, and what could not be read with its place. "
        "With --domain also which of the tools the pack lists, and under which names.",
        epilog="Exits 0 if everything was understood, 1 where some conversations could not be read, 2 "
        "where a file holds none, or no call of a tool.",
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="recorded runs, or a folder of them; - is stdin"
    )
    add_reading(parser)
    add_domain(parser, required=False)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prints what was understood of each file."""
    binding = None
    if args.domain is not None:
        binding = Binding(
            name=args.domain,
            version=args.version,
            parameters=parameters_of(args),
            allow_faulty=args.allow_faulty,
            prefixes=tuple(args.tool_prefix),
        )
        binding.domain()
    understandings = [understood(file, args.form, binding) for file in files_in(args.files)]
    write = understanding_json if args.format == "json" else understanding_text
    sys.stdout.write(write(understandings))
    return max(one.exit_code for one in understandings)
