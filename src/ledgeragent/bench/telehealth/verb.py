"""`ledgeragent bench conformance`: do the telehealth tools answer as the recorded ones did?"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ledgeragent.bench.datadir import add_data_dir, data_dir

if TYPE_CHECKING:
    from ledgeragent.bench.telehealth.conformance import Conformance

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_MOST_SHOWN = 50


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "conformance",
        help="compare the telehealth tools with recorded calls",
        description="Makes every recorded call again and compares what the tool answers, the state "
        "it leaves, and the reward.",
        epilog="Exits 0 if all agree, 1 if any differs.",
    )
    parser.add_argument(
        "files", nargs="+", metavar="FILE", help="recorded sessions or runs; - is stdin"
    )
    add_data_dir(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compares and reports. 1 if anything differs."""
    from ledgeragent.bench.telehealth.conformance import check

    result = check(args.files, data_dir(args))
    sys.stdout.write(text(result))
    return 1 if result.divergences else 0


def text(result: Conformance) -> str:
    """The comparison for people, the first divergences in full."""
    count = len(result.divergences)
    lines = [f"sessions {result.sessions}, calls {result.calls}, divergences {count}"]
    for d in result.divergences[:_MOST_SHOWN]:
        lines += [
            f"{d.session}, call {d.number}: {d.what} of {d.call}",
            f"  expected {d.expected!r}",
            f"  got      {d.got!r}",
        ]
    if count > _MOST_SHOWN:
        lines.append(f"and {count - _MOST_SHOWN} more")
    return "\n".join(lines) + "\n"
