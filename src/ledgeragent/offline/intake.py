"""The intake of a replay: how many recorded runs were judged, which records were not, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypedDict

from ledgeragent.errors import DataError

BROKEN = "broken"
MOST_PROBLEMS = 100


class UnreadRecord(TypedDict):
    """A record that could not be read, and where it stands."""

    file: str
    line: int | None
    problem: str


@dataclass(slots=True, kw_only=True)
class Intake:
    """The records that were read; those of different files add up.

    `skipped` counts the ones that were not judged by reason; `problems` are the first of the broken
    ones.
    """

    runs: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[UnreadRecord] = field(default_factory=list)

    def take(self, other: Intake) -> None:
        """Counts `other` in, after everything so far."""
        self.runs += other.runs
        self.skipped.update(other.skipped)
        self.problems += other.problems[: MOST_PROBLEMS - len(self.problems)]

    def skip(self, why: str) -> None:
        """Counts a record that was not judged."""
        self.skipped[why] += 1

    def broken(self, error: DataError) -> None:
        """Counts a record that could not be read."""
        self.skipped[BROKEN] += 1
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(
                UnreadRecord(file=error.file, line=error.line, problem=error.problem)
            )
