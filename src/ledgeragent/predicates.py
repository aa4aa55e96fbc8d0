"""Predicates (paper §Policy Gate): pure functions of a call and a view of the ledger.

A predicate returns None where the call is satisfied, `violation(...)` where observed facts
contradict it, and raises `MissingEvidence` by simply reading what was never observed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, TypeVar, cast

from ledgeragent.errors import DomainError
from ledgeragent.ledger import Entry, Evidence, Fields, Ledger, Speaker, Stale, Unconfirmed
from ledgeragent.paths import Path, PathTemplate, visible
from ledgeragent.shape import ANYTHING, Shape
from ledgeragent.types import Json, ToolCall
from ledgeragent.verdict import Decision, Enforcement

R = TypeVar("R")

StalePolicy = Literal["unknown", "value"]
"""`unknown`: a stale fact counts as never read. `value`: the paper's literal reading, for ablations."""

_LONGEST_FACT = 200
_new = tuple.__new__
_ID = re.compile(r"[\w-]+/[\w-]+")


class MissingEvidence(Exception):
    """A predicate needs a record that was never read, or a field that was written since.

    `objection` says what is wrong with a value that was read and is not what its type declares.
    `reads` overrides the calls that the path map derives from `path`.
    """

    def __init__(
        self,
        path: Path[Any],
        *,
        fields: Fields = (),
        stale: Stale | None = None,
        objection: str = "",
        reads: tuple[ToolCall, ...] = (),
    ) -> None:
        super().__init__(path)
        if type(path) is not Path:
            raise TypeError(f"{path!r} is no Path; its PathTemplate makes one")
        self.path = path
        self.fields = fields
        self.stale = stale
        self.objection = objection
        self.reads = reads


class UnconfirmedGround(Exception):
    """A predicate's answer rests on writes of which nobody knows whether they were done."""

    def __init__(self, doubts: tuple[Unconfirmed, ...]) -> None:
        super().__init__(doubts)
        self.doubts = doubts


class Broken(NamedTuple):
    """A predicate's answer against a call: the reason with its facts filled in.

    `public` is the reason as the user may hear it, where that is another one.
    """

    reason: str
    public: str = ""


class Private(NamedTuple):
    """A fact for the model alone; the user hears `instead`."""

    value: Json
    instead: str


def violation(template: str, **facts: Json) -> Broken:
    """The answer of a predicate whose call is wrong; `facts` fill the template's braces.

    Say what is wrong, the observed value, and what would be accepted. Lists are written as
    "a, b or c", and an empty one as "nothing". A `Private` fact is not told to the user.
    """
    private: dict[str, Json] = {}
    for name, value in facts.items():
        if type(value) is Private:
            private[name], value = value.instead, value.value
            facts[name] = _spoken(value)
        elif type(value) is not str or len(value) > _LONGEST_FACT:
            facts[name] = _spoken(value)
    # Facts come from outside: none may start a line of its own.
    reason = visible(template.format_map(facts))
    public = visible(template.format_map({**facts, **private})) if private else ""
    return _new(Broken, (reason, public))


def _spoken(value: Json) -> Json:
    if type(value) is list or isinstance(value, tuple):
        return _either(value)
    if isinstance(value, set | frozenset):
        return _either(sorted(value))
    return _cut(value) if isinstance(value, str) else value


def _either(values: Sequence[Json]) -> str:
    items = [v if type(v) is str and len(v) <= _LONGEST_FACT else _cut(v) for v in values]
    if len(items) < 2:
        return items[0] if items else "nothing"
    last = items.pop()
    return f"{', '.join(items)} or {last}"


def _cut(value: Json) -> str:
    """The value as text, unable to drown the sentence it stands in."""
    text = value if type(value) is str else str(value)
    return text if len(text) <= _LONGEST_FACT else f"{text[:_LONGEST_FACT]}..."


