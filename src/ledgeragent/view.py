"""What a predicate sees of the ledger: records that note each field read, and refuse stale ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, TypeVar, cast

from ledgeragent.entry import UNMARKED, Facts
from ledgeragent.errors import UnknownTimeError
from ledgeragent.ledger import Entry, Evidence, Fields, Ledger, Speaker, Stale, Touch
from ledgeragent.missing import MissingEvidence
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.shape import ANYTHING, Shape
from ledgeragent.types import Json, ToolCall

R = TypeVar("R")

_KEYS: Fields = ("",)
"""Where the fact of which fields an object has is kept among the others: no field is called so."""
StalePolicy = Literal["unknown", "value"]
"""`unknown`: a stale fact counts as never read. `value`: the paper's literal reading, for ablations."""


class Record(Mapping[str, Any]):
    """A record (or an object inside one) that notes each field read.

    It refuses fields that are stale, and values that are not what the record's type declares.
    """

    __slots__ = ("_entry", "_evidence", "_facts", "_fields", "_shape", "_stale", "_value")

    _entry: Entry
    _evidence: list[Evidence]
    _facts: Facts
    _fields: Fields
    _shape: Shape
    _stale: bool
    _value: Mapping[str, Json]

    def __getitem__(self, name: str) -> Any:
        fact = self._facts.get(name)
        if fact is None:
            return self._look(name)
        self._evidence.append(fact)
        return fact[2]  # its value, without a look into the record

    def _look(self, name: str) -> Any:
        """The field's value, noted, or a record where it is an object itself."""
        fields = (*self._fields, name)
        if name not in self._value:
            self._refuse_absent(fields)
        value = self._value[name]
        if self._stale:
            self._refuse_stale(fields, within=type(value) is list)
        shape = self._shape.of(name)
        if type(value) is dict and shape.holds_objects:
            return _record(self._entry, self._evidence, self._stale, fields, value, shape)
        self._refuse_odd(fields, value, shape)
        fact = self._facts[name] = self._entry.fact(fields, value)
        self._evidence.append(fact)
        return value

    def _refuse_stale(self, fields: Fields, *, within: bool) -> None:
        """Raises where `fields`, or with `within` anything inside them, was written since."""
        for mark in self._entry.stale_kinds.values():
            if mark.covers(fields) or (within and mark.fields[: len(fields)] == fields):
                raise MissingEvidence(self._entry.path, fields=fields, stale=mark)

    def _refuse_absent(self, fields: Fields) -> NoReturn:
        if self._stale:
            self._refuse_stale(fields, within=False)
        lacks_it = fields[-1] in self._shape.required
        objection = f"its answer has no `{fields[-1]}`" if lacks_it else ""
        raise MissingEvidence(self._entry.path, fields=fields, objection=objection)

    def _refuse_odd(self, fields: Fields, value: Json, shape: Shape) -> None:
        """Raises where the value is not what its type declares."""
        sound = self._entry.sound
        if sound is not None and sound.get(fields) is shape:
            return
        if shape.objection(value, ""):
            objection = shape.objection(value, ".".join(fields) or "its answer")
            raise MissingEvidence(self._entry.path, fields=fields, objection=objection)
        if sound is not None:
            sound[fields] = shape

    def _keys(self) -> Mapping[str, Json]:
        if self._stale:
            self._refuse_stale(self._fields, within=False)
        self._note_keys()
        return self._value

    def plain(self) -> Mapping[str, Json]:
        """All of it, noted as one fact. A field that may have been written since is asked for."""
        if self._stale:
            self._refuse_stale(self._fields, within=True)
        self._refuse_odd(self._fields, self._value, self._shape)
        self._evidence.append(self._entry.fact(self._fields, self._value))
        return self._value

    def at_once(self, name: str) -> Any:
        """The object in a field as one fact, or as a record where part of it may have changed."""
        fact = self._facts.get((name,))
        if fact is None:
            value = self._value.get(name)
            if self._stale or type(value) is not dict:
                return self[name]
            fields = (*self._fields, name)
            self._refuse_odd(fields, value, self._shape.of(name))
            fact = self._facts[name,] = self._entry.fact(fields, value)
        self._evidence.append(fact)
        return self._value[name]

    def __contains__(self, name: object) -> bool:
        keys = self._keys()
        if self._stale and name not in keys:
            self._refuse_stale((*self._fields, str(name)), within=False)
        return name in keys

    def _note_keys(self) -> None:
        # Kept with the entry even where parts of it are stale: whoever asks has looked at the marks.
        inner = self._entry.inner_facts
        facts = inner.setdefault(self._fields, {}) if self._fields else self._entry.facts
        if _KEYS not in facts:
            facts[_KEYS] = self._entry.fact(self._fields, list(self._value))
        self._evidence.append(facts[_KEYS])

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys())

    def __len__(self) -> int:
        return len(self._keys())

    def get(self, name: str, default: Any = None) -> Any:
        """The field, or `default` where the record has none."""
        if self._stale and name not in self._value:
            self._refuse_stale((*self._fields, name), within=False)
        if name in self._value:
            return self[name]
        self._note_keys()
        return default


