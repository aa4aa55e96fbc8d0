"""Questions about a call that a rule could ask: each has a value for a call and the records it names."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass

from ledgeragent.types import Arguments, Json

Answering = Callable[[Arguments, Mapping[str, Json]], Hashable]
"""The value for a call and its records by name; None where it cannot be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that may be the same in all right calls of a tool.

    `requires` are the records that it reads, path by name. `check` is its form in CEL, in which
    `{values}` stands for the values of right calls, for a question that has such; \"\" for a rule that
    only wants the records to have been read. `swaps` is the argument that another call could have had
    otherwise, \"\" to try other records instead.
    """

    tool: str
    slug: str
    about: str
    requires: Mapping[str, str]
    check: str
    answer: Answering
    swaps: str = ""

    @property
    def is_open(self) -> bool:
        """True if right calls may have one of several values; else the value is true."""
        return "{values}" in self.check
