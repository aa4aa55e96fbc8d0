"""Questions about a call that a rule could ask: each has a value for a call in its circumstances."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from ledgeragent.types import Arguments, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """A call with what was known when it was made.

    `records` are the records that it leads to, by name; under the name of the records of a list they are
    a map by key, and absent unless all were read. `earlier` are the calls of the same tool that were done
    before it in the conversation.
    """

    arguments: Arguments
    records: Mapping[str, Json] = field(default_factory=dict)
    earlier: Sequence[Arguments] = ()


Answering = Callable[[Circumstances], Hashable]
"""The value for a call; None where it cannot be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForEach:
    """What a rule requires for each item of a list: the records at `at`, one for each of `items`."""

    at: str
    items: str


Required = str | ForEach


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something that may be the same in all right calls of a tool.

    `requires` are the records that it reads, by name. `check` is its form in CEL, in which
    `{values}` stands for the values of right calls, for a question that has such; \"\" for a rule that
    only wants the records to have been read. `swaps` is the argument that another call could have had
    otherwise, \"\" to try other records instead. With `kin`, a family, it is tried with the keys of those
    records that stood in the same conversation.
    """

    tool: str
    slug: str
    about: str
    requires: Mapping[str, Required]
    check: str
    answer: Answering
    swaps: str = ""
    kin: str = ""

    @property
    def is_open(self) -> bool:
        """True if right calls may have one of several values; else the value is true."""
        return "{values}" in self.check
