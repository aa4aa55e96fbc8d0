"""Markdown of the generated blocks: tables, and where their figures come from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
DOMAINS = ("airline", "retail", "telecom", "telehealth")


def result(name: str) -> dict[str, Any]:
    """The committed result file of this name."""
    report: dict[str, Any] = json.loads((RESULTS / name).read_text(encoding="utf-8"))
    return report


def table(head: Sequence[object], rows: Iterable[Sequence[object]]) -> str:
    """A table with these columns."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def made_by(file: str, command: str) -> str:
    """The line below a table that names its result file and the command that writes it."""
    return f"\n*From `benchmarks/results/{file}`, made by `{command}`.*\n"


def share(part: int, whole: int) -> str:
    """A count with its percentage of `whole`."""
    return f"{part} ({100 * part / whole:.1f}%)" if whole else str(part)


def microseconds(value: float) -> str:
    """A time in microseconds."""
    return f"{value:,.1f} µs"
