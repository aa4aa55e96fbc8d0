"""`ledgeragent replay`: what a domain's gate would have answered in recorded conversations."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from ledgeragent.cli.diff import run_baseline
from ledgeragent.cli.engines import engine_of
from ledgeragent.cli.options import add_domain, add_levels, parameters_of, tools_of
from ledgeragent.cli.places import files_in
from ledgeragent.cli.progress import Progress
from ledgeragent.cli.recorded import READS, add_baseline, add_recorded, add_unknown, warn
from ledgeragent.cli.verbs import VERBS
from ledgeragent.errors import UsageError
from ledgeragent.files.objects import is_object
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.replay import replay
from ledgeragent.report.replay import replay_json, replay_junit, replay_text

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers
    from ledgeragent.offline.verdictrow import PartWriter, VerdictRow


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "replay",
        help=VERBS["replay"],
        description="Folds recorded conversations through a domain, with no model call, and reports "
        "which writes it would have allowed, revised or blocked.",
        epilog=f"{READS} Exits 0 with a report, 2 where nothing could be judged. With --baseline the "
        "report is that of `diff`: it exits 1 if a verdict changed.",
    )
    add_recorded(parser)
    add_domain(parser)
    add_levels(parser)
    add_unknown(parser)
    add_baseline(parser)
    parser.add_argument(
        "--write",
        metavar="PLACE",
        help="write a row for each judged call, for SQL, to this Parquet file (extra `table`); where the "
        "place ends in /, to a new folder of such files. It may be s3://, gs:// or az://",
    )
    parser.add_argument("--format", choices=("text", "json", "junit"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Judges and reports. 0 with a report; raises DataError where no record could be read."""
    if args.baseline is not None:
        if args.write is not None:
            raise UsageError("--write goes with the report of a replay, not with --baseline")
        return run_baseline(args)
    if args.update:
        raise UsageError("--update needs --baseline")
    files = files_in(args.files)
    with ExitStack() as open_files:
        table, part = _table_at(args.write, open_files)
        with Progress(files) as progress:
            result = replay(
                files,
                args.domain,
                version=args.version,
                tools=tools_of(args, args.domain),
                parameters=parameters_of(args),
                levels=dict(args.enforce),
                nonstandard=args.nonstandard,
                prefixes=args.tool_prefix,
                unknown=args.unknown_tools,
                form=args.form,
                allow_faulty=args.allow_faulty,
                engine=engine_of(args, args.domain, writes=part is not None),
                progress=progress,
                table=table,
                part=part,
            )
        warn(result, files)  # raises where nothing was read: the table is then not left
    name = Binding(name=args.domain, allow_faulty=args.allow_faulty).domain().name
    match args.format:
        case "json":
            sys.stdout.write(replay_json(result))
        case "junit":
            sys.stdout.write(replay_junit(result, name))
        case _:
            sys.stdout.write(replay_text(result, name))
    return 0


def _table_at(
    place: str | None, open_files: ExitStack
) -> tuple[Callable[[list[VerdictRow]], None] | None, PartWriter | None]:
    """What takes the rows: here, or where the work is done."""
    if place is None:
        return None, None
    if not place.endswith("/"):
        from ledgeragent.offline.verdicttable import verdict_table  # needs an extra

        return open_files.enter_context(verdict_table(place)).write, None
    from ledgeragent.offline.verdictparts import LocalFolder, StoredFolder

    if is_object(place):
        parts = StoredFolder(place)
        open_files.enter_context(parts)
        return None, parts.part
    folder = LocalFolder(place)
    open_files.enter_context(folder)
    return folder.write, None
