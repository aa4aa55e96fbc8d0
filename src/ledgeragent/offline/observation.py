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
from ledgeragent.paths import Path
from ledgeragent.types import Json, ToolCall, ToolReturn

_MOST_KEPT = 4096
_MOST_CHARACTERS = 4_000_000
_LONGEST_KEPT = 16_384


class Put(NamedTuple):
    """A record, observed as a whole."""

    entry: Entry


class Merge(NamedTuple):
    """A record of which some fields were observed; `fields` as for `Ledger.merge`."""

    entry: Entry
    fields: Container[str] | None


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

    def __init__(self) -> None:
        object.__setattr__(self, "turn", 0)
        object.__setattr__(self, "steps", [])

    def put(self, entry: Entry) -> Ledger:
        self.steps.append(Put(entry))
        return self

    def put_all(self, entries: Sequence[Entry]) -> Ledger:
        self.steps.extend(map(Put, entries))
        return self

    def merge(self, entry: Entry, fields: Container[str] | None = None) -> Ledger:
        self.steps.append(Merge(entry, fields))
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
    """What the latest returns told, by the routes of the tool, the arguments and the text.

    Holds a few megabytes of texts; it begins anew where they are more.
    """

    def __init__(self) -> None:
        self._kept: dict[_Key, tuple[Observation, Sequence[Read[Any]]]] = {}
        self._characters = 0

    def of(self, call: ToolCall, returned: ToolReturn, domain: Domain) -> Observation:
        """What the return of a read tells."""
        key = _key(call, returned, domain)
        if key is None:
            return observed(call, returned, domain)
        earlier = self._kept.get(key)
        if earlier is not None:
            return earlier[0]
        steps = observed(call, returned, domain)
        self._keep(key, steps, len(returned.content), domain.routes(call.name))
        return steps

    def _keep(self, key: _Key, steps: Observation, size: int, routes: Sequence[Read[Any]]) -> None:
        self._characters += size
        if len(self._kept) >= _MOST_KEPT or self._characters > _MOST_CHARACTERS:
            self._kept.clear()
            self._characters = size
        # With the routes, so that nothing else can have their identity.
        self._kept[key] = steps, routes


def _key(call: ToolCall, returned: ToolReturn, domain: Domain) -> _Key | None:
    """What decides what a return tells, where all of it is text: of numbers, unlike ones are equal."""
    content, arguments = returned.content, call.arguments
    if type(content) is not str or len(content) > _LONGEST_KEPT or call.malformed is not None:
        return None
    for argument in arguments.values():
        if type(argument) is not str:
            return None
    marks = returned.error, returned.lost
    return *map(id, domain.routes(call.name)), call.name, content, marks, *arguments.items()
