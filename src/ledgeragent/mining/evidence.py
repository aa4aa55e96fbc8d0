"""Evidence: in how many conversations something was seen."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field


@dataclass(slots=True)
class RunCount:
    """The number of conversations in which something was seen; `times` counts every time."""

    runs: int = 0
    times: int = 0
    _last: int = 0

    def add(self, run: int) -> None:
        """Counts one time in this conversation."""
        self.times += 1
        if run != self._last:
            self._last = run
            self.runs += 1


@dataclass(slots=True)
class FieldChange:
    """The evidence that a write changes a field of a family of records.

    `alone` are changes with no other write between the two looks, `shared` those with several. `ways`
    are how the call named the record: an argument for each key, None where it named it in no way.
    `after` are the writes whose answer was the earlier look.
    """

    alone: RunCount = field(default_factory=RunCount)
    shared: RunCount = field(default_factory=RunCount)
    ways: Counter[tuple[str, ...] | None] = field(default_factory=Counter)
    after: Counter[str] = field(default_factory=Counter)

    @property
    def runs(self) -> int:
        """Conversations that show it, of the best kind of evidence that there is."""
        return self.alone.runs or self.shared.runs

    @property
    def way(self) -> tuple[str, ...] | None:
        """How calls name the record, where most do it in one way."""
        named = [(count, way) for way, count in self.ways.items() if way is not None]
        if not named:
            return None
        count, way = max(named)
        return way if 2 * count >= self.ways.total() else None
