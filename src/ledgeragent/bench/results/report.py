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
from ledgeragent.bench.results.drawing import FORMATS, drawn, library
from ledgeragent.bench.results.figures import figures
from ledgeragent.bench.results.reading import read_results
from ledgeragent.bench.results.results import Run
from ledgeragent.bench.results.table import Table
from ledgeragent.bench.results.tables import tables
from ledgeragent.errors import DataError, MissingExtraError, UsageError
from ledgeragent.files.private import write_private
from ledgeragent.text import printable

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
        epilog="A run that cannot be read is told with its file, line and field, and left out. Exits 1 "
        "then, 2 where there is no run that can be read.",
    )
    parser.add_argument(
        "files",
        nargs="+",
        metavar="RESULTS",
        help="result files, or the harness's folders of results; - is stdin",
    )
    parser.add_argument(
        "--domain",
        metavar="NAME",
        help="of runs that name none, as tau-bench's do; unless given, found from their tools",
    )
    parser.add_argument("--format", choices=("markdown", "json", "csv"), default="markdown")
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="write report.md, a CSV and a LaTeX table per table, and each figure",
    )
    parser.add_argument(
        "--figures",
        type=_formats,
        metavar="FORMATS",
        help="with -o: pdf,png,svg (default: all three if matplotlib is installed), or none",
    )
    parser.add_argument(
        "--held-out",
        metavar="CHOICE",
        help="a choice of `bench fama`: leaves out the tasks that it was made from, in every arm",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Reads and reports. 1 where some runs could not be read; DataError for a file without one."""
    if args.figures and not args.output:
        raise UsageError("--figures needs -o: pictures go into files")
    broken: list[DataError] = []
    runs = [run for file in args.files for run in read_results(file, args.domain, broken.append)]
    for problem in broken:
        print(f"ledgeragent: skipped: {problem}", file=sys.stderr)
    if args.held_out:
        runs = _held_out(runs, args.held_out)
    report_tables = tables(runs)
    if args.output:
        write_report(Path(args.output), runs, args.figures, left_out=len(broken))
        return 1 if broken else 0
    match args.format:
        case "json":
            text = json.dumps([asdict(table) for table in report_tables], indent=2) + "\n"
        case "csv":
            text = "\n".join(f"# {table.title}\n{table.csv()}" for table in report_tables)
        case _:
            text = "\n".join(table.markdown() for table in report_tables)
    sys.stdout.write(text)
    return 1 if broken else 0


def _held_out(runs: Sequence[Run], file: str) -> list[Run]:
    """The runs of tasks that the choice of FAMA's helpers was not made from."""
    learned_from = {(one.model, one.domain, task) for one in read(file) for task in one.tasks}
    left = [run for run in runs if (run.model, run.domain, run.task) not in learned_from]
    print(f"ledgeragent: {len(runs) - len(left)} runs are left out", file=sys.stderr)
    if not left:
        raise DataError("was made from every task there is a run of", file=file)
    return left


def _formats(argument: str) -> tuple[str, ...]:
    names = tuple(name for name in argument.split(",") if name and name != "none")
    if unknown := set(names) - set(FORMATS):
        raise argparse.ArgumentTypeError(f"no format of figures: {', '.join(sorted(unknown))}")
    return names


def _wanted(formats: tuple[str, ...] | None) -> tuple[str, ...]:
    """The formats asked for; by default all, or none, told, where they can't be drawn."""
    if formats is not None:
        return formats
    try:
        library()
    except MissingExtraError as error:
        print(f"ledgeragent: the figures are left out: {error}", file=sys.stderr)
        return ()
    return FORMATS


def write_report(
    folder: Path, runs: Sequence[Run], formats: tuple[str, ...] | None = None, *, left_out: int = 0
) -> None:
    """The whole report as files; figures in these formats, by default in all that can be drawn.

    `left_out` is how many runs could not be read, which the page tells.
    """
    remark = f"{left_out} runs could not be read and are left out.\n" if left_out else ""
    write(folder, tables(runs), figures(runs), _wanted(formats), remark)


def write(
    folder: Path,
    report_tables: Sequence[Table],
    charts: Sequence[Chart],
    formats: Sequence[str],
    remark: str = "",
) -> None:
    """The whole report as files; MissingExtraError if figures can't be drawn."""
    charts = charts if formats else ()
    page = _page(report_tables, charts, formats, remark)
    files: dict[str, bytes] = {"report.md": page.encode()}
    files |= {f"{table.name}.csv": table.csv().encode() for table in report_tables}
    files |= {f"{table.name}.tex": table.latex().encode() for table in report_tables}
    for chart in charts:
        files |= {f"{chart.name}.{kind}": data for kind, data in drawn(chart, formats).items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            write_private(folder / name, content)
    except OSError as error:
        raise DataError(error.strerror or str(error), file=str(folder)) from None


def _page(
    report_tables: Sequence[Table], charts: Sequence[Chart], formats: Sequence[str], remark: str
) -> str:
    kind = next((kind for kind in ("svg", "png", "pdf") if kind in formats), "")
    pictures = [
        f"## {printable(chart.title)}\n\n![{chart.name}]({chart.name}.{kind})\n" for chart in charts
    ]
    head = ["# Report\n", *([remark] if remark else [])]
    return "\n".join([*head, *(table.markdown() for table in report_tables), *pictures])
