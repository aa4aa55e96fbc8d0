"""Blocks about damaged answers of a model API: what became of them at the gateway."""

from __future__ import annotations

from tools.markdown import made_by, result, table

_FILE = "damages.json"
_OUTCOMES = ("with calls", "without calls", "refused", "faults")


def damages() -> str:
    """Per format, streamed and not: how many answers passed, were refused, and let a write through."""
    report = result(_FILE)
    rows = [
        (name, report["count"], *(outcomes.get(outcome, 0) for outcome in _OUTCOMES))
        for name, outcomes in sorted(report["formats"].items())
    ]
    head = ("format", "damages", "passed with calls", "passed without", "refused", "faults")
    command = f"python -m tests.gateway.damages --count {report['count']} --seed {report['seed']}"
    return table(head, rows) + made_by(_FILE, f"{command} --write")
