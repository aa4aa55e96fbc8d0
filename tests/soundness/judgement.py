"""What a judge is given and what it answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Db = dict[str, dict[str, Any]]
"""Tables of records by id."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call of the conversation and its answer; `tool` is "" for a turn of the customer."""

    tool: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    answer: str = ""
    failed: bool = False


Talk = tuple[Exchange, ...]
"""The conversation so far."""


@dataclass(slots=True)
class Judgement:
    """What is wrong with a call, over the whole database.

    `broken` are clauses it certainly breaks, `may` those on which the policy text is open here (or
    that a breach elsewhere leaves without meaning), so that either answer is right. `presumed` are
    clauses that count as broken until a record not read so far shows otherwise. `ungrounded`
    are clauses that demand a look-up which the conversation lacks. `unasked` are broken clauses
    whose evidence is by design not asked for here. `ghost` is True where the call names a record
    that does not exist, and no clause says what follows from that.
    """

    broken: set[str] = field(default_factory=set)
    may: set[str] = field(default_factory=set)
    presumed: set[str] = field(default_factory=set)
    ungrounded: set[str] = field(default_factory=set)
    unasked: set[str] = field(default_factory=set)
    ghost: bool = False

    @property
    def due(self) -> set[str]:
        """The clauses for which the gate has to stop the call, once it knows."""
        return self.broken - self.unasked


def successes(talk: Talk, *tools: str) -> Iterator[Exchange]:
    """The successful calls of some tools, in order."""
    return (said for said in talk if said.tool in tools and not said.failed)
