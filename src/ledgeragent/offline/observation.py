"""Observation: what a return of a read tells, as steps that can be done on any ledger.

Runs of the same tasks hold the same returns again and again, and what they tell does not depend on what
was observed before, nor on whose call it was or when: it is worked out once for each call and text.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NamedTuple, TypeAlias

from ledgeragent.absorb import absorb
from ledgeragent.domain import Domain
from ledgeragent.effects import Read
from ledgeragent.entry import Entry
from ledgeragent.ledger import Ledger
from ledgeragent.offline.textmemory import TextMemory
from ledgeragent.paths import Path
from ledgeragent.types import Json, ToolCall, ToolReturn

_LONGEST_KEPT = 16_384


class Put(NamedTuple):
    """A record, observed as a whole."""

    entry: Entry


class Merge(NamedTuple):
    """A record of which some fields were observed."""

    entry: Entry


class Unanswered(NamedTuple):
    """An answer for `path` that says nothing."""

    path: Path[Json]
    answer: str


class Unavailable(NamedTuple):
    """An answer by which it is known that the call cannot succeed."""

    answer: str


LedgerStep: TypeAlias = Put | Merge | Unanswered | Unavailable
Observation: TypeAlias = tuple[LedgerStep, ...]
_Key: TypeAlias = tuple[Any, ...]
_Routes: TypeAlias = Sequence[Read[Any]]


class _Notes(Ledger):
    """A ledger that only notes what is done to it."""

    __slots__ = ("steps",)
    steps: list[LedgerStep]

    def __init__(self) -> None:
        object.__setattr__(self, "turn", 0)
        object.__setattr__(self, "steps", [])

    def put(self, entry: Entry) -> Ledger:
        entry.sound = {}
        self.steps.append(Put(entry))
        return self

    def put_all(self, entries: Sequence[Entry]) -> Ledger:
        for entry in entries:
            self.put(entry)
        return self

    def merge(self, entry: Entry, fields: Container[str] | None = None) -> Ledger:
        if fields is not None:
            raise TypeError("only what a write answers leaves fields of a record as they were")
        self.steps.append(Merge(entry))
        return self

    def unreadable(self, path: Path[Json], answer: str, source: ToolCall, turn: int) -> Ledger:
        self.steps.append(Unanswered(path, answer))
        return self

    def without(self, call: ToolCall, answer: str) -> Ledger:
        self.steps.append(Unavailable(answer))
        return self


def observed(call: ToolCall, returned: ToolReturn, domain: Domain) -> Observation:
    """What the return of a read tells."""
    notes = _Notes()
    if absorb(notes, call, returned, domain).ledger is not notes:
        raise TypeError(f"what {call.name} answered changed the ledger in a way that is not noted")
    return tuple(notes.steps)


class Observations:
    """What the latest returns told, by the routes of the tool, the arguments and the text."""

    def __init__(self) -> None:
        # With the routes, so that nothing else can have their identity.
        self._memory: TextMemory[_Key, tuple[Observation, _Routes]] = TextMemory()

    def of(self, call: ToolCall, returned: ToolReturn, domain: Domain) -> Observation:
        """What the return of a read tells."""
        routes = domain.routes(call.name)
        key = _key(call, returned, routes)
        if key is None:
            return observed(call, returned, domain)
        earlier = self._memory.get(key)
        if earlier is not None:
            return earlier[0]
        steps = observed(call, returned, domain)
        self._memory.put(key, (steps, routes), len(returned.content))
        return steps


def _key(call: ToolCall, returned: ToolReturn, routes: _Routes) -> _Key | None:
    """What decides what a return tells, where all of it is text: of numbers, unlike ones are equal."""
    content, arguments = returned.content, call.arguments
    if type(content) is not str or len(content) > _LONGEST_KEPT or call.malformed is not None:
        return None
    values = arguments.values()
    for value in values:
        if type(value) is not str:
            return None
    names = (call.name, content, returned.error, returned.lost)
    return *map(id, routes), *names, *arguments, *values
