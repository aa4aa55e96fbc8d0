"""Tokens of an answer: what all the upstream calls behind it took, since the client pays for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_MOST = 1 << 53
"""Past this a number is no count of anything, and sums could leave what JSON can say."""


def total_of(reports: Iterable[Any]) -> dict[str, Any]:
    """The sum of what the upstream calls of one answer report, one after the other."""
    usage = TokenUsage()
    for report in reports:
        usage.again()
        usage.heard(report)
    return usage.total


class TokenUsage:
    """What the upstream calls of one answer report, in whichever format."""

    def __init__(self) -> None:
        self._before: dict[str, Any] = {}
        self._now: dict[str, Any] = {}

    def heard(self, usage: Any) -> None:
        """Takes in a report of the current call; a later one replaces what it names again."""
        if isinstance(usage, dict):
            self._now.update(
                {k: v for k, v in usage.items() if v is not None or k not in self._now}
            )

    def again(self) -> None:
        """Another upstream call follows."""
        self._before, self._now = self.total, {}

    @property
    def total(self) -> dict[str, Any]:
        """The sum over all calls, nested counts included; empty if none reported anything."""
        return _sum(self._before, self._now)


def _sum(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _added(one.get(name), other.get(name)) for name in {**one, **other}}


def _added(one: Any, other: Any) -> Any:
    if _is_count(one) and _is_count(other):
        return one + other
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return _sum(one, other)
    return one if other is None else other


def _is_count(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < _MOST
