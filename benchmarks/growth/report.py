"""The report of what was measured, part by part, and what is too steep in it."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.growth.curve import STEEPEST, Curve
from benchmarks.growth.port import conversations, history
from benchmarks.growth.process import journals, records, rules, sessions
from benchmarks.growth.runs import runs
from benchmarks.growth.workers import workers

RESULT = Path(__file__).parents[1] / "results" / "growth.json"
REQUESTS_A_CONVERSATION = 12
"""Of a recorded run of the retail benchmark, about: the calls of the model."""


def cost(report: dict[str, Any]) -> dict[str, Any]:
    """Core-hours for a million conversations, from what was measured."""
    parts = report["parts"]
    gateway = parts["workers"]["gateway_ms_a_request"] * REQUESTS_A_CONVERSATION
    base = parts["workers"]["database_ms_a_request"] * REQUESTS_A_CONVERSATION
    size, again = list(parts["runs"][0]["milliseconds"].items())[-1]
    hours = 1_000_000 / 3_600_000
    return {
        "requests_a_conversation": REQUESTS_A_CONVERSATION,
        "gateway_core_hours": round(gateway * hours, 2),
        "database_core_hours": round(base * hours, 2),
        "judged_again_core_hours": round(again / int(size) * hours, 3),
    }


PARTS = ("records", "rules", "history", "conversations", "sessions", "journals", "runs", "workers")


def measured(name: str, most_runs: int) -> Any:
    """The curves of a part, or what workers do."""
    plain: dict[str, Callable[[], Sequence[Curve]]] = {
        "records": records,
        "rules": rules,
        "history": history,
        "conversations": conversations,
        "sessions": sessions,
        "journals": journals,
        "runs": lambda: runs(most_runs),
    }
    return workers() if name == "workers" else [curve.report() for curve in plain[name]()]


def written(parts: dict[str, Any]) -> None:
    """Writes the result of what has been measured by now."""
    report = {
        "command": "make bench-growth",
        "python": platform.python_version(),
        "machine": platform.machine(),
        "parts": {name: parts[name] for name in PARTS if name in parts},
    }
    if {"runs", "workers"} <= parts.keys():
        report["a_million_conversations"] = cost(report)
    RESULT.write_text(json.dumps(report, indent=1) + "\n")


def steep(parts: dict[str, Any]) -> list[str]:
    """What grows faster than it may."""
    return [
        f"{curve['what']}: {curve['exponent']}"
        for name, curves in parts.items()
        if name != "workers"
        for curve in curves
        if curve["exponent"] > STEEPEST
    ]
