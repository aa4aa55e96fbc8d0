"""`ledgeragent bench ab`: a model without and with LedgerAgent, on the shop and on airline."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.bench.ab.page import GUARDED, PLAIN, GateStop, page, stopped_in
from ledgeragent.bench.ab.toolcheck import ToolSupport, tool_support
from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.results.reading import read_results
from ledgeragent.bench.running.interrupts import EXIT
from ledgeragent.bench.running.progress import tell
from ledgeragent.bench.running.provenance import made_by
from ledgeragent.bench.running.run import check_options, experiment
from ledgeragent.bench.running.runoptions import ARM_DEFAULTS, add_run_options
from ledgeragent.bench.running.sides import agent_side
from ledgeragent.bench.shop.verb import played, shop_endpoint
from ledgeragent.errors import DataError, UsageError
from ledgeragent.files.private import write_private
from ledgeragent.offline.sources import pieces, records

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_SHOP, _AIRLINE = "shop", "airline"
_MOST_SHOP_MESSAGES = 40
"""As in `bench shop`; `--max-steps` may say less."""


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "ab",
        help="your model without and with LedgerAgent, with a page of results",
        description="Plays the shop's forty scripted customers and, where the tau2 harness and its data "
        "are there, airline's fifty tasks, by the plain agent (fc) and by LedgerAgent, and writes "
        "report.md: pass^k, the paired difference with its interval, the cost, and every call that was "
        "stopped with the facts that decided. Started again, it does what is missing.",
        epilog="Before anything is played, the server is asked to call a tool. Exits 0 if all is "
        "played, 1 if some runs are left, 2 if the server ignores `tools`.",
    )
    add_run_options(parser)
    parser.add_argument(
        "--part", action="append", choices=(_SHOP, _AIRLINE), help="default: both, where possible"
    )
    parser.add_argument(
        "-o", "--output", required=True, metavar="DIR", help="results and report.md"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Plays what is missing and writes the page."""
    if args.data_dir:
        os.environ[DATA_DIR] = args.data_dir
    check_options(args)
    remark = _tool_remark(args)
    parts = args.part or [_SHOP, *([_AIRLINE] if _has_harness() else [])]
    folder = Path(args.output)
    folder.mkdir(parents=True, exist_ok=True)
    code = 0
    for part in parts:
        code = _shop(args, folder) if part == _SHOP else _airline(args, folder)
        if code == EXIT:
            return code
    _write(args, folder, remark)
    return code


def _has_harness() -> bool:
    if find_spec("tau2") is not None:
        return True
    tell("airline is left out: the tau2 harness is not installed (pip install 'ledgeragent[tau2]')")
    return False


def _tool_remark(args: argparse.Namespace) -> str:
    """What the page says of how the server takes tools; UsageError if it takes none."""
    hearing = tool_support(shop_endpoint(args, agent_side(args)))
    if hearing.support is ToolSupport.NEVER:
        raise UsageError(str(hearing))
    if hearing.support is ToolSupport.WHEN_FORCED:
        tell(str(hearing))
        return f"**Asked to call a tool, {hearing}.**\n"
    return ""


def _shop(args: argparse.Namespace, folder: Path) -> int:
    options = {**vars(args), "arms": (PLAIN, GUARDED), "mode": "full"}
    options["most"] = min(args.max_steps, _MOST_SHOP_MESSAGES)
    options |= {"jobs": args.workers, "output": str(folder / "shop.jsonl")}
    options["tasks"] = _first_tasks(args.tasks)
    return EXIT if played(argparse.Namespace(**options)) is None else 0


def _first_tasks(count: int | None) -> tuple[str, ...] | None:
    from ledgeragent.bench.shop.tasks import tasks

    return None if count is None else tuple(task.id for task in tasks()[:count])


def _airline(args: argparse.Namespace, folder: Path) -> int:
    options = {**vars(args), **ARM_DEFAULTS, "domain": [_AIRLINE], "arm": [PLAIN, GUARDED]}
    options["output"] = str(folder / "airline.jsonl")
    return experiment(argparse.Namespace(**options))


def _write(args: argparse.Namespace, folder: Path, remark: str) -> None:
    files = [file for file in (folder / "shop.jsonl", folder / "airline.jsonl") if file.exists()]
    runs = [run for file in files for run in read_results(str(file))]
    stopped = [stop for file in files for stop in _stopped(file)]
    text = page(args.model, runs, stopped, [_origin(args), *([remark] if remark else [])])
    write_private(folder / "report.md", text.encode("utf-8"))
    sys.stdout.write(text)


def _origin(args: argparse.Namespace) -> str:
    software = made_by(())
    commit = f" at {software['commit']}" if software["commit"] else ""
    options = json.dumps(dict(agent_side(args).options))
    return (
        f"LedgerAgent {software['ledgeragent']}{commit}, options {options}, {args.trials} trials. What "
        "made each run is in the result files beside this page.\n"
    )


def _stopped(file: Path) -> Iterator[GateStop]:
    """The stopped calls of a result file; DataError, with the line, for one that is not told as such."""
    for piece in pieces(str(file)):
        for line, row in records(piece):
            if not isinstance(row, dict) or "settings" in row:
                continue
            try:
                yield from stopped_in(row)
            except ValueError as problem:
                words = f"not a stopped call: {problem}"
                raise DataError(words, file=str(file), line=line) from None
