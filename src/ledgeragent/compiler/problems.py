"""Problems of a pack, as the loader and `check` find them: a code, the place, a sentence, a severity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from typing import NamedTuple


class Severity(Enum):
    """`ERROR`: the pack is wrong. `WARNING`: it may be meant, so look at it."""

    ERROR = "error"
    WARNING = "warning"


CODES: dict[str, tuple[Severity, str]] = {
    "syntax": (Severity.ERROR, "The file is not what a pack file must be."),
    "unread-file": (
        Severity.WARNING,
        "A YAML file in a pack's folder that is no part of the pack.",
    ),
    "unknown-key": (Severity.ERROR, "A key that no section of a pack has."),
    "unknown-tool": (Severity.ERROR, "A rule guards, or a sample calls, a tool it cannot."),
    "unknown-path": (Severity.ERROR, "A path that no read, or no record of that name, provides."),
    "unknown-field": (Severity.ERROR, "A field that the record, the arguments or the tools lack."),
    "type-error": (Severity.ERROR, "An expression whose types do not fit together."),
    "impossible-value": (Severity.ERROR, "A comparison with a value that the field never has."),
    "bad-constant": (
        Severity.ERROR,
        "A constant that is no regular expression, time, duration or date where one is needed.",
    ),
    "same-rule": (Severity.WARNING, "A rule that decides what another one decides."),
    "contradiction": (Severity.WARNING, "Two rules that no call was found to satisfy together."),
    "new-argument": (Severity.WARNING, "An argument of the tool that the pack does not name."),
    "bad-message": (Severity.ERROR, "A message whose facts do not fit its text."),
    "never-fires": (Severity.ERROR, "A rule that no call can violate."),
    "never-satisfied": (Severity.ERROR, "A rule that no call can satisfy."),
    "no-evidence": (Severity.ERROR, "A rule needs a record that no read tool supplies."),
    "write-without-rule": (Severity.WARNING, "A write tool that no rule guards."),
    "touches-nothing": (
        Severity.ERROR,
        "A guarded write that changes no record, so that old values would count as true after it.",
    ),
    "partial-list": (
        Severity.WARNING,
        "A list stored at a path that does not say which part of the whole it is.",
    ),
    "one-path": (Severity.ERROR, "A list whose records all land on one path, each over the last."),
    "read-without-route": (Severity.ERROR, "A tool of the tools file that the pack does not list."),
    "tool-not-offered": (Severity.WARNING, "A tool of the pack that the tools file does not have."),
    "clause-without-rule": (Severity.ERROR, "A clause with neither a rule nor a reason why not."),
    "unknown-clause": (Severity.ERROR, "A rule enforces a clause that the pack does not list."),
    "missing-samples": (Severity.ERROR, "A rule without an allowed and a rejected sample."),
    "duplicate-id": (Severity.ERROR, "Two rules, clauses or tools with one name."),
    "unused": (Severity.WARNING, "A value, definition or parameter that nothing uses."),
    "unproven": (Severity.WARNING, "Nothing showed that the rule can reject, or allow, anything."),
}
"""Every code with its severity and what it means."""


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Problem:
    """One thing that is wrong, where, and in which rule (\"\" if in none)."""

    place: Place
    code: str
    message: str
    rule: str = ""

    @property
    def severity(self) -> Severity:
        """How bad it is; told by the code."""
        return CODES[self.code][0]

    def __str__(self) -> str:
        return f"{self.place}: {self.severity.value}: {self.message} [{self.code}]"


class Problems(list[Problem]):
    """Problems in the making."""

    def __init__(self) -> None:
        super().__init__()
        self._noted: set[tuple[str, Place, str]] = set()

    @property
    def errors(self) -> int:
        """How many of them are errors."""
        return sum(problem.severity is Severity.ERROR for problem in self)

    def add(self, code: str, place: Place, message: str, rule: str = "") -> None:
        """Notes one finding, unless this very one is noted (be it for another rule)."""
        if (code, place, message) not in self._noted:
            self._noted.add((code, place, message))
            self.append(Problem(place=place, code=code, message=message, rule=rule))


def nearest(name: str, options: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known name that this one is probably a slip for; a higher `cutoff` (to 1) is surer."""
    near = get_close_matches(name, sorted(set(options)), n=1, cutoff=cutoff)
    return near[0] if near else None


def suggestion(name: str, options: Iterable[str]) -> str:
    """ " did you mean ...?" or, where nothing is near, what there is; "" where there is nothing."""
    names = sorted(set(options))
    near = nearest(name, names)
    if near is not None:
        return f"; did you mean {near}?"
    return f"; there is {', '.join(names[:12])}{', ...' if names[12:] else ''}" if names else ""
