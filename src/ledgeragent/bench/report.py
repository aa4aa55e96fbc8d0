"""`ledgeragent bench report`: tables and figures from result files."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.bench.figures import bars, svg
from ledgeragent.bench.metrics import KS
from ledgeragent.bench.results import Run, read_results
from ledgeragent.bench.tables import Table, tables
from ledgeragent.errors import DataError

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
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Reads and reports. Always 0; DataError for a file without a scored run."""
    runs = [run for file in args.files for run in read_results(file)]
    made = tables(runs)
    if args.output:
        write(Path(args.output), made, runs)
        return 0
    match args.format:
        case "json":
            text = json.dumps([asdict(table) for table in made], indent=2) + "\n"
        case "csv":
            text = "\n".join(f"# {table.title}\n{table.csv()}" for table in made)
        case _:
            text = "\n".join(table.markdown() for table in made)
    sys.stdout.write(text)
    return 0


def write(folder: Path, made: list[Table], runs: list[Run]) -> None:
    """The whole report as files."""
    figures = {f"pass_{k}": svg(f"pass^{k}", drawn) for k in KS if (drawn := bars(runs, k))}
    shown = [f"![{name}]({name}.svg)" for name in figures]
    parts = ["# Report\n", *(table.markdown() for table in made), *shown]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "report.md").write_text("\n".join(parts) + "\n", encoding="utf-8")
        for table in made:
            (folder / f"{table.name}.csv").write_text(table.csv(), encoding="utf-8")
        for name, text in figures.items():
            (folder / f"{name}.svg").write_text(text, encoding="utf-8")
    except OSError as error:
        raise DataError(error.strerror or str(error), file=str(folder)) from None
