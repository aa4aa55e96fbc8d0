"""How much of recorded runs a pack covers: which tools that were called it lists, and which not."""

from __future__ import annotations

from collections import Counter

from ledgeragent.offline.unlisted import UnlistedCalls
from ledgeragent.report.parts import shorten
from ledgeragent.types import Json

_MOST_TOOLS = 30


def covered_lines(calls: UnlistedCalls, domain: str) -> list[str]:
    """What the pack covers, where it does not cover everything that was called."""
    if not calls.tools:
        return []
    covered, others = calls.covered, calls.tools
    tools, total = len(covered) + len(others), covered.total() + others.total()
    names = _names(others)
    number = calls.outcomes["judged"]
    rest = f"{number} judged, counted apart" if number else "not judged"
    return [
        f"{domain} covers {len(covered)} of {tools} tools that were called, "
        f"and {covered.total()} of {total} calls",
        *([f"  it lists {_names(covered)}"] if covered else []),
        f"  it does not list {names}: {rest} (--unknown-tools)",
    ]


def coverage_json(calls: UnlistedCalls) -> Json:
    """The same as data: calls by tool."""
    return {
        "calls": calls.covered.total() + calls.tools.total(),
        "calls_covered": calls.covered.total(),
        "tools": dict(sorted(calls.covered.items())),
        "unknown_tools": dict(sorted(calls.tools.items())),
    }


def _names(counts: Counter[str]) -> str:
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    names = [f"{shorten(name)} ({number})" for name, number in ranked[:_MOST_TOOLS]]
    more = len(ranked) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
