"""`ledgeragent bench report`: tables and figures from result files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.bench.arms.fama.choice import read
from ledgeragent.bench.results.charts import Chart
from ledgeragent.bench.results.figures import figures
from ledgeragent.bench.results.png import png
from ledgeragent.bench.results.results import Run, read_results
from ledgeragent.bench.results.table import Table
from ledgeragent.bench.results.tables import tables
from ledgeragent.errors import DataError, UsageError
from ledgeragent.files.private import write_private

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "report",
        help="tables and figures from result files",
        description="Reads result files of any arm (ours, the tau2 harness's, tau-bench's) and "
        "reports pass^k, tasks that change the world, cost over fc and failure classes, beside the "
        "paper's own numbers.",
    )
    parser.add_argument("files", nargs="+", metavar="RESULTS", help="result files; - is stdin")
    parser.add_argument("--format", choices=("markdown", "json", "csv"), default="markdown")
    parser.add_argument(
        "-o", "--output", metavar="DIR", help="write report.md, a CSV per table, an SVG per figure"
    )
    parser.add_argument("--png", action="store_true", help="with -o, a PNG of each figure too")
    parser.add_argument(
        "--held-out",
        metavar="CHOICE",
        help="a choice of `bench fama`: leaves out the tasks that it was made from, in every arm",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Reads and reports. Always 0; DataError for a file without a scored run."""
    if args.png and not args.output:
        raise UsageError("--png needs -o: pictures go into files")
    runs = [run for file in args.files for run in read_results(file)]
    if args.held_out:
        runs = _held_out(runs, args.held_out)
    report_tables = tables(runs)
    if args.output:
        write(Path(args.output), report_tables, figures(runs), with_png=args.png)
        return 0
    match args.format:
        case "json":
            text = json.dumps([asdict(table) for table in report_tables], indent=2) + "\n"
        case "csv":
            text = "\n".join(f"# {table.title}\n{table.csv()}" for table in report_tables)
        case _:
            text = "\n".join(table.markdown() for table in report_tables)
    sys.stdout.write(text)
    return 0


def _held_out(runs: Sequence[Run], file: str) -> list[Run]:
    """The runs of tasks that the choice of FAMA's helpers was not made from."""
    learned_from = {(one.model, one.domain, task) for one in read(file) for task in one.tasks}
    left = [run for run in runs if (run.model, run.domain, run.task) not in learned_from]
    print(f"ledgeragent: {len(runs) - len(left)} runs are left out", file=sys.stderr)
    if not left:
        raise DataError("was made from every task there is a run of", file=file)
    return left


def write(
    folder: Path, report_tables: Sequence[Table], charts: Sequence[Chart], with_png: bool
) -> None:
    """The whole report as files; MissingExtraError if pictures can't be made."""
    files: dict[str, bytes] = {"report.md": _page(report_tables, charts).encode()}
    files |= {f"{table.name}.csv": table.csv().encode() for table in report_tables}
    for chart in charts:
        drawn = chart.svg()
        files[f"{chart.name}.svg"] = drawn.encode()
        if with_png:
            files[f"{chart.name}.png"] = png(drawn)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            write_private(folder / name, content)
    except OSError as error:
        raise DataError(error.strerror or str(error), file=str(folder)) from None


def _page(report_tables: Sequence[Table], charts: Sequence[Chart]) -> str:
    pictures = [f"## {chart.title}\n\n![{chart.name}]({chart.name}.svg)\n" for chart in charts]
    return "\n".join(["# Report\n", *(table.markdown() for table in report_tables), *pictures])
