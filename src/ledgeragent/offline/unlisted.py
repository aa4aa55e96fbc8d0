"""Calls of tools that the pack does not list, counted apart, and how much of the runs the pack covers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ledgeragent.domain import Domain
from ledgeragent.offline.caselist import CaseList
from ledgeragent.offline.judging import JudgedCall
from ledgeragent.offline.rows import StoppedCall, run_row, stopped_row
from ledgeragent.offline.traces import Trace
from ledgeragent.verdict import Kind


@dataclass(slots=True, kw_only=True)
class UnlistedCalls:
    """The agent's calls by whether the pack lists the tool; those of different runs add up.

    `covered` and `tools` count calls of listed and of unlisted tools by name, `outcomes` the judged
    calls of unlisted ones. `stopped` are those that executed and would be rejected.
    """

    covered: Counter[str] = field(default_factory=Counter)
    tools: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    stopped: CaseList[StoppedCall] = field(default_factory=CaseList)

    def add(self, other: UnlistedCalls) -> None:
        """Counts `other` in, after everything so far."""
        self.covered.update(other.covered)
        self.tools.update(other.tools)
        self.outcomes.update(other.outcomes)
        self.stopped.add(other.stopped)

    def count(self, trace: Trace, calls: Iterable[JudgedCall], domain: Domain) -> None:
        """Counts the calls of one run; `calls` are the judged ones of unlisted tools."""
        for tool, number in trace.calls_by_tool.items():
            (self.tools if domain.guard(tool) is None else self.covered)[tool] += number
        for one in calls:
            self.outcomes.update(("judged", one.outcome))
            self.outcomes["executed"] += one.executed
            findings = one.verdict.findings if one.executed else ()
            self.stopped.extend(
                stopped_row(run_row(trace), one, finding)
                for finding in findings
                if finding.kind is Kind.VIOLATION
            )
