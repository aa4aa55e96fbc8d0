"""`ledgeragent diff`: what two versions of a policy answer differently in the same recorded runs."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from ledgeragent import packs
from ledgeragent.cli.engines import engine_of
from ledgeragent.cli.options import add_domain, add_levels, levels_of, parameters_of, tools_of
from ledgeragent.cli.places import files_in
from ledgeragent.cli.progress import Progress
from ledgeragent.cli.recorded import READS, add_baseline, add_recorded, add_unknown, warn
from ledgeragent.cli.verbs import VERBS
from ledgeragent.errors import DataError, UsageError
from ledgeragent.offline.baseline import (
    baseline_of,
    compared,
    judged_now,
    read_baseline,
    write_baseline,
)
from ledgeragent.offline.binding import Binding
from ledgeragent.offline.diff import Difference, diff
from ledgeragent.report.difference import difference_json, difference_junit, difference_text

if TYPE_CHECKING:
    from ledgeragent.cli.options import Subparsers


def add(subparsers: Subparsers) -> None:
    """Adds the verb to the command line."""
    parser = subparsers.add_parser(
        "diff",
        help=VERBS["diff"],
        description="Judges the same recorded conversations by --domain and by --against (or compares "
        "with the verdicts in --baseline), and lists the calls that are newly rejected, newly "
        "allowed, newly asked for a read, or answered for another reason. What only rules in shadow "
        "say otherwise is listed apart.",
        epilog=f"{READS} Packs may be written NAME@VERSION. --enforce speaks of --domain only. Exits 1 "
        "if something changed (what changed in shadow only does not count), 2 where nothing could be "
        "judged, 0 otherwise and with --update.",
    )
    add_recorded(parser)
    add_domain(parser)
    parser.add_argument(
        "--against", metavar="NAME", help="the pack to compare with: what was in force before"
    )
    add_levels(parser)
    add_unknown(parser)
    add_baseline(parser)
    parser.add_argument("--format", choices=("text", "json", "junit"), default="text")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compares and reports. 1 if something changed."""
    if (args.against is None) == (args.baseline is None):
        raise UsageError("compare with one: --against NAME or --baseline FILE")
    if args.baseline is not None:
        return run_baseline(args)
    if args.update:
        raise UsageError("--update needs --baseline")
    after = binding_of(args)
    before = _named(args.against, args, None)
    files = files_in(args.files)
    with Progress(files) as progress:
        difference = diff(
            files,
            before,
            after,
            nonstandard=args.nonstandard,
            engine=engine_of(args, before.name, after.name),
            progress=progress,
        )
    _require_runs(difference, args)
    _write(difference, args, args.against)
    return 1 if difference.changed else 0


def run_baseline(args: argparse.Namespace) -> int:
    """Compares with the stored verdicts, or with --update stores those of now."""
    binding = binding_of(args)
    name = binding.domain().name
    earlier = read_baseline(args.baseline, name)
    if earlier is None and not args.update:
        raise DataError("there is no such file; write it with --update", file=args.baseline)
    files = files_in(args.files)
    with Progress(files) as progress:
        now = judged_now(
            files,
            binding,
            nonstandard=args.nonstandard,
            engine=engine_of(args, binding.name),
            progress=progress,
        )
    difference = compared(earlier, now, binding)
    _require_runs(difference, args)
    if earlier is not None:
        _write(difference, args, args.baseline)
    if not args.update:
        return 1 if difference.changed else 0
    baseline = baseline_of(now, name)
    write_baseline(baseline, args.baseline)
    summary = f"{baseline.calls} verdicts on {len(baseline.runs)} runs"
    print(f"ledgeragent: wrote {summary} to {args.baseline}", file=sys.stderr)
    return 0


def binding_of(args: argparse.Namespace) -> Binding:
    """The pack of --domain, at the version that --version or NAME@VERSION tells."""
    return _named(args.domain, args, args.version, levelled=True)


def _named(
    text: str, args: argparse.Namespace, version: str | None, *, levelled: bool = False
) -> Binding:
    name, named_version = _parted(text)
    if named_version and version is not None:
        raise UsageError(f"give the version of {name} once: --version, or {text}")
    return Binding(
        name=name,
        version=named_version or version,
        tools=tools_of(args, *_packs(args)),
        parameters=parameters_of(args),
        allow_faulty=args.allow_faulty,
        levels=levels_of(args) if levelled else frozenset(),
        prefixes=tuple(args.tool_prefix),
        unknown=args.unknown_tools,
        form=args.form,
    )


def _parted(text: str) -> tuple[str, str]:
    """Pack and version of NAME@VERSION; the version is "" where none is told."""
    name, mark, version = text.rpartition("@")
    return (text, "") if not mark or packs.is_data(text) else (name, version)


def _packs(args: argparse.Namespace) -> list[str]:
    """The packs that are compared: a tool of either may be named."""
    texts = (args.domain, getattr(args, "against", None))
    return sorted({_parted(text)[0] for text in texts if text is not None})


def _require_runs(difference: Difference, args: argparse.Namespace) -> None:
    """Tells broken records; raises DataError where no run could be judged, so nothing was compared."""
    warn(difference, args.files)
    if not difference.runs:
        why = ", ".join(f"{number} {why}" for why, number in sorted(difference.skipped.items()))
        raise DataError(f"no run could be judged (skipped {why})", file=", ".join(args.files))


def _write(difference: Difference, args: argparse.Namespace, before: str) -> None:
    match args.format:
        case "json":
            text = difference_json(difference, before, args.domain)
        case "junit":
            text = difference_junit(difference, before, args.domain)
        case _:
            text = difference_text(difference, before, args.domain)
    sys.stdout.write(text)