class Record(Mapping[str, Any]):
    """A record (or an object inside one) that notes each field read.

    It refuses fields that are stale, and values that are not what the record's type declares.
    """

    __slots__ = ("_entry", "_evidence", "_facts", "_fields", "_shape", "_stale", "_value")

    def __init__(
        self,
        entry: Entry,
        evidence: list[Evidence],
        stale: bool,
        fields: Fields,
        value: Json,
        shape: Shape | None = None,
    ) -> None:
        self._entry = entry
        self._shape = shape
        self._evidence = evidence
        self._stale = stale
        self._fields = fields
        self._value: Mapping[str, Json] = value
        self._facts = {} if stale or fields else entry.facts

    def __getitem__(self, name: str) -> Any:
        if name not in self._facts:
            return self._look(name)
        self._evidence.append(self._facts[name])
        return self._value[name]

    def _look(self, name: str) -> Any:
        """The field's value, noted, or a record where it is an object itself."""
        fields = (*self._fields, name)
        if name not in self._value:
            self._refuse_absent(fields)
        value = self._value[name]
        if self._stale:
            self._refuse_stale(fields, within=type(value) is list)
        shape = self._shape.of(name) if self._shape is not None else None
        if type(value) is dict and (shape is None or shape.holds_objects):
            return Record(self._entry, self._evidence, self._stale, fields, value, shape)
        self._refuse_odd(fields, value, shape or ANYTHING)
        fact = self._facts[name] = self._entry.fact(fields, value)
        self._evidence.append(fact)
        return value

    def _refuse_stale(self, fields: Fields, *, within: bool) -> None:
        """Raises where `fields`, or with `within` anything inside them, was written since."""
        for mark in self._entry.stale:
            if mark.covers(fields) or (within and mark.fields[: len(fields)] == fields):
                raise MissingEvidence(self._entry.path, fields=fields, stale=mark)

    def _refuse_absent(self, fields: Fields) -> NoReturn:
        if self._stale:
            self._refuse_stale(fields, within=False)
        required = self._shape.required if self._shape is not None else ()
        objection = f"its answer has no `{fields[-1]}`" if fields[-1] in required else ""
        raise MissingEvidence(self._entry.path, fields=fields, objection=objection)

    def _refuse_odd(self, fields: Fields, value: Json, shape: Shape) -> None:
        """Raises where the value is not what its type declares."""
        if shape.objection(value, ""):
            objection = shape.objection(value, ".".join(fields) or "its answer")
            raise MissingEvidence(self._entry.path, fields=fields, objection=objection)

    def _keys(self) -> Mapping[str, Json]:
        if self._stale:
            self._refuse_stale(self._fields, within=False)
        return self._value

    def plain(self) -> Mapping[str, Json]:
        """All of it, noted as one fact. A field that may have been written since is asked for."""
        if self._stale:
            self._refuse_stale(self._fields, within=True)
        self._refuse_odd(self._fields, self._value, self._shape or ANYTHING)
        self._evidence.append(self._entry.fact(self._fields, self._value))
        return self._value

    def at_once(self, name: str) -> Any:
        """The object in a field as one fact, or as a record where part of it may have changed."""
        fields = (*self._fields, name)
        if fields not in self._facts:
            value = self._value.get(name)
            if self._stale or type(value) is not dict:
                return self[name]
            shape = self._shape.of(name) if self._shape is not None else None
            self._refuse_odd(fields, value, shape or ANYTHING)
            self._facts[fields] = self._entry.fact(fields, value)
        self._evidence.append(self._facts[fields])
        return self._value[name]

    def __contains__(self, name: object) -> bool:
        keys = self._keys()
        if self._stale and name not in keys:
            self._refuse_stale((*self._fields, str(name)), within=False)
        self._evidence.append(self._entry.fact(self._fields, list(keys)))
        return name in keys

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys())

    def __len__(self) -> int:
        return len(self._keys())

    def get(self, name: str, default: Any = None) -> Any:
        """The field, or `default` where the record has none."""
        if self._stale and name not in self._value:
            self._refuse_stale((*self._fields, name), within=False)
        return self[name] if name in self._value else default


def _no_shape(path: Path[Any]) -> None:
    """The shapes of a ledger of which nothing is declared."""


