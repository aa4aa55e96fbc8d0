"""Blocks about the paper's experiments: the arms, what they take, the predicates of the paper's arm."""

from __future__ import annotations

import argparse

from ledgeragent.bench.arms.arms import ARMS
from ledgeragent.bench.arms.papergate import PREDICATES
from ledgeragent.bench.results.predicates import predicates
from ledgeragent.bench.running import reproduce
from ledgeragent.bench.running.estimate import estimate
from tools.markdown import table

_COMMAND = "reproduce table2 --model MODEL --price 0.60,2.50 --user-price 0.25,2.00"


def arms() -> str:
    """Each arm with what it is."""
    return table(("arm", "what it is"), [(f"`{arm.name}`", arm.summary) for arm in ARMS.values()])


def bench_estimate() -> str:
    """What Table 2 takes, as the command says it."""
    parser = argparse.ArgumentParser()
    reproduce.add(parser.add_subparsers())
    args = parser.parse_args(_COMMAND.split())
    args.arm = list(reproduce.ARMS[args.table])
    return f"```\n{estimate(args)}```\n"


def paper_predicates() -> str:
    """The predicates of the paper's arm, domain by domain."""
    listed = predicates()
    counts = [(domain, str(len(some))) for domain, some in PREDICATES.items()]
    rows = [
        (d, f"`{rule}`", family, f"`{name}`" if name else "")
        for d, rule, family, name in listed.rows
    ]
    return table(listed.columns, rows) + "\n" + table(("domain", "predicates"), counts)
