"""`ledgeragent test`: does a domain judge labelled cases as their labels say?"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ledgeragent.binding import Binding
from ledgeragent.cases import judge_cases, read_cases
from ledgeragent.cli.options import add_domain
from ledgeragent.errors import DataError
from ledgeragent.report.as_json import cases_json
from ledgeragent.report.as_text import cases_text

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "test",
        help="judge labelled cases",
        description="Judges labelled cases and lists every one that is judged otherwise, with what "
        "was read for it. Cases of clauses that depend on what was said are reported apart.",
        epilog="Exits 0 if every case that records decide is judged as labelled, 1 if not.",
    )
    add_domain(parser)
    parser.add_argument(
        "--cases",
        required=True,
        action="append",
        metavar="FILE",
        help="labelled cases, JSON Lines, plain or gzip; - is stdin; may be given again",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Judges and reports. 1 if a case that records decide is judged otherwise than labelled."""
    domain = Binding(name=args.domain, version=args.version, tools=args.tools).domain()
    result = judge_cases((case for file in args.cases for case in read_cases(file)), domain)
    if not result.decided.cases and not result.apart.cases:
        raise DataError(f"no case of domain {domain.name}", file=", ".join(args.cases))
    sys.stdout.write(cases_json(result) if args.format == "json" else cases_text(result))
    return 1 if result.decided.mismatches else 0