class View(dict[Path[Any], Any]):
    """What a predicate sees of the ledger; every fact it reads is noted in `evidence`.

    `view[path]` is the record at `path`; it raises MissingEvidence if that was never read (or is
    stale, or is not what `shapes` declare). `parameters` are the domain's constants (`now`,
    allowances). `looked_back` tells if a rule has read `writes`.

    The dict underneath holds the records opened so far: rules of one tool read the same few, and a
    plain dict hit is what keeps a decision cheaper than parsing one record.
    """

    __slots__ = ("_honour_stale", "_ledger", "_shapes", "evidence", "looked_back", "parameters")

    def __init__(
        self,
        ledger: Ledger,
        parameters: Mapping[str, Json],
        stale: StalePolicy = "unknown",
        shapes: Callable[[Path[Any]], Shape | None] = _no_shape,
    ) -> None:
        self._ledger = ledger
        self._shapes = shapes
        self.looked_back = False
        self._honour_stale = stale == "unknown"
        self.parameters = parameters
        self.evidence: list[Evidence] = []

    if TYPE_CHECKING:

        def __getitem__(self, path: Path[R]) -> R: ...

    def __missing__(self, path: Path[Any]) -> Any:
        entry = self._ledger.get(path)
        if entry is None or not entry.typed:
            raise MissingEvidence(path)
        stale = self._honour_stale and entry.stale != ()
        shape = self._shapes(path)
        if type(entry.value) is dict and (shape is None or shape.holds_objects):
            record = self[path] = Record(entry, self.evidence, stale, (), entry.value, shape)
            return record
        if stale:
            raise MissingEvidence(path, stale=entry.stale[-1])
        if "" not in entry.facts:
            if objection := (shape or ANYTHING).objection(entry.value, "its answer"):
                raise MissingEvidence(path, objection=objection)
            entry.facts[""] = entry.fact((), entry.value)
        self.evidence.append(entry.facts[""])
        return entry.value

    def get(self, path: Path[R]) -> R | None:  # type: ignore[override]
        """The record at `path`, or None if it was never read. Its absence asks for nothing.

        A stale scalar is None too; of a stale record, only reading a stale field asks.
        """
        try:
            return self[path]
        except MissingEvidence:
            return None

    def glob(self, template: PathTemplate[R]) -> Iterator[tuple[Path[R], R]]:
        """Every observed record of a family."""
        for entry in self._ledger.glob(template):
            if entry.typed:
                path = cast("Path[R]", entry.path)
                yield path, self[path]

    def entry(self, path: Path[Any]) -> Entry | None:
        """The ledger's entry itself, for rules about provenance (which read, which turn)."""
        return self._ledger.get(path)

    @property
    def turn(self) -> int:
        """How many user messages the conversation has had."""
        return self._ledger.turn

    @property
    def writes(self) -> tuple[ToolCall, ...]:
        """The writes executed so far (the paper's `ledger.history`), and those that may have been.

        An answer that rests on one of the latter is no violation, and no allowance either: the gate
        asks to wait for its result.
        """
        self.looked_back = True
        doubts = self._ledger.unconfirmed
        return (*self._ledger.writes, *(d.call for d in doubts)) if doubts else self._ledger.writes

    @property
    def unconfirmed(self) -> tuple[Unconfirmed, ...]:
        """The writes that may have happened."""
        return self._ledger.unconfirmed

    def without(self, doubts: Container[Unconfirmed]) -> View:
        """A fresh view of the same ledger in which these writes did not happen."""
        left = tuple(doubt for doubt in self._ledger.unconfirmed if doubt not in doubts)
        stale: StalePolicy = "unknown" if self._honour_stale else "value"
        return View(replace(self._ledger, unconfirmed=left), self.parameters, stale, self._shapes)

    def said(self, speaker: Speaker) -> tuple[str, ...]:
        """What the agent, or the user, has said so far, a text for each message.

        Empty unless the domain `listens`.
        """
        return tuple(u.text for u in self._ledger.utterances if u.speaker == speaker)

    def unavailable(self, read: ToolCall) -> str | None:
        """What `read` answered, if it is known that it cannot succeed."""
        return self._ledger.unavailable.get(read.intent)


Check = Callable[[Any, View], Broken | None]
"""`(arguments, view) -> None | violation(...)`; arguments are typed by the tool's TypedDict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicate:
    """One rule: `check` decides for the tools in `guards`; `decision` is its answer when violated.

    `id` names the thing that is wrong (`retail/refund-destination`). `clause` is the policy clause
    it enforces. `versions` limits it to some versions of its pack (empty: all). An `identity` rule
    establishes whose records a call is about: while one of them is broken or unknown, no other rule
    speaks. `undecided` is the answer where the read that a rule needs was tried and can't succeed.
    """

    id: str
    guards: tuple[str, ...]
    clause: str
    check: Check
    decision: Decision = Decision.REVISE
    enforcement: Enforcement = Enforcement.ENFORCE
    versions: frozenset[str] = field(default_factory=frozenset)
    identity: bool = False
    undecided: Decision = Decision.ALLOW

    @property
    def summary(self) -> str:
        """What it decides: the first line of the check's docstring."""
        return (self.check.__doc__ or "").strip().partition("\n")[0]


def predicate(
    id: str,
    *,
    guards: str | tuple[str, ...],
    clause: str | None = None,
    decision: Decision = Decision.REVISE,
    enforcement: Enforcement = Enforcement.ENFORCE,
    versions: tuple[str, ...] = (),
    identity: bool = False,
    undecided: Decision = Decision.ALLOW,
) -> Callable[[Check], Predicate]:
    """Makes a check into a `Predicate`. `clause` defaults to `id`: most rules enforce one clause."""
    if not _ID.fullmatch(id):
        raise DomainError(f"predicate id {id!r} should be domain/kebab-case")

    def decorate(check: Check) -> Predicate:
        return Predicate(
            id=id,
            guards=(guards,) if isinstance(guards, str) else guards,
            clause=clause or id,
            check=check,
            decision=decision,
            enforcement=enforcement,
            versions=frozenset(versions),
            identity=identity,
            undecided=undecided,
        )

    return decorate


def demand(path: Path[Any], *reads: ToolCall) -> NoReturn:
    """Asks for the evidence at `path`, naming the calls that would supply it."""
    raise MissingEvidence(path, reads=reads)
