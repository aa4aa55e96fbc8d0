"""docs/reference/gate-checks.md: the checks that the gate makes itself, from the checks themselves."""

from __future__ import annotations

from collections.abc import Iterator

from ledgeragent.offline.gatechecks import CHECKS, GateCheck, gate_samples

_HEAD = """# The gate's own checks

Some checks belong to no pack: the gate makes them for every domain. They appear in verdicts, reports and
journals under these ids. `ledgeragent explain ID` prints the same.
"""


def text() -> str:
    """The page, one section a check."""
    return "\n".join([_HEAD, *(part for check in CHECKS.values() for part in _section(check))])


def _section(check: GateCheck) -> Iterator[str]:
    yield f"## `{check.id}`\n"
    yield f"{check.about}\n"
    yield f"* **Judges** {check.judges}."
    yield f"* **Answers** {check.decision.name} where {check.answers}."
    yield f"* **Accepts** {check.accepts}.\n"
    yield "| call | the gate's answer |\n| --- | --- |"
    for sample in gate_samples(check):
        reason = sample.finding.reason if sample.finding is not None else "allowed"
        yield f"| `{sample.call}` | {reason} |"
    yield ""
