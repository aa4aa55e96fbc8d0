"""Case list: the first cases of each rule, and how many there were.

A million runs have more cases than a report can hold, or anybody reads; a table of verdicts has them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

MOST_CASES = 1_000
"""So many of each rule are kept."""

Case = TypeVar("Case", bound=Mapping[str, Any])


@dataclass(slots=True)
class CaseList(Generic[Case]):
    """The first `MOST_CASES` cases of each rule, in their order; those of different runs add up.

    `totals` counts all of them by rule, "" for cases that are of none.
    """

    rows: list[Case] = field(default_factory=list)
    totals: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.rows)

    def __bool__(self) -> bool:
        return bool(self.rows)

    def extend(self, cases: Iterable[Case]) -> None:
        """Counts cases in, after everything so far."""
        for case in cases:
            self._keep(case, _rule_of(case))

    def add(self, other: CaseList[Case]) -> None:
        """Counts another list in, after everything so far."""
        left_out = other.left_out
        self.extend(other.rows)
        self.totals.update(left_out)

    def _keep(self, case: Case, rule: str) -> None:
        self.totals[rule] += 1
        if self.totals[rule] <= MOST_CASES:
            self.rows.append(case)

    @property
    def left_out(self) -> dict[str, int]:
        """How many cases are not among the rows, by rule."""
        return {rule: n - MOST_CASES for rule, n in self.totals.items() if n > MOST_CASES}


def _rule_of(case: Mapping[str, Any]) -> str:
    return str(case.get("predicate", ""))
