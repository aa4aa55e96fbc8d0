"""What whoever runs a gateway is warned of: results that no rule can rest on, verdicts left open."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Iterable

from ledgeragent.absorb import Absorption
from ledgeragent.gate import Filtered
from ledgeragent.gateway.metrics import Metrics
from ledgeragent.text import visible
from ledgeragent.verdict import Finding, Kind, Verdict

log = logging.getLogger("ledgeragent.gateway")

INCOMPLETE = "incomplete"
"""A result of which something was stored, though a declared field or a route has nothing in it."""

UNREADABLE = "unreadable"
"""A result of which nothing could be stored."""

_REMEMBERED = 10_000


class Notices:
    """Counts in the metrics, and logs each warning once per conversation and tool."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._given: OrderedDict[tuple[str, str, str], None] = OrderedDict()

    def answered(self, session: str, tool: str, absorption: Absorption) -> None:
        """Notes what is wrong with a result; nothing, if it is as the domain declares it."""
        if not absorption.problems:
            return
        self._metrics.unreadable(tool, INCOMPLETE if absorption.stored else UNREADABLE)
        for problem in absorption.problems:
            self._warn(session, tool, f"a result cannot be relied on: {problem}")

    def judged(self, session: str, replies: Iterable[Filtered]) -> None:
        """Notes the verdicts on these replies that were left open."""
        for filtered in replies:
            for verdict in filtered.verdicts:
                if verdict.undecided:
                    self._warn(session, verdict.call.name, _left_open(verdict))

    def _warn(self, session: str, tool: str, text: str) -> None:
        key = (session, tool, text)
        if key in self._given:
            return
        self._given[key] = None
        if len(self._given) > _REMEMBERED:
            self._given.popitem(last=False)
        log.warning("%s in session %s: %s", visible(tool), visible(session), visible(text))


def _left_open(verdict: Verdict) -> str:
    open_rules = filter(_is_open, (*verdict.findings, *verdict.shadow))
    rules = ", ".join(dict.fromkeys(finding.predicate for finding in open_rules))
    then = "let through" if verdict.allowed else "refused"
    return f"UNDECIDED and {then}, since no tool supplies what is needed by {rules}"


def _is_open(finding: Finding) -> bool:
    return finding.kind is Kind.UNDECIDED
