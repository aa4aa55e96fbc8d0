"""Observation: what a return of a read tells, as steps that can be done on any ledger.

Runs of the same tasks hold the same returns again and again, and what they tell does not depend on what
was observed before: it is worked out once for each call and text, and the records of it are made once for
each turn. They name the first such call as their source: of a later one only the id would be another.
What rules read of a record is kept with it, and so with all runs that have observed the same.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any, NamedTuple, TypeAlias

from ledgeragent.absorb import absorb
from ledgeragent.domain import Domain
from ledgeragent.effects import Tool
from ledgeragent.entry import Entry
from ledgeragent.ledger import Ledger
from ledgeragent.offline.textmemory import TextMemory
from ledgeragent.paths import Path
from ledgeragent.types import Json, ToolCall, ToolReturn

_LONGEST_KEPT = 16_384
_MOST_TURNS = 8


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


class _Notes(Ledger):
    """A ledger that only notes what is done to it."""

    __slots__ = ("steps",)
    steps: list[LedgerStep]

    def __init__(self, turn: int) -> None:
        object.__setattr__(self, "turn", turn)
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


def observed(call: ToolCall, returned: ToolReturn, domain: Domain, turn: int) -> Observation:
    """What the return of a read in this turn tells."""
    notes = _Notes(turn)
    if absorb(notes, call, returned, domain).ledger is not notes:
        raise TypeError(f"what {call.name} answered changed the ledger in a way that is not noted")
    return tuple(notes.steps)


class _Account(NamedTuple):
    """What a text told, by turn.

    Shapes of records are those of the `tools`, which are here so that nothing else has their identity.
    """

    by_turn: dict[int, Observation]
    tools: Sequence[Tool]


class Observations:
    """What the latest returns told, by the tools of the domain, the call but for its id, and the text."""

    def __init__(self) -> None:
        self._memory: TextMemory[_Key, _Account] = TextMemory()

    def of(self, call: ToolCall, returned: ToolReturn, domain: Domain, turn: int) -> Observation:
        """What the return of a read in this turn tells."""
        key = _key(call, returned, domain)
        if key is None:
            return observed(call, returned, domain, turn)
        account = self._memory.get(key)
        if account is None:
            steps = observed(call, returned, domain, turn)
            self._memory.put(key, _Account({turn: steps}, domain.tools), len(returned.content))
            return steps
        by_turn = account.by_turn
        of_turn = by_turn.get(turn)
        if of_turn is not None:
            return of_turn
        if len(by_turn) >= _MOST_TURNS:
            by_turn.pop(next(iter(by_turn)))
        earlier = next(iter(by_turn.values()))
        steps = by_turn[turn] = tuple([_in_turn(turn, step) for step in earlier])
        return steps


def _in_turn(turn: int, step: LedgerStep) -> LedgerStep:
    """The same, observed in another turn."""
    if isinstance(step, Unanswered | Unavailable):
        return step
    entry = step.entry
    again = Entry(entry.path, entry.value, entry.source, turn, entry.typed, entry.sound)
    return Put(again) if isinstance(step, Put) else Merge(again)


def _key(call: ToolCall, returned: ToolReturn, domain: Domain) -> _Key | None:
    """What decides what a return tells, where all of it is text: of numbers, unlike ones are equal."""
    content, arguments = returned.content, call.arguments
    if type(content) is not str or len(content) > _LONGEST_KEPT or call.malformed is not None:
        return None
    values = arguments.values()
    for value in values:
        if type(value) is not str:
            return None
    tools = id(domain.tools)
    return (tools, call.name, content, returned.error, returned.lost, *arguments, *values)
