"""`ledgeragent bench fama`: from the failed runs of the plain agent to the helpers of the arm `fama`."""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.bench.arms.fama.choice import HelperChoice, choose, write
from ledgeragent.bench.arms.fama.judging import FamaJudge, judged
from ledgeragent.bench.arms.fama.split import may_learn_from
from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.results.reading import read_results
from ledgeragent.bench.results.results import Run
from ledgeragent.bench.running.endpoint import Endpoint, EndpointUsage
from ledgeragent.bench.running.interrupts import EXIT, Stop, interrupts, worked
from ledgeragent.bench.running.kept import KeptRow, KeptRows
from ledgeragent.bench.running.progress import tell
from ledgeragent.bench.running.sides import add_sides, endpoint_of
from ledgeragent.bench.tokens.cost import Prefixes
from ledgeragent.errors import DataError, UsageError
from ledgeragent.types import canonical

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_ROW = "judgement of a failed run"


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "fama",
        help="choose the helpers of the arm fama from failed runs",
        description="Has a model judge every failed run of the plain agent: four analysts of one cause "
        "each, one that says which causes decided, one that picks the fewest helpers against them. "
        "What at least half of the failed runs of a model in a domain call for is its choice.",
        epilog="Six calls a failed run. Only the harness's train tasks are looked at, half of the tasks "
        "where no split is known; `bench report --held-out CHOICE` leaves those out. The agent's "
        "model is the one that judges. Ctrl-C finishes the judgements under way and exits 130; a second "
        "one does not.",
    )
    parser.add_argument("files", nargs="+", metavar="RESULTS", help="result files; - is stdin")
    add_sides(parser, customer=False)
    parser.add_argument("--arm", default="fc", metavar="ARM", help="whose runs (default fc)")
    parser.add_argument(
        "--oracle",
        action="store_true",
        help="look at all tasks, as the authors of FAMA do: the arm then knows its test",
    )
    parser.add_argument(
        "--share",
        type=float,
        default=0.5,
        metavar="X",
        help="of the failed runs that must call for a helper (default 0.5)",
    )
    parser.add_argument("--limit", type=int, metavar="N", help="failed runs per model and domain")
    parser.add_argument("--data-dir", metavar="DIR", help=f"for policies and splits; or {DATA_DIR}")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs judged at a time")
    parser.add_argument("--timeout", type=int, default=120, metavar="S", help="of a request")
    parser.add_argument(
        "--keep", metavar="FILE", help="keeps every judgement, JSON Lines; none is made twice"
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the choice, as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Judges and chooses. DataError where no run is of that arm."""
    folder = _folder(args)
    runs = [run for run in _runs(args.files, args.arm) if args.oracle or _may(run, folder)]
    if not runs:
        raise DataError(f"no run of {args.arm} to learn from", file=", ".join(args.files))
    looked_at: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in runs:
        looked_at[one.model, one.domain].add(one.task)
    failed = _failed(runs, args.limit)
    with (
        KeptRows(args.keep, lambda row: (row["judge"], row["run"]), _ROW) as log,
        interrupts(tell) as stop,
    ):
        missing = [run for run in failed if (args.model, _key(run)) not in log.rows]
        count = len(failed) - len(missing)
        for row in _judged(missing, args, Prefixes(folder), stop):
            log.add(row)
            count += 1
            tell(f"{count}/{len(failed)} {row['domain']} task {row['task']}: {_said(row)}")
    if count < len(failed):
        tell(f"interrupted; {len(failed) - count} judgements are left")
        return EXIT
    rows = [log.rows[args.model, _key(one)] for one in failed]
    choices = choose(looked_at, rows, args.share)
    write(Path(args.output), choices, _made_by(args, rows))
    for choice in choices:
        sys.stdout.write(text(choice))
    return 0


def _folder(args: argparse.Namespace) -> Path | None:
    named = args.data_dir or os.environ.get(DATA_DIR)
    if named and not Path(named).is_dir():
        raise UsageError(f"{named} is no folder")
    if args.jobs < 1 or not 0 < args.share <= 1:
        raise UsageError("--jobs is 1 or more, --share above 0 and at most 1")
    return Path(named) if named else None


def _runs(files: Iterable[str], arm: str) -> Iterator[Run]:
    for file in files:
        for run in read_results(file):
            if run.arm == arm and not run.invalid:
                yield run


def _may(run: Run, folder: Path | None) -> bool:
    return may_learn_from(run.task, run.domain, folder)


def _failed(runs: Sequence[Run], limit: int | None) -> list[Run]:
    """The failed runs, at most `limit` of each model and domain: the same ones for the same files."""
    by_group: dict[tuple[str, str], dict[str, Run]] = defaultdict(dict)
    for run in runs:
        if not run.success:
            by_group[run.model, run.domain][_key(run)] = run
    return [one[key] for one in by_group.values() for key in sorted(one)[:limit]]


def _key(run: Run) -> str:
    whole = canonical([run.model, run.domain, run.task, run.messages])
    return sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def _judged(
    runs: Sequence[Run], args: argparse.Namespace, prefixes: Prefixes, stop: Stop
) -> Iterator[KeptRow]:
    """The judgement of each run, as it is made."""
    endpoint = endpoint_of(args, args.timeout, stop.pause)
    yield from worked((partial(_row, run, endpoint, prefixes) for run in runs), args.jobs, stop)


def _row(run: Run, endpoint: Endpoint, prefixes: Prefixes) -> KeptRow:
    judge = FamaJudge(endpoint=endpoint, usage=EndpointUsage())
    judgement = judged(run, run.policy or "".join(prefixes.of(run.domain, None)[1:]), judge)
    return {
        "run": _key(run),
        "judge": endpoint.model,
        "model": run.model,
        "domain": run.domain,
        "task": run.task,
        **judgement,
        "unread": judge.unread,
        "usage": asdict(judge.usage),
    }


def _said(row: KeptRow) -> str:
    return f"{', '.join(row['causes']) or 'no cause'}; {', '.join(row['helpers']) or 'no helper'}"


def _made_by(args: argparse.Namespace, rows: Sequence[KeptRow]) -> KeptRow:
    """By whom, from what, and at what cost the choice was made."""
    return {
        "model": args.model,
        "arm": args.arm,
        "oracle": args.oracle,
        "share": args.share,
        "requests": sum(row["usage"]["requests"] for row in rows),
        "prompt_tokens": sum(row["usage"]["prompt_tokens"] for row in rows),
        "completion_tokens": sum(row["usage"]["completion_tokens"] for row in rows),
        "unread_answers": sum(row["unread"] for row in rows),
    }


def text(choice: HelperChoice) -> str:
    """A choice in two lines."""
    helpers = ", ".join(choice.helpers) or "none"
    counts = ", ".join(f"{name} {count}" for name, count in choice.causes.items())
    return (
        f"{choice.model}, {choice.domain}: {helpers}\n"
        f"  {choice.failed} failed runs of {len(choice.tasks)} tasks; causes: {counts}\n"
    )
