"""The table of public result files, beside the figures that their authors published."""

from __future__ import annotations

from tools.markdown import made_by, result, table


def published() -> str:
    """For each file: what it is, and pass^1, pass^2, … as published and as `bench report` has them."""
    report = result("published.json")
    rows = [
        (
            f"`{row['repository']}` at {row['commit'][:7]}",
            f"`{row['file'].rpartition('/')[2]}`",
            row["domain"],
            f"{row['tasks']}, {row['runs']}",
            f"{', '.join(row['figures'])} ({row['where']})",
            ", ".join(row["reported"]),
        )
        for row in report["files"]
    ]
    head = ("repository", "file", "domain", "tasks, runs", "published", "`bench report`")
    return table(head, rows) + made_by("published.json", report["command"])