# A constructor of its own would cost half as much again.
def _record(
    entry: Entry, evidence: list[Evidence], stale: bool, fields: Fields, value: Json, shape: Shape
) -> Record:
    record = Record()
    record._entry = entry
    record._evidence = evidence
    facts = entry.inner_facts.setdefault(fields, {}) if fields else entry.facts
    record._facts = {} if stale else facts
    record._fields = fields
    record._shape = shape
    record._stale = stale
    record._value = value
    return record


Changes: TypeAlias = Mapping[Path[Json], Sequence[tuple[ToolCall, Sequence[Touch]]]]
"""Calls that are about to be done and all that each touches, by the records that they touch."""

_NO_CHANGES: Changes = {}


class View(dict[Path[Any], Any]):
    """What a predicate sees of the ledger; every fact it reads is noted in `evidence`.

    `view[path]` is the record at `path`; it raises MissingEvidence if that was never read (or is
    stale, or is not what `shapes` declare). `parameters` are the domain's constants (`now`,
    allowances). `unconfirmed` are the writes that may have happened; `looked_back` tells if a rule has
    read `writes`. `changes` are about to be made: what they touch counts as stale. `plain` names what
    was read that is no record: with the keys, all that the evidence can be of.

    The dict underneath holds the records opened so far: rules of one tool read the same few, and a
    plain dict hit is what keeps a decision cheaper than parsing one record.
    """

    __slots__ = (
        "_honour_stale",
        "_ledger",
        "_shapes",
        "changes",
        "evidence",
        "looked_back",
        "parameters",
        "plain",
        "unconfirmed",
    )

    def __init__(
        self,
        ledger: Ledger,
        parameters: Mapping[str, Json],
        stale: StalePolicy = "unknown",
        shapes: Callable[[Path[Any]], Shape] = lambda path: ANYTHING,
    ) -> None:
        self._ledger = ledger
        self.changes = _NO_CHANGES
        self._shapes = shapes
        self.looked_back = False
        self.unconfirmed = ledger.unconfirmed
        self._honour_stale = stale == "unknown"
        self.parameters = parameters
        self.evidence: list[Evidence] = []
        self.plain: list[Path[Any]] = []

    def _expected(self, entry: Entry) -> Entry:
        """The entry, with what is about to change called unknown."""
        path = entry.path
        touches = ((touch, call) for call, touched in self.changes[path] for touch in touched)
        return entry.marked([Stale(t.fields, call) for t, call in touches if t.path == path])

    if TYPE_CHECKING:

        def __getitem__(self, path: Path[R]) -> R: ...

    def __missing__(self, path: Path[Any]) -> Any:
        entry = self._ledger.get(path)
        if entry is not None and self.changes and path in self.changes:
            entry = self._expected(entry)
        if entry is None or not entry.typed:
            raise MissingEvidence(path)
        shape = entry.shape or entry.opened(self._shapes(path))
        stale = self._honour_stale and entry.stale is not UNMARKED
        if entry.holds_fields:
            record = self[path] = _record(entry, self.evidence, stale, (), entry.value, shape)
            return record
        if stale:
            raise MissingEvidence(path, stale=entry.stale[-1])
        if "" not in entry.facts:
            if objection := shape.objection(entry.value, "its answer"):
                raise MissingEvidence(path, objection=objection)
            entry.facts[""] = entry.fact((), entry.value)
        self.evidence.append(entry.facts[""])
        self.plain.append(path)
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
        entry = self._ledger.get(path)
        if self.changes and path in self.changes and entry is not None:
            return self._expected(entry)
        return entry

    @property
    def turn(self) -> int:
        """How many user messages the conversation has had."""
        return self._ledger.turn

    @property
    def now(self) -> str:
        """The time of the decision as ISO 8601: the parameter `now`, else the clock's (if `timed`)."""
        if not (now := self.parameters.get("now") or self._ledger.now):
            raise UnknownTimeError("a rule asks for the time, and none is known (--param now=...)")
        return str(now)

    @property
    def writes(self) -> tuple[ToolCall, ...]:
        """The writes executed so far (the paper's `ledger.history`), and those that may have been.

        An answer that rests on one of the latter is none: the gate asks to wait for its result.
        """
        self.looked_back = True
        return (*self._ledger.writes, *(doubt.call for doubt in self.unconfirmed))

    def said(self, speaker: Speaker) -> tuple[str, ...]:
        """What the agent, or the user, has said so far, a text for each message.

        Empty unless the domain `listens`.
        """
        return tuple(u.text for u in self._ledger.utterances if u.speaker == speaker)

    def unavailable(self, call: ToolCall) -> str | None:
        """What `call` answered, if it is known that it cannot succeed."""
        return self._ledger.unavailable.get(call.intent)
