"""`ledgeragent bench`: benchmark environments, runs and reports; one sub-verb each."""

from __future__ import annotations

import argparse
from importlib import import_module
from typing import TYPE_CHECKING

from ledgeragent.cli.verbs import VERBS

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

SUBVERBS = (
    "ab.verb",
    "datasets.verb",
    "telehealth.verb",
    "tokens.cost",
    "arms.fama.verb",
    "gold",
    "probes.probe",
    "results.report",
    "running.reproduce",
    "running.run",
    "shop",
    "tau2.run",
)
"""Each is a module of `ledgeragent.bench` with `add(subparsers)`."""


def add(subparsers: Subparsers) -> None:
    """Adds the verb and its sub-verbs to the command line."""
    parser = subparsers.add_parser(
        "bench",
        help=VERBS["bench"],
        description="The paper's experiments and what surrounds them: runs, arms, reports, probes.",
    )
    verbs = parser.add_subparsers(dest="bench", metavar="SUBVERB", required=True)
    for name in SUBVERBS:
        import_module(f"ledgeragent.bench.{name}").add(verbs)
