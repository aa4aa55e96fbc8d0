"""The options of `bench run`, and of the verbs that run it."""

from __future__ import annotations

import argparse

from ledgeragent.bench.arms.arms import ARMS, SUMMARIES
from ledgeragent.bench.datadir import DATA_DIR
from ledgeragent.bench.datasets.needs import NEEDS
from ledgeragent.bench.running.sides import add_context_role, add_sides

ARMS_HELP = f"arms:\n{SUMMARIES}"
"""For the end of a help text that is printed as it stands."""


ARM_DEFAULTS = {"fama_choice": None, "irma_when": None, "pack": None, "retrieval": None}
"""The options of arms as they are in verbs that do not ask for them."""


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Adds everything but what is run: models, trials, limits, the result file."""
    add_sides(parser)
    parser.add_argument("--trials", type=int, default=4, metavar="N", help="of a task (default 4)")
    parser.add_argument("--tasks", type=int, metavar="N", help="only the first N of each domain")
    parser.add_argument(
        "--seed",
        type=int,
        default=300,
        metavar="N",
        help="of the first trial; each further one has the next (default 300)",
    )
    parser.add_argument(
        "--max-steps", type=int, default=200, metavar="N", help="of a run (default 200)"
    )
    add_context_role(parser)
    parser.add_argument("--timeout", type=float, default=120.0, help="seconds a request may take")
    parser.add_argument(
        "--jobs",
        "--workers",
        dest="workers",
        type=int,
        default=4,
        metavar="N",
        help="runs at a time",
    )
    parser.add_argument(
        "--attempts", type=int, default=4, metavar="N", help="tries of a failed run"
    )
    parser.add_argument("--budget", type=int, metavar="TOKENS", help="start no run past this many")
    add_other_version(parser)
    parser.add_argument("--data-dir", metavar="DIR", help=f"like {DATA_DIR}")


def add_other_version(parser: argparse.ArgumentParser) -> None:
    """Adds --other-version."""
    parser.add_argument(
        "--other-version",
        action="store_true",
        help="go on with a result file that other software made, as the file then says",
    )


def add_retrieval(parser: argparse.ArgumentParser) -> None:
    """Adds --retrieval."""
    parser.add_argument(
        "--retrieval",
        metavar="VARIANT",
        help="how the policy is searched for in a domain where it is, by the harness's name "
        "(default bm25, which asks no API)",
    )


def add_arm_options(parser: argparse.ArgumentParser) -> None:
    """Adds which domains and arms are run."""
    parser.add_argument(
        "--domain",
        action="append",
        metavar="NAME",
        help=f"one of the harness's, or telehealth; default: {', '.join(NEEDS)}",
    )
    parser.add_argument(
        "--pack",
        metavar="PACK",
        help="the pack of every arm that has one: a name, a YAML file or folder, or module:ATTRIBUTE "
        "(default: the shipped one that lists the agent's tools)",
    )
    add_retrieval(parser)
    parser.add_argument(
        "--arm", action="append", choices=tuple(ARMS), help="default: all; see below"
    )
    parser.add_argument(
        "--fama-choice", metavar="FILE", help="the arm fama's helpers, from `bench fama`"
    )
    parser.add_argument(
        "--irma-when",
        choices=("user_turn", "every_step"),
        help="when the arm irma's helpers run (default user_turn)",
    )
