"""The block on replies that were made up: what the gate said of them, and an independent judge."""

from __future__ import annotations

from tools.markdown import made_by, result, table

_FILE = "soundness.json"


def soundness() -> str:
    """A row for each world, and the disagreements by kind."""
    report = result(_FILE)
    rows = [
        (
            name,
            world["replies"],
            world["together"],
            sum(world["verdicts"].values()),
            world["stuck"],
            sum(world["disagreements"].values()),
        )
        for name, world in report["worlds"].items()
    ]
    head = (
        "world",
        "replies",
        "of which several calls were let through",
        "calls judged",
        "that nobody can decide",
        "disagreements",
    )
    kinds = [
        f"* {name}: {count} × {kind}"
        for name, world in report["worlds"].items()
        for kind, count in sorted(world["disagreements"].items())
    ]
    told = "\n".join(kinds) or "No disagreement."
    return f"{table(head, rows)}\n{told}\n{made_by(_FILE, report['command'])}"
