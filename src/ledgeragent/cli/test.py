"""`ledgeragent test`: does a domain judge its samples, or labelled cases, as they say?"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ledgeragent.cli.options import add_domain, add_levels, levels_of, tools_of
from ledgeragent.domain import Domain
from ledgeragent.errors import DataError
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.cases import judge_cases
from ledgeragent.offline.labelled import read_cases
from ledgeragent.offline.sampling import judge_samples
from ledgeragent.report.cases import cases_json, cases_text
from ledgeragent.report.samples import samples_json, samples_text

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "test",
        help="judge a pack's samples, or labelled cases",
        description="Judges the samples of a pack, or with --cases labelled conversations, and lists "
        "every one that is judged otherwise, with what was read for it. Cases of clauses that "
        "depend on what was said are reported apart.",
        epilog="Exits 0 if every sample, or every case that records decide, is judged as it says, 1 "
        "if not. A sample is judged in the first version of a pack that has its rule, or that it names.",
    )
    add_domain(parser)
    add_levels(parser)
    parser.add_argument(
        "--cases",
        action="append",
        metavar="FILE",
        help="labelled cases, JSON Lines, plain or gzip; - is stdin; may be given again",
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Judges and reports. 1 if one that records decide is judged otherwise than it says."""
    binding = Binding(
        name=args.domain,
        version=args.version,
        tools=tools_of(args, args.domain),
        levels=levels_of(args),
    )
    return _samples(args, binding) if args.cases is None else _cases(args, binding.domain())


def _cases(args: argparse.Namespace, domain: Domain) -> int:
    result = judge_cases((case for file in args.cases for case in read_cases(file)), domain)
    if not result.decided.cases and not result.apart.cases:
        raise DataError(f"no case of domain {domain.name}", file=", ".join(args.cases))
    sys.stdout.write(cases_json(result) if args.format == "json" else cases_text(result))
    return 1 if result.decided.mismatches else 0


def _samples(args: argparse.Namespace, binding: Binding) -> int:
    result = judge_samples(binding)
    sys.stdout.write(samples_json(result) if args.format == "json" else samples_text(result))
    return 1 if result.failures else 0
