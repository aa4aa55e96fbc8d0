"""Ids: a name of its own for each call of a conversation."""

from __future__ import annotations

from collections.abc import Iterable

UNNAMED = "call"


class CallIds:
    """The ids that the calls of a conversation have had."""

    def __init__(self) -> None:
        self._used: set[str] = set()

    def use(self, ids: Iterable[str]) -> None:
        """Notes ids of calls that were made."""
        self._used.update(ids)

    def distinct(self, ids: Iterable[str | None]) -> list[str]:
        """These ids, with a fresh one in the place of each that is empty or used."""
        return [self._fresh(name or UNNAMED) for name in ids]

    def _fresh(self, name: str) -> str:
        fresh, number = name, 2
        while fresh in self._used:
            fresh, number = f"{name}-{number}", number + 1
        self._used.add(fresh)
        return fresh
