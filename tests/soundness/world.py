"""A simulated environment: an invented database, its tools, and who is in the conversation."""

from __future__ import annotations

import copy
import pickle
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, ClassVar, TypeVar

from ledgeragent import ToolCall

from .judgement import Db, Judgement, Talk

T = TypeVar("T")

Fact = tuple[str, str, str]
"""Table, record, field: the grain at which the simulation keeps track of what has been shown."""

Facts = frozenset[Fact]


@dataclass(frozen=True, slots=True)
class Answer:
    """What a tool returned, the facts it showed, and those a write left unknown."""

    text: str
    failed: bool = False
    shown: Facts = frozenset()
    changed: Facts = frozenset()


class World(ABC):
    """One world. `me` is the record id of the customer in the conversation.

    `version` is that of the domain, None for its default one.
    """

    domain: ClassVar[str]
    version: ClassVar[str | None] = None
    reads: ClassVar[frozenset[str]]
    same: ClassVar[tuple[frozenset[str], ...]] = ()
    worded: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Of each read, the fields whose values are words of a list, by the name of their fact."""

    def __init__(self, db: Db, me: str) -> None:
        self.db = db
        self.me = me

    @classmethod
    @abstractmethod
    def make(cls, rng: Random) -> World:
        """A random world. Choices put the plain case first, so that a failure shrinks to it."""

    @abstractmethod
    def tour(self) -> list[ToolCall]:
        """The reads that show everything a clause could need, log-in first."""

    @abstractmethod
    def read(self, call: ToolCall) -> Answer:
        """What a read tool answers."""

    @abstractmethod
    def write(self, call: ToolCall) -> Answer:
        """Executes a write that keeps to the policy."""

    def attempt(self, talk: Talk, call: ToolCall) -> Answer:
        """What comes of a write: one that breaks the policy fails and changes nothing."""
        found = self.judge(talk, call)
        if found.broken or found.ghost or found.ungrounded:
            return Answer(self.refusal(call, found.broken), failed=True)
        return self.write(call)

    def fork(self) -> World:
        """This world, to be changed on its own."""
        other = copy.copy(self)
        # A third of what `copy.deepcopy` takes, and most of the time goes here.
        other.db = pickle.loads(pickle.dumps(self.db, pickle.HIGHEST_PROTOCOL))
        return other

    def refusal(self, call: ToolCall, broken: set[str]) -> str:
        """How the tool refuses a write that breaks these clauses."""
        return "Error: the call was refused"

    @abstractmethod
    def propose(self, rng: Random) -> ToolCall:
        """A write an agent might try: mostly sound, often with a mistake or two."""

    @abstractmethod
    def judge(self, talk: Talk, call: ToolCall) -> Judgement:
        """The independent judge of this domain."""

    @abstractmethod
    def vary(self, known: Facts, rng: Random) -> None:
        """Changes, here and there, facts that are not `known`."""

    def complete(self, read: ToolCall) -> list[ToolCall]:
        """A demanded read, or where the demand leaves arguments open, the reads it may mean."""
        return [read]

    def turn(self, rng: Random) -> Facts:
        """A turn of the customer: the facts that may have changed by it."""
        return frozenset()

    def drift(self, rng: Random) -> tuple[ToolCall, Facts]:
        """Changes a record from outside: the read that shows it, and the facts that it makes old."""
        return self.tour()[0], frozenset()

    def stray(self, rng: Random) -> ToolCall:
        """A read that fails or tells little, as agents make them."""
        return self.tour()[0]

    def twin(self, known: Facts, rng: Random) -> World:
        """Another world that looks the same to whoever knows only `known`."""
        other = self.fork()
        other.vary(known, rng)
        return other

    def excerpt(self, call: ToolCall) -> Mapping[str, Any]:
        """The records to print when something fails: those that the call names, and theirs."""
        records = {(t, key): value for t, table in self.db.items() for key, value in table.items()}
        named = str(dict(call.arguments))
        near = {k: v for k, v in records.items() if k[1] in named}
        further = named + str(near)
        return {f"{t}.{key}": v for (t, key), v in records.items() if key in further}


def call(tool: str, **arguments: Any) -> ToolCall:
    """A tool call."""
    return ToolCall(name=tool, arguments=arguments)


def fields(table: str, key: str, *names: str) -> set[Fact]:
    """Facts of one record."""
    return {(table, key, name) for name in names}


def one_in(rng: Random, n: int) -> bool:
    """True once in `n` times; False is the plain case."""
    return rng.randrange(n) == n - 1


def some(rng: Random, items: list[T], least: int, most: int) -> list[T]:
    """A few of the items, in their order of drawing, without repeats."""
    pool = list(items)
    count = min(len(pool), rng.randint(least, most))
    return [pool.pop(rng.randrange(len(pool))) for _ in range(count)]
