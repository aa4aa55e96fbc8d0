"""The intake of a replay: how many recorded runs were judged, which records were not, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TypedDict

from ledgeragent.errors import DataError
from ledgeragent.files.limits import is_refusal
from ledgeragent.offline.ownvalues import OwnValues
from ledgeragent.offline.traces import Trace
from ledgeragent.types import ToolReturn

BROKEN = "broken"
MOST_PROBLEMS = 100


class UnreadRecord(TypedDict):
    """A record that could not be read, and where it stands."""

    file: str
    line: int | None
    problem: str


@dataclass(slots=True, kw_only=True)
class FileReading:
    """What was understood of a file; readings of its pieces add up.

    `tools` counts calls by tool, `returns` those that were answered, `left_out` what is no part of a
    conversation by kind; `unfit` are the forms that do not fit its first conversation without a call.
    """

    forms: Counter[str] = field(default_factory=Counter)
    messages: int = 0
    tools: Counter[str] = field(default_factory=Counter)
    returns: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    unfit: tuple[tuple[str, str], ...] = ()

    def count(self, trace: Trace) -> None:
        """Counts a conversation."""
        self.forms[trace.form] += 1
        self.messages += len(trace.messages)
        for tool, calls in trace.calls_by_tool.items():
            self.tools[tool] += calls
        self.returns += [*map(type, trace.messages)].count(ToolReturn)
        for kind, number in trace.left_out:
            self.left_out[kind] += number
        self.unfit = self.unfit or trace.unfit

    def add(self, other: FileReading) -> None:
        """Counts `other` in."""
        self.forms.update(other.forms)
        self.messages += other.messages
        self.tools.update(other.tools)
        self.returns += other.returns
        self.left_out.update(other.left_out)
        self.unfit = self.unfit or other.unfit

    @property
    def runs(self) -> int:
        """How many conversations it holds."""
        return self.forms.total()

    @property
    def calls(self) -> int:
        """How many calls of tools."""
        return self.tools.total()


@dataclass(slots=True, kw_only=True)
class Intake:
    """The records that were read; those of different files add up.

    `skipped` counts the ones that were not judged by reason; `problems` are the first of the broken
    ones, `tried` the forms that the first of them was tried in. `readings` is what each file holds.
    `timeless` counts runs that do not tell the time that the rules ask for, `own_values` those that
    were judged with the values that they record of the pack's parameters, `lost_values` those that
    record a value which cannot be used.
    """

    runs: int = 0
    timeless: int = 0
    own_values: int = 0
    lost_values: int = 0
    readings: dict[str, FileReading] = field(default_factory=dict)
    tried: tuple[tuple[str, str], ...] = ()
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[UnreadRecord] = field(default_factory=list)

    def take(self, other: Intake) -> None:
        """Counts `other` in, after everything so far."""
        self.runs += other.runs
        self.timeless += other.timeless
        self.own_values += other.own_values
        self.lost_values += other.lost_values
        self.skipped.update(other.skipped)
        first = [row for row in other.problems if is_refusal(row["problem"])]
        others = [row for row in other.problems if not is_refusal(row["problem"])]
        self.problems = [
            *first,
            *self.problems,
            *others[: max(0, MOST_PROBLEMS - len(self.problems))],
        ]
        self.tried = self.tried or other.tried
        for file, reading in other.readings.items():
            self.readings.setdefault(file, FileReading()).add(reading)

    def read(self, file: str, trace: Trace) -> None:
        """Counts a conversation that was read."""
        if file not in self.readings:
            self.readings[file] = FileReading()
        self.readings[file].count(trace)

    def count_values(self, values: OwnValues) -> None:
        """Counts whose parameter values a run is judged with."""
        self.own_values += bool(values.values)
        self.lost_values += bool(values.lost)

    def skip(self, why: str) -> None:
        """Counts a record that was not judged."""
        self.skipped[why] += 1

    def broken(self, error: DataError) -> None:
        """Counts a record that could not be read."""
        self.skipped[BROKEN] += 1
        self.tried = self.tried or getattr(error, "reasons", ())
        row = UnreadRecord(file=error.file, line=error.line, problem=error.problem)
        if is_refusal(error.problem):
            self.problems.insert(0, row)
        elif len(self.problems) < MOST_PROBLEMS:
            self.problems.append(row)
