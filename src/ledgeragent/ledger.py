"""The ledger (paper §Ledger State): an immutable map from path to latest observed record.

A record enters only through a successful read. A write never edits one: it marks the fields it
changed as stale, and they count as unknown until they are read again (observe, don't assume).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

from ledgeragent.entry import Entry as Entry
from ledgeragent.entry import Evidence as Evidence
from ledgeragent.entry import Fields as Fields
from ledgeragent.entry import Origin as Origin
from ledgeragent.entry import Stale as Stale
from ledgeragent.entry import Touch as Touch
from ledgeragent.paths import Path, PathTemplate
from ledgeragent.persistent import PersistentList, PersistentMap
from ledgeragent.types import Json, ToolCall

R = TypeVar("R")

Speaker: TypeAlias = Literal["agent", "user"]

_NOTHING: PersistentMap[Path[Json], Entry] = PersistentMap({})
_NO_ANSWERS: PersistentMap[tuple[str, str], str] = PersistentMap({})
_NO_WRITES: PersistentList[ToolCall] = PersistentList()
_Roots: TypeAlias = "Mapping[str, PersistentMap[Path[Json], Entry]]"


class Utterance(NamedTuple):
    """What was said in a message: by whom, and how many user messages came before or with it."""

    speaker: Speaker
    text: str
    turn: int


class Unconfirmed(NamedTuple):
    """A write that may have happened.

    `running` while its result can still come: it is in flight, or goes before in the same reply.
    Else the result was lost, or told a failure on the way there or back.
    """

    call: ToolCall
    running: bool


class UnconfirmedGround(Exception):
    """A predicate's answer rests on writes of which nobody knows whether they were done."""

    def __init__(self, doubts: tuple[Unconfirmed, ...]) -> None:
        super().__init__(doubts)
        self.doubts = doubts


