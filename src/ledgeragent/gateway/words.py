"""Verdicts in words, as headers, counters and spans tell them: UNDECIDED is never plain ALLOW."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ledgeragent.gate import Filtered
from ledgeragent.verdict import Decision, Verdict

VERDICT_HEADER = "x-ledgeragent-verdict"

_LONGEST_HEADER = 4000
_ODD = re.compile(r"[^A-Za-z0-9_.-]")


def word_of(filtered: Filtered) -> str:
    """The decision on a reply in a word: UNDECIDED where nothing firmer decided it."""
    decision = filtered.decision
    words = {verdict.word for verdict in filtered.verdicts if verdict.decision is decision}
    undecided = "UNDECIDED" in words
    if decision is Decision.ALLOW:
        return "UNDECIDED" if undecided else decision.name
    return decision.name if decision.name in words else "UNDECIDED"


def verdict_header(replies: Sequence[Filtered]) -> str:
    """Every verdict in order, as `tool=WORD`, with nothing in it that could end a header."""
    parts: list[str] = []
    for filtered in replies:
        parts += map(_part, filtered.verdicts)
    return ",".join(parts)[:_LONGEST_HEADER]


def names_header(names: Iterable[str]) -> str:
    """Names of tools, each once, with nothing in them that could end a header."""
    return ",".join(dict.fromkeys(_ODD.sub("?", name[:64]) for name in names))[:_LONGEST_HEADER]


def _part(verdict: Verdict) -> str:
    return f"{_ODD.sub('?', verdict.call.name[:64])}={verdict.word}"
