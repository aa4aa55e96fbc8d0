"""`ledgeragent view`: recorded runs as one page to look through."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.cli.options import add_domain, parameters_of, tools_of
from ledgeragent.cli.recorded import add_reading
from ledgeragent.cli.streams import note
from ledgeragent.cli.verbs import VERBS
from ledgeragent.errors import DataError, UsageError
from ledgeragent.files.private import write_private
from ledgeragent.files.reading import opened
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.viewing import RunView, conversations, viewed
from ledgeragent.packs import pack_listing
from ledgeragent.report.view import MARK, view_html

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers

_MOST_RUNS = 50
_HEAD = 1024


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "view",
        help=VERBS["view"],
        description="Writes one page that needs no network: each conversation, the ledger as it was "
        "at every step with what changed, and every verdict with the facts it read.",
        epilog="Reads what `replay` reads, and journals. The domain is the one a run names, unless "
        "--domain gives another. Verdicts of a journal are those it recorded.",
    )
    parser.add_argument("file", metavar="FILE", help="recorded runs, results or a journal")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="the page (default: FILE.html here; - is stdout)"
    )
    add_domain(parser, required=False)
    add_reading(parser)
    parser.add_argument(
        "--run",
        dest="runs",
        action="append",
        metavar="ID",
        help="only the run of this id; may be given again",
    )
    parser.add_argument(
        "--limit",
        type=_number,
        default=_MOST_RUNS,
        metavar="N",
        help=f"the most runs in one page (default {_MOST_RUNS})",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Writes the page and says where. Raises DataError where there is no run to show."""
    target = args.output or f"{Path(args.file).name}.html"
    if target != "-":
        _require_ours(Path(target), args.file)
    runs = _wanted(args)
    first_runs = list(islice(runs, args.limit))
    if not first_runs:
        raise DataError("there is no such run in it", file=args.file)
    page = view_html(first_runs, Path(args.file).name)
    if next(runs, None) is not None:
        note(f"ledgeragent: only the first {len(first_runs)} runs; see --run, --limit")
    if target == "-":
        sys.stdout.write(page)
        return 0
    write_private(Path(target), page.encode("utf-8"))
    print(target)
    return 0


def _require_ours(target: Path, file: str) -> None:
    """UsageError for a file that is there and that this verb did not make."""
    if os.path.realpath(target) == os.path.realpath(file):
        raise UsageError(f"{target} is what is to be looked at; name another file with -o")
    if not os.path.lexists(target):
        return
    with opened(target) as page:
        if MARK.encode() not in page.read(_HEAD):
            raise UsageError(
                f"{target} is there already, and no page of this verb; remove it, or name another file "
                "with -o"
            )


def _wanted(args: argparse.Namespace) -> Iterator[RunView]:
    """The runs that were asked for; broken ones are named on stderr."""
    binding = None
    if args.domain is not None:
        binding = Binding(
            name=args.domain,
            version=args.version,
            tools=tools_of(args, args.domain),
            parameters=parameters_of(args),
            allow_faulty=args.allow_faulty,
            prefixes=tuple(args.tool_prefix),
        )
    elif args.version is not None or args.tools is not None or parameters_of(args):
        raise UsageError("--version, --tools and --param need --domain")
    else:
        binding = _of_tools(args)
    for conversation in conversations(args.file, args.form):
        if isinstance(conversation, DataError):
            note(f"ledgeragent: skipped: {conversation}")
        elif args.runs is None or conversation.trace.run in args.runs:
            yield viewed(conversation, binding)


def _of_tools(args: argparse.Namespace) -> Binding | None:
    """The domain of a file whose runs name none: that of the pack that alone lists all their tools.

    None where a run names one, where no pack fits, or for stdin, which is read once.
    """
    if args.file == "-":
        return None
    names: set[str] = set()
    for conversation in conversations(args.file, args.form):
        if isinstance(conversation, DataError):
            continue
        if conversation.trace.domain is not None:
            return None
        names |= {call.name for call in conversation.trace.calls}
    pack = pack_listing(names)
    return None if pack is None else Binding(name=pack)


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("give a number of runs, 1 or more")
    return int(text)
