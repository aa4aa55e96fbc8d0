"""Tables of SOPBench's runs: what the gate stops of what the oracle calls broken."""

from __future__ import annotations

from typing import Any

from tools.markdown import made_by, result, share, table

_COMMAND = "python -m benchmarks.oracle CHECKOUT -o benchmarks/results/sopbench-oracle.json"
_HEAD = (
    "all",
    "solved",
    "wrote",
    "broke a constraint and wrote",
    "… stopped",
    "kept all and wrote",
    "… contradicted",
    "… asked for a read first",
)


def agreement() -> str:
    """By domain and half of the tasks, among the runs that wrote: how gate and oracle agree."""
    rows = [
        (name, half, *_row(row))
        for name, domain in _domains().items()
        for half, row in domain["halves"].items()
    ]
    return table(("domain", "tasks", *_HEAD), rows) + made_by("sopbench-oracle.json", _COMMAND)


def models(domain: str) -> str:
    """The same for one domain, by model."""
    rows = [(name, *_row(row)) for name, row in _domains()[domain]["models"].items()]
    return table(("model", *_HEAD), rows)


def left() -> str:
    """By domain: the runs that broke a constraint and were not stopped, and how they broke it."""
    rows = []
    for name, domain in _domains().items():
        row = domain["all"]
        reads, refused = row["left_by_a_read"], row["left_by_a_refused_write"]
        rest = row["broken"] - row["broken_and_stopped"]
        broken = share(row["broken"], row["runs"])
        rows.append((name, broken, rest, reads, refused, rest - reads - refused))
    head = (
        "domain",
        "broke a constraint",
        "not stopped",
        "… a read before its condition",
        "… a rejected write that the tool refused as well",
        "… else",
    )
    return table(head, rows)


def rules() -> str:
    """By domain: the rules, the constraints without one, and the runs that there are."""
    rows = [
        (
            name,
            domain["rules"],
            ", ".join(f"`{rule.partition('/')[2]}`" for rule in domain["without_a_rule"]) or "-",
            domain["all"]["runs"],
            len(domain["models"]),
            domain["left_out"],
        )
        for name, domain in _domains().items()
    ]
    return table(("domain", "rules", "constraints without one", "runs", "models", "left out"), rows)


def _domains() -> dict[str, Any]:
    domains: dict[str, Any] = result("sopbench-oracle.json")["domains"]
    return domains


def _row(row: dict[str, Any]) -> tuple[object, ...]:
    broken = row["broken_and_stopped"] + row["broken_and_passed"]
    kept = row["kept_and_stopped"] + row["kept_and_passed"]
    return (
        row["runs"],
        row["solved"],
        row["wrote"],
        broken,
        share(row["broken_and_stopped"], broken) if broken else "-",
        kept,
        row["kept_and_violated"],
        row["kept_and_stopped"] - row["kept_and_violated"],
    )
