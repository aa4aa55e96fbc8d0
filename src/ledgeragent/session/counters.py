"""Counters of a policy's work, in Prometheus' text format: the same names at every door."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from ledgeragent.absorb import Absorption
from ledgeragent.verdict import Verdict

OTHER = "other"
"""Stands for every tool that the domain does not list, so that a model cannot make up labels."""

INCOMPLETE = "incomplete"
"""A result of which something was stored, though a declared field or a route has nothing in it."""

UNREADABLE = "unreadable"
"""A result of which nothing could be stored."""


@dataclass(slots=True)
class ToolCounters:
    """Verdicts on calls of `tools` and of others, and results that are not as the domain declares."""

    tools: frozenset[str]
    decisions: Counter[tuple[str, str]] = field(default_factory=Counter)
    unread: Counter[tuple[str, str]] = field(default_factory=Counter)

    def decided(self, verdict: Verdict) -> None:
        """Counts a verdict."""
        self.decisions[self._label(verdict.call.name), verdict.word] += 1

    def absorbed(self, tool: str, absorption: Absorption) -> None:
        """Counts a result, if something is wrong with it."""
        if absorption.problems:
            self.unreadable(tool, INCOMPLETE if absorption.stored else UNREADABLE)

    def unreadable(self, tool: str, reason: str) -> None:
        """Counts a result that is not as the domain declares it, for one of a few reasons."""
        self.unread[self._label(tool), reason] += 1

    def _label(self, tool: str) -> str:
        return tool if tool in self.tools else OTHER

    def lines(self) -> Iterator[str]:
        """The samples, as Prometheus reads them."""
        yield "# TYPE ledgeragent_decisions_total counter"
        for (tool, decision), count in sorted(self.decisions.items()):
            labels = f'tool="{tool}",decision="{decision}"'
            yield f"ledgeragent_decisions_total{{{labels}}} {count}"
        yield "# TYPE ledgeragent_unread_results_total counter"
        for (tool, reason), count in sorted(self.unread.items()):
            yield f'ledgeragent_unread_results_total{{tool="{tool}",reason="{reason}"}} {count}'
