"""Case list: the first cases of each rule, and how many there were.

A million runs have more cases than a report can hold, or anybody reads; a table of verdicts has them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

MOST_CASES = 1_000
"""So many of each rule are kept."""

Case = TypeVar("Case", bound=Mapping[str, Any])


@dataclass(slots=True)
class CaseList(Generic[Case]):
    """The first `MOST_CASES` cases of each rule, in their order; those of different runs add up.

    `number` counts all of them, `totals` by rule, "" for cases that are of none. One of several rules
    counts for each, and is kept where it is among the first of any.
    """

    rows: list[Case] = field(default_factory=list)
    number: int = 0
    totals: Counter[str] = field(default_factory=Counter)

    def __iter__(self) -> Iterator[Case]:
        return iter(self.rows)

    def __bool__(self) -> bool:
        return bool(self.rows)

    def extend(self, cases: Iterable[Case]) -> None:
        """Counts cases in, after everything so far."""
        for case in cases:
            self._keep(case, _rules_of(case))

    def add(self, other: CaseList[Case]) -> None:
        """Counts another list in, after everything so far."""
        left_out = other.left_out
        self.extend(other.rows)
        self.number += other.number - len(other.rows)
        self.totals.update(left_out)

    def _keep(self, case: Case, rules: Sequence[str]) -> None:
        if any(self.totals[rule] < MOST_CASES for rule in rules):
            self.rows.append(case)
        self.number += 1
        self.totals.update(rules)

    @property
    def left_out(self) -> dict[str, int]:
        """How many cases are not among the rows, by rule."""
        if self.number == len(self.rows):
            return {}
        listed = Counter(rule for row in self.rows for rule in _rules_of(row))
        return {rule: n - listed[rule] for rule, n in self.totals.items() if n > listed[rule]}


def _rules_of(case: Mapping[str, Any]) -> Sequence[str]:
    """The rules that a case is of, each once: those under `predicates`, or the one under `predicate`."""
    rules: Sequence[str] = case.get("predicates") or ()
    return rules or (str(case.get("predicate", "")),)
