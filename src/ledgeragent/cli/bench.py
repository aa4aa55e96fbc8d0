"""`ledgeragent bench`: benchmark environments, runs and reports; one sub-verb each."""

from __future__ import annotations

import argparse
import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.errors import UsageError

if TYPE_CHECKING:
    from ledgeragent.bench.telehealth.conformance import Conformance

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

SUBVERBS = (
    "tokens.cost",
    "arms.fama.verb",
    "gold",
    "probes.probe",
    "results.report",
    "running.run",
    "shop",
    "tau2.run",
)
"""Each is a module of `ledgeragent.bench` with `add(subparsers)`."""

DATA_DIR = "LEDGERAGENT_DATA_DIR"
_MOST_SHOWN = 50


def add(subparsers: Subparsers) -> None:
    """Adds the verb and its sub-verbs to the command line."""
    parser = subparsers.add_parser(
        "bench",
        help="benchmark environments, runs and reports",
        description="The paper's experiments and what surrounds them: runs, arms, reports, probes.",
    )
    verbs = parser.add_subparsers(dest="bench", metavar="SUBVERB", required=True)
    _add_conformance(verbs)
    for name in SUBVERBS:
        import_module(f"ledgeragent.bench.{name}").add(verbs)


def add_data_dir(parser: argparse.ArgumentParser) -> None:
    """Adds --data-dir."""
    parser.add_argument(
        "--data-dir",
        metavar="DIR",
        help=f"the folder that holds benchmarks/; {DATA_DIR} names it too",
    )


def data_dir(args: argparse.Namespace) -> Path:
    """The folder of the data files; raises UsageError where none is named or it is no folder."""
    named = args.data_dir or os.environ.get(DATA_DIR)
    if not named:
        raise UsageError(
            f"the benchmark's data files are not part of this; name their folder "
            f"with --data-dir or {DATA_DIR}"
        )
    if not Path(named).is_dir():
        raise UsageError(f"{named} is no folder")
    return Path(named)


def _add_conformance(verbs: Subparsers) -> None:
    parser = verbs.add_parser(
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
    parser.set_defaults(run=run_conformance)


def run_conformance(args: argparse.Namespace) -> int:
    """Compares and reports. 1 if anything differs."""
    from ledgeragent.bench.telehealth.conformance import check

    result = check(args.files, data_dir(args))
    sys.stdout.write(_conformance_text(result))
    return 1 if result.divergences else 0


def _conformance_text(result: Conformance) -> str:
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
