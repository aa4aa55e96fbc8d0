"""Everything LedgerAgent raises.

LedgerAgentError
├── UsageError          a command or call was made with options that don't fit together
├── PathError           a path or path template that cannot be read
├── DomainError         a domain whose parts contradict each other
├── DataError           a file that cannot be used: names file, line and what to do
└── MissingExtraError   an optional library is absent: names the exact pip command

A policy violation is never an exception: it is a value, a `Verdict`.
"""

from __future__ import annotations


class LedgerAgentError(Exception):
    """Base of every error that this package raises on purpose."""


class UsageError(LedgerAgentError):
    """Options that do not fit together, or a name that does not exist."""


class PathError(LedgerAgentError):
    """A path or a path template that cannot be read."""


class DomainError(LedgerAgentError):
    """A domain whose parts contradict each other."""


class DataError(LedgerAgentError):
    """A file that cannot be used; says which, where in it, and what would mend it."""

    def __init__(self, problem: str, *, file: str, line: int | None = None) -> None:
        self.problem = problem
        self.file = file
        self.line = line
        super().__init__(f"{file}:{line}: {problem}" if line is not None else f"{file}: {problem}")


class UnknownTimeError(LedgerAgentError):
    """A rule asks what time it is, and nobody told the gate."""


class MissingExtraError(LedgerAgentError):
    """An optional library is not installed; names the line that installs it."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(
            f"{library} is not installed; run: pip install 'ledgeragent[{extra}]' "
            f"(in a checkout: pip install '.[{extra}]')"
        )
