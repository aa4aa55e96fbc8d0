"""The table of SOPBench's runs: what the gate stops of what the oracle calls broken."""

from __future__ import annotations

from typing import Any

from tools.markdown import made_by, result, share, table

_COMMAND = "python -m benchmarks.oracle CHECKOUT -o benchmarks/results/sopbench-oracle.json"


def agreement() -> str:
    """By half of the tasks and by model, among the runs that wrote: how gate and oracle agree."""
    measured = result("sopbench-oracle.json")
    halves = {f"{name} tasks": row for name, row in measured["halves"].items()}
    rows = [_row(name, row) for name, row in [*halves.items(), *measured["models"].items()]]
    head = (
        "runs",
        "all",
        "solved",
        "wrote",
        "broke a constraint and wrote",
        "… stopped",
        "kept all and wrote",
        "… contradicted",
        "… asked for a read first",
    )
    return table(head, rows) + made_by("sopbench-oracle.json", _COMMAND)


def _row(name: str, row: dict[str, Any]) -> tuple[object, ...]:
    broken = row["broken_and_stopped"] + row["broken_and_passed"]
    kept = row["kept_and_stopped"] + row["kept_and_passed"]
    return (
        name,
        row["runs"],
        row["solved"],
        row["wrote"],
        broken,
        share(row["broken_and_stopped"], broken) if broken else "-",
        kept,
        row["kept_and_violated"],
        row["kept_and_stopped"] - row["kept_and_violated"],
    )


def domains() -> str:
    """By domain: the runs that can be had, and the oracle's verdicts on them."""
    rows = [
        (name, row["runs"], row["left_out"], row["solved"], share(row["broken"], row["runs"]))
        for name, row in result("sopbench-oracle.json")["domains"].items()
    ]
    head = ("domain", "runs", "left out", "solved", "broke a constraint")
    return table(head, rows) + made_by("sopbench-oracle.json", _COMMAND)
