"""`ledgeragent bench gold`: does an arm's gate let every gold action of a benchmark pass?"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.running.runoptions import add_retrieval
from ledgeragent.types import Json

if TYPE_CHECKING:
    from ledgeragent.bench.tau2.gold import GoldRun

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_GATED = tuple(arm.name for arm in ARMS.values() if arm.kind == "ledger")


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "gold",
        help="play each task's gold actions through an arm",
        description="Plays each task's gold actions through an arm on the tau2 harness, with the "
        "reads that its gate asks for, and has the harness score the result. What only a judge can "
        "score is left out of the reward.",
        epilog="Exits 0 if every reward is 1 and no gold action that changes a record was rejected.",
    )
    parser.add_argument(
        "--domain", required=True, action="append", metavar="NAME", help="may be given again"
    )
    parser.add_argument("--arm", choices=_GATED, default="ledgeragent")
    parser.add_argument("--tasks", type=int, metavar="N", help="only the first N of each domain")
    add_retrieval(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--data-dir", metavar="DIR", help=f"like {DATA_DIR}")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Plays and reports. 1 if a reward is not 1 or an effective gold action was rejected."""
    from ledgeragent.bench.tau2.run import signature

    if args.data_dir:
        os.environ[DATA_DIR] = args.data_dir
    failed = False
    by_domain: dict[str, Json] = {}
    with tempfile.TemporaryDirectory(prefix="ledgeragent-") as scratch:
        for domain in args.domain:
            runs = list(_played(domain, args, Path(scratch)))
            line, _, hashed = signature(domain).partition(" data:")
            by_domain[domain] = {"harness": line, "data": hashed, **report(runs)}
            if args.format == "text":
                sys.stdout.write(text(domain, runs))
            failed = failed or any(is_failure(run) for run in runs)
    if args.format == "json":
        sys.stdout.write(json.dumps(by_domain, indent=1) + "\n")
    return 1 if failed else 0


def _played(domain: str, args: argparse.Namespace, scratch: Path) -> Iterator[GoldRun]:
    from ledgeragent.adapters.tau2 import harness
    from ledgeragent.bench.tau2 import gold
    from ledgeragent.bench.tau2.retrieval import variant_of
    from ledgeragent.bench.tau2.run import prepare, require_domain

    # The harness logs every step of every run, megabytes of it; here only the outcome counts.
    harness("loguru").logger.remove()
    prepare(scratch)
    registry = harness("tau2.registry").registry
    require_domain(domain, registry.get_domains())
    variant = variant_of(domain, args.retrieval)
    gc.freeze()
    for task in registry.get_tasks_loader(domain)("base")[: args.tasks]:
        with _uncollected():
            played = gold.play(domain, task, args.arm, variant)
        yield played


@contextmanager
def _uncollected() -> Iterator[None]:
    """Leaves garbage for the end: the harness builds whole databases, and searching those for it
    takes half of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect()


def report(runs: list[GoldRun]) -> dict[str, Json]:
    """The counts of a domain's runs, and every one that fell short or met a rejection."""
    noted = [run for run in runs if run.reward != 1.0 or run.rejections]
    return {
        "tasks": len(runs),
        "reward_1": sum(run.reward == 1.0 for run in runs),
        "judged_in_part": sum(run.needs_judge for run in runs),
        "gold_writes": sum(run.writes for run in runs),
        "rejected_gold_writes": sum(r.effective for run in runs for r in run.rejections),
        "rejected_without_effect": sum(not r.effective for run in runs for r in run.rejections),
        "extra_reads": sum(run.reads for run in runs),
        "noted": [asdict(run) for run in noted],
    }


def is_failure(run: GoldRun) -> bool:
    """True if the run did not earn its reward, or an action it needs was rejected."""
    return run.reward != 1.0 or any(rejection.effective for rejection in run.rejections)


def text(domain: str, runs: list[GoldRun]) -> str:
    """One line of counts, then what went wrong, or was rejected with no loss."""
    rejected = [(run, rejection) for run in runs for rejection in run.rejections]
    lines = [
        f"{domain}: {len(runs)} tasks, reward 1 in {sum(run.reward == 1.0 for run in runs)}, "
        f"rejected gold writes {sum(r.effective for _, r in rejected)} "
        f"of {sum(run.writes for run in runs)}, "
        f"extra reads {sum(run.reads for run in runs)}, "
        f"part left to a judge in {sum(run.needs_judge for run in runs)}"
    ]
    lines += [f"  task {run.task}: reward {run.reward}" for run in runs if run.reward != 1.0]
    for run, rejection in rejected:
        note = "" if rejection.effective else " (its tool refuses it too)"
        lines.append(f"  task {run.task}: {rejection.decision} {rejection.call}{note}")
        lines.append(f"    {rejection.reason}")
    return "\n".join(lines) + "\n"
