"""Measures the gate against SOPBench's own verdict on each run, by domain, model and half of the tasks.

    python -m benchmarks.oracle CHECKOUT -o benchmarks/results/sopbench-oracle.json

CHECKOUT is a checkout of SOPBench with the trajectories of its `output/`. Every run there has the
oracle's `constraint_not_violated`. A run counts as stopped where the gate, with the rules that the
prompt states, rejects a write that was done. Packs were written by the even tasks; odd ones are new.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.oracle.outcome import Outcome, counts, outcome, reasons
from benchmarks.oracle.pack import Pack
from benchmarks.oracle.packs import PACKS
from benchmarks.oracle.runs import is_whole

FILES = "ast_*-mode_fc-*tool_full-*.json"
"""Runs of agents that call functions and have all tools."""


def of_domain(folder: Path, pack: Pack) -> dict[str, Any]:
    """The counts of one domain, in all, by half and by model."""
    models: dict[str, list[Outcome]] = {}
    halves: dict[str, list[Outcome]] = {"even": [], "odd": []}
    stated: set[str] = set()
    left_out = 0
    for file in sorted(folder.glob(FILES)):
        model = file.name.removeprefix("ast_").partition("-mode_fc")[0]
        for number, record in enumerate(_records(file)):
            if not is_whole(record):
                left_out += 1
                continue
            one = outcome(record, pack)
            models.setdefault(model, []).append(one)
            halves["odd" if number % 2 else "even"].append(one)
            stated |= pack.stated(record["task"])
    every = [one for half in halves.values() for one in half]
    rules = {rule.id for rule in (*pack.domain.predicates, *pack.reads)}
    return {
        "rules": len(pack.domain.predicates),
        "without_a_rule": sorted(stated - rules),
        "left_out": left_out,
        "all": counts(every),
        "halves": {name: counts(outcomes) for name, outcomes in halves.items()},
        "models": {name: counts(outcomes) for name, outcomes in models.items()},
        **reasons(every),
    }


def _records(file: Path) -> Iterator[dict[str, Any]]:
    yield from json.loads(file.read_text(encoding="utf-8"))


def measured(folder: Path) -> dict[str, Any]:
    """The counts of each domain that there is a pack for, and trajectories."""
    return {
        name: of_domain(folder / name, pack)
        for name, pack in PACKS.items()
        if any((folder / name).glob(FILES))
    }


def main(arguments: list[str] | None = None) -> int:
    """Measures and writes; 2 where the folder is no checkout with trajectories."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.oracle", description=__doc__)
    parser.add_argument("checkout", type=Path, help="a checkout of SOPBench")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="the result, as JSON")
    args = parser.parse_args(arguments)
    folder = args.checkout / "output"
    domains = measured(folder)
    if not domains:
        sys.stderr.write(f"error: {folder} holds no trajectories ({next(iter(PACKS))}/{FILES})\n")
        return 2
    text = json.dumps({"domains": domains}, indent=1) + "\n"
    if args.output is None:
        sys.stdout.write(text)
    else:
        args.output.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
