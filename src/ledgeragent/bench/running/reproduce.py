"""`ledgeragent bench reproduce`: a table of the paper by one command, ours beside the paper's."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.datasets.needs import NEEDS
from ledgeragent.bench.results.reading import read_results
from ledgeragent.bench.results.report import write_report
from ledgeragent.bench.results.tables import tables
from ledgeragent.bench.running.estimate import add_prices, estimate
from ledgeragent.bench.running.interrupts import EXIT
from ledgeragent.bench.running.run import check_options, experiment
from ledgeragent.bench.running.runoptions import ARM_DEFAULTS, add_run_options
from ledgeragent.errors import UsageError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

ARMS = {
    "table2": ("fc", "ledgeragent-paper", "ledgeragent"),
    "table3": ("fc", "irma", "ledgeragent-paper", "ledgeragent"),
}
"""The arms that each of the paper's tables compares, with its method as it has it and as we do."""

_SHOWN = {
    "table2": ("main", "gains", "predicates"),
    "table3": ("overhead", "helpers", "predicates"),
}


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "reproduce",
        help="a table of the paper, ours beside the paper's",
        description="Plays what a table of the paper compares (4 trials, temperature 0, all domains "
        "whose data is there), resumes what was begun, writes the whole report, and prints the table "
        "with the paper's own numbers. Table 2 compares fc with LedgerAgent, table 3 adds IRMA.",
        epilog="The paper's customer is played by GPT-5-mini: --user-model. Exits like `bench run`.",
    )
    parser.add_argument("table", choices=tuple(ARMS))
    parser.add_argument("--domain", action="append", choices=tuple(NEEDS), help="default: all four")
    add_run_options(parser)
    add_prices(parser)
    parser.add_argument("-o", "--output", metavar="DIR", help="results and report; needed to run")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Plays, reports, prints."""
    if args.data_dir:
        os.environ[DATA_DIR] = args.data_dir
    check_options(args)
    options = {**vars(args), **ARM_DEFAULTS, "arm": list(ARMS[args.table])}
    # The schedule that comes near the overhead that the paper's comparison reports.
    options["irma_when"] = "every_step" if args.table == "table3" else None
    if args.estimate:
        sys.stdout.write(estimate(argparse.Namespace(**options)))
        return 0
    if args.output is None:
        raise UsageError("say with -o DIR where results and report go")
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    results = folder / f"{args.table}.jsonl"
    options["output"] = str(results)
    code = experiment(argparse.Namespace(**options))
    if code == EXIT:
        return code
    runs = list(read_results(str(results)))
    write_report(folder / "report", runs)
    of_paper = [table for table in tables(runs) if table.name in _SHOWN[args.table]]
    sys.stdout.write("\n".join(table.markdown() for table in of_paper))
    return code
