"""Causes of a rejection that will pass: calls whose results are on their way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ledgeragent.types import ToolCall
from ledgeragent.verdict import Decision, Finding, Verdict


def causes(verdict: Verdict, open_calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    """The open calls without whose results the verdict would not be what it is.

    () for an allowed call, and for one that something else is against as well.
    """
    if verdict.decision is not Decision.REVISE:
        return ()
    calls: list[ToolCall] = []
    for finding in verdict.findings:
        of_finding = _causes(finding, open_calls)
        if not of_finding:
            return ()
        calls += of_finding
    return tuple(calls)


def _causes(finding: Finding, open_calls: Sequence[ToolCall]) -> Iterable[ToolCall]:
    """The writes that a finding waits for, or else the reads under way of those that it asks for."""
    if finding.waits_for:
        return finding.waits_for
    return [
        call for call in open_calls if any(_supplies(call, request) for request in finding.reads)
    ]


def _supplies(call: ToolCall, request: ToolCall) -> bool:
    """True if a call is the read that is asked for, up to what only the user could tell."""
    if call.name != request.name or call.malformed is not None:
        return False
    return all(str(call.arguments.get(name)) == str(v) for name, v in request.arguments.items())
