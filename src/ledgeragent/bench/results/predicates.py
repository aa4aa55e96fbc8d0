"""The table of the paper's predicates, where runs of its arm are reported."""

from __future__ import annotations

from ledgeragent.bench.arms.papergate import PREDICATES
from ledgeragent.bench.results.table import Table

ARM = "ledgeragent-paper"


def predicates() -> Table:
    """The 28, by domain, with their families; the two that the paper names have its names."""
    rows = [
        (domain, one.rule, one.family, one.named)
        for domain, of_domain in PREDICATES.items()
        for one in of_domain
    ]
    named = sum(bool(row[-1]) for row in rows)
    counts = ", ".join(f"{domain} {len(some)}" for domain, some in PREDICATES.items())
    return Table(
        name="predicates",
        title=f"Predicates of {ARM}",
        note=f"{len(rows)}, as many as the paper counts ({counts}). It names {named} of them; the others "
        "are rules of ours that fit its families.",
        columns=("domain", "rule", "family", "the paper's name"),
        rows=tuple(rows),
    )