_NOTHING_SAID: PersistentList[Utterance] = PersistentList()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ledger:
    """Latest observed state, `L : paths -> values`, with the executed writes of the conversation.

    `turn` counts user messages. `writes` is the paper's `ledger.history`; `unconfirmed` are writes
    that may have happened as well. `unavailable` maps the intent of a read that cannot succeed to
    what it answered. `utterances` is what was said, in domains whose rules listen. `now` is the time of
    the decision that it is for, in domains whose rules are `timed`.
    """

    turn: int = 0
    writes: PersistentList[ToolCall] = _NO_WRITES
    unconfirmed: tuple[Unconfirmed, ...] = ()
    unavailable: PersistentMap[tuple[str, str], str] = _NO_ANSWERS
    utterances: PersistentList[Utterance] = _NOTHING_SAID
    now: str = ""
    _roots: _Roots = field(default_factory=dict)

    def get(self, path: Path[R]) -> Entry | None:
        """The entry at `path`, or None if it was never observed."""
        try:
            return self._roots[path[0]].get(path)
        except KeyError:
            return None

    def glob(self, template: PathTemplate[R]) -> Iterator[Entry]:
        """Every observed entry of a family, in order of first observation."""
        branch, length = self._roots.get(template.root), len(template.segments)
        for entry in branch.values() if branch is not None else ():
            if len(entry.path) == length and (not template.literals or template.fits(entry.path)):
                yield entry

    def __iter__(self) -> Iterator[Entry]:
        for branch in self._roots.values():
            yield from branch.values()

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def put(self, entry: Entry) -> Ledger:
        """This ledger with `entry` as the latest observation of its path."""
        root = entry.path[0]
        branch = self._roots.get(root, _NOTHING)
        return self._with(_roots={**self._roots, root: branch.put(entry.path, entry)})

    def put_all(self, entries: Sequence[Entry]) -> Ledger:
        """This ledger with all of these as the latest observations, later ones over earlier ones."""
        if len(entries) == 1:
            return self.put(entries[0])
        fresh: dict[str, dict[Path[Json], Entry]] = {}
        for entry in entries:
            fresh.setdefault(entry.path[0], {})[entry.path] = entry
        branches = {r: self._roots.get(r, _NOTHING).put_all(new) for r, new in fresh.items()}
        return self._with(_roots={**self._roots, **branches})

    def merge(self, entry: Entry, fields: Container[str] | None = None) -> Ledger:
        """Like `put`, but fields that this read does not supply keep their earlier observation.

        With `fields`, only these do.
        """
        earlier = self.get(entry.path)
        if earlier is None or not (earlier.typed and entry.typed):
            return self.put(entry)
        own = Origin(earlier.source, earlier.turn)
        inherited = {
            name: earlier.inherited.get(name, own)
            for name in earlier.value
            if name not in entry.value and (fields is None or name in fields)
        }
        marks = [narrowed for mark in earlier.stale for narrowed in _narrow(mark, inherited)]
        # In the order of first observation: who was named first can matter.
        value = {**earlier.value, **entry.value}
        if fields is not None:
            value = {n: v for n, v in value.items() if n in inherited or n in entry.value}
        return self.put(entry.having(value, marks, inherited))

    def wrote(self, call: ToolCall, touched: Iterable[Touch]) -> Ledger:
        """This ledger after `call` executed: appended to `writes`, what it touched marked stale."""
        written = self._with(writes=self.writes.append(call), unconfirmed=self._others(call))
        return written.marked(touched, call)

    def doubted(self, call: ToolCall, touched: Iterable[Touch], *, running: bool) -> Ledger:
        """This ledger where `call` may have executed: what it touches is marked stale."""
        unconfirmed = (*self._others(call), Unconfirmed(call, running))
        return self._with(unconfirmed=unconfirmed).marked(touched, call)

    def refused(self, call: ToolCall) -> Ledger:
        """This ledger knowing that `call` did not execute."""
        return self._with(unconfirmed=self._others(call)) if self.unconfirmed else self

    def _others(self, call: ToolCall) -> tuple[Unconfirmed, ...]:
        return tuple([doubt for doubt in self.unconfirmed if doubt.call is not call])

    def unreadable(self, path: Path[Json], answer: str, source: ToolCall, turn: int) -> Ledger:
        """This ledger knowing that the latest answer for `path` could not be understood.

        What another call has observed there stays.
        """
        earlier = self.get(path)
        if earlier is not None and earlier.typed and earlier.source.intent != source.intent:
            return self
        return self.put(Entry(path=path, value=answer, source=source, turn=turn, typed=False))

    def uttered(self, speaker: Speaker, text: str) -> Ledger:
        """This ledger with what was said."""
        return self._with(utterances=self.utterances.append(Utterance(speaker, text, self.turn)))

    def without(self, call: ToolCall, answer: str) -> Ledger:
        """This ledger knowing that `call` cannot be had, because it answered `answer`."""
        return self._with(unavailable=self.unavailable.put(call.intent, answer))

    def heard(self, touched: Iterable[Touch] = ()) -> Ledger:
        """This ledger one user message later; `touched` is what the user may have changed."""
        heard = self._with(turn=self.turn + 1)
        return heard.marked(touched, None) if touched else heard

    def _with(self, **changes: Any) -> Ledger:
        # A third of what `dataclasses.replace` costs, which is more than all the rest of an update.
        ledger = object.__new__(Ledger)
        for name, put in _FIELDS:
            put(ledger, changes[name] if name in changes else getattr(self, name))
        return ledger

    def marked(self, touched: Iterable[Touch], by: ToolCall | None) -> Ledger:
        """This ledger where `by` (None: the user) may have changed what it touched."""
        marks: dict[Path[Json], list[Stale]] = {}
        for touch in touched:
            marks.setdefault(touch.path, []).append(Stale(touch.fields, by))
        ledger = self
        for path, fresh in marks.items():
            entry = self.get(path)
            if entry is not None and by is None:  # no turn adds to what is unknown already
                fresh = [mark for mark in fresh if not entry.stale_at(mark.fields)]
            if entry is not None and fresh:
                ledger = ledger.put(entry.marked(fresh))
        return ledger


_FIELDS = tuple((f.name, getattr(Ledger, f.name).__set__) for f in fields(Ledger))


def _narrow(mark: Stale, names: Iterable[str]) -> Iterator[Stale]:
    """What is left of a mark once every field but `names` has been read again."""
    if not mark.fields:
        yield from (Stale((name,), mark.by) for name in names)
    elif mark.fields[0] in names:
        yield mark
