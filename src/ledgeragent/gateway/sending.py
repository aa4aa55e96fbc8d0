"""Sending: in which order a stream sends calls, and which of a reply are not sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from ledgeragent.gate import Filtered
from ledgeragent.plan import spoken_calls
from ledgeragent.stores.memory import Unsent
from ledgeragent.types import ToolCall


def unsent_calls(filtered: Filtered, *, is_answered: bool) -> Iterator[Unsent]:
    """The rejected calls; `is_answered` if upstream was told of them in the course of a revision."""
    sent_before: Counter[str] = Counter()
    for verdict in filtered.verdicts:
        if verdict.allowed:
            sent_before[verdict.call.id] += 1
        else:
            behind = None if is_answered else sent_before[verdict.call.id]
            awaits = spoken_calls([call for f in verdict.findings for call in f.waits_for])
            yield Unsent(verdict.call, verdict.note, awaits, behind)


def sent_order(calls: Iterable[ToolCall], passes: frozenset[str]) -> list[ToolCall]:
    """The calls as a stream sends them: those that are held, and what repeats an id of theirs, last.

    Results are paired with calls of one id by their order, so that order has to stay.
    """
    passing: list[ToolCall] = []
    later: list[ToolCall] = []
    ids: set[str] = set()
    for call in calls:
        if call.name in passes and call.id not in ids:
            passing.append(call)
        else:
            later.append(call)
            ids.add(call.id)
    return passing + later
